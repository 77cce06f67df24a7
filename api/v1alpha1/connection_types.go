// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ExternalSpec is a server that Benchrun did not make and does not remove.
type ExternalSpec struct {
	// host is the server's DNS name or IP address, as a Pod of the run's namespace reaches it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9:]([A-Za-z0-9._:-]*[A-Za-z0-9:.])?$`
	Host string `json:"host,omitempty"`

	// port of the server. Defaults to 3306.
	// +optional
	// +kubebuilder:default=3306
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// credentialsSecretName names a Secret of the run's namespace with the keys username and password (type
	// kubernetes.io/basic-auth has them). Only the loader's Pod sees it. The user needs all privileges on the schema below;
	// without the privilege to create it, the schema must be there, and empty.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// schema (database) that the workload's tables are made in. If it does not exist, Benchrun creates it, and drops it after
	// each trial; if it exists, it must be empty, and only what is in it is dropped. One with anything in it is refused.
	// Unset: benchrun_ and the run's name, with _ for -.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['mysql', 'sys', 'information_schema', 'performance_schema'])",message="mysql, sys, information_schema and performance_schema are the server's own: name another schema"
	Schema string `json:"schema,omitempty"`
}

// TLSMode says whether the loader's connections are encrypted.
type TLSMode string

const (
	// TLSDisabled: not encrypted.
	TLSDisabled TLSMode = "Disabled"
	// TLSRequired: encrypted, whoever the server is.
	TLSRequired TLSMode = "Required"
	// TLSVerifyIdentity: encrypted, and the server's certificate must be for its host and by a trusted authority.
	TLSVerifyIdentity TLSMode = "VerifyIdentity"
)

// TLSSpec says how the loader's connections are encrypted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.caSecretName) || self.mode == 'VerifyIdentity'",message="tls.caSecretName goes with tls.mode VerifyIdentity: no other mode looks at the server's certificate"
type TLSSpec struct {
	// mode is Disabled, Required (encrypted, whatever the server's certificate says) or VerifyIdentity (its certificate must
	// be for its host, by a trusted authority). What the server agreed to is in each result. Defaults to Disabled: encryption
	// costs time, and must be asked for.
	// +optional
	// +kubebuilder:default=Disabled
	// +kubebuilder:validation:Enum=Disabled;Required;VerifyIdentity
	Mode TLSMode `json:"mode,omitempty"`

	// caSecretName names a Secret of the run's namespace whose key ca.crt holds the certificates of the authorities to trust,
	// in PEM. Unset: those of the loader's image. Provisioner MariaDBOperator brings its own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CASecretName string `json:"caSecretName,omitempty"`
}
