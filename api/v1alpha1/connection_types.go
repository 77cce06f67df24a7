// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ExternalSpec is a server that Benchrun neither creates nor removes.
type ExternalSpec struct {
	// host is the server's DNS name or IP address, as seen from the run's namespace.
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

	// credentialsSecretName is a Secret in the run's namespace with the keys username and password. The user needs all privileges
	// on the schema.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// schema for the workload's tables. If it exists, it must be empty, and only its tables are dropped; otherwise Benchrun
	// creates and drops it for each trial. Unset: benchrun_ and the run's name, with _ for -.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['mysql', 'sys', 'information_schema', 'performance_schema'])",message="mysql, sys, information_schema and performance_schema are the server's own: use another schema"
	Schema string `json:"schema,omitempty"`
}

// TLSMode is whether the loader's connections are encrypted.
type TLSMode string

const (
	// TLSDisabled: not encrypted.
	TLSDisabled TLSMode = "Disabled"
	// TLSRequired: encrypted, without verifying the server's certificate.
	TLSRequired TLSMode = "Required"
	// TLSVerifyIdentity: encrypted; the server's certificate must be for its host and signed by a trusted authority.
	TLSVerifyIdentity TLSMode = "VerifyIdentity"
)

// TLSSpec is how the loader's connections are encrypted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.caSecretName) || self.mode == 'VerifyIdentity'",message="tls.caSecretName goes with tls.mode VerifyIdentity: no other mode verifies the server's certificate"
type TLSSpec struct {
	// mode is Disabled, Required (encrypted, without verifying the certificate) or VerifyIdentity (the certificate must be for
	// the host and signed by a trusted authority). Defaults to Disabled.
	// +optional
	// +kubebuilder:default=Disabled
	// +kubebuilder:validation:Enum=Disabled;Required;VerifyIdentity
	Mode TLSMode `json:"mode,omitempty"`

	// caSecretName is a Secret in the run's namespace whose key ca.crt has the trusted authorities, in PEM. Unset: those of the
	// loader's image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CASecretName string `json:"caSecretName,omitempty"`
}
