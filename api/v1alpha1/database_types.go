// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DatabaseSpec says which server is measured, with exactly which settings, where, and on what storage.
//
// +kubebuilder:validation:XValidation:rule="!has(self.settings) || !has(self.settings.bufferPoolSize) || !has(self.resources) || !has(self.resources.limits) || !('memory' in self.resources.limits) || quantity(string(self.settings.bufferPoolSize)).isLessThan(quantity(string(self.resources.limits['memory'])))",message="settings.bufferPoolSize must be below resources.limits.memory: the server needs memory beside its buffer pool"
// +kubebuilder:validation:XValidation:rule="!has(self.variables) || !has(self.settings) || !has(self.settings.bufferPoolSize) || !('innodb_buffer_pool_size' in self.variables || 'loose_innodb_buffer_pool_size' in self.variables)",message="innodb_buffer_pool_size is said by settings.bufferPoolSize; say it once"
// +kubebuilder:validation:XValidation:rule="!has(self.variables) || !has(self.settings) || !has(self.settings.logFileSize) || !('innodb_log_file_size' in self.variables || 'loose_innodb_log_file_size' in self.variables)",message="innodb_log_file_size is said by settings.logFileSize; say it once"
// +kubebuilder:validation:XValidation:rule="!has(self.variables) || !has(self.settings) || !has(self.settings.flushLogAtTrxCommit) || !('innodb_flush_log_at_trx_commit' in self.variables || 'loose_innodb_flush_log_at_trx_commit' in self.variables)",message="innodb_flush_log_at_trx_commit is said by settings.flushLogAtTrxCommit; say it once"
// +kubebuilder:validation:XValidation:rule="(self.provisioner == 'External') == has(self.external)",message="provisioner External goes with external (host, credentialsSecretName), and external with no other provisioner"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'External' || !(has(self.image) || has(self.storage) || has(self.resources) || has(self.nodeSelector) || has(self.tolerations) || has(self.affinity) || has(self.priorityClassName))",message="image, storage, resources, nodeSelector, tolerations, affinity and priorityClassName are for servers that Benchrun makes: leave them out with provisioner External"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'StatefulSet' || !has(self.tls) || self.tls.mode != 'VerifyIdentity'",message="a server made by provisioner StatefulSet has a certificate of its own making, which nobody vouches for: tls.mode must be Disabled or Required"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'MariaDBOperator' || !has(self.tls) || !has(self.tls.caSecretName)",message="provisioner MariaDBOperator brings its own authority: leave out tls.caSecretName"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'MariaDBOperator' || !has(self.storage) || self.storage.medium != 'Memory'",message="storage.medium Memory needs provisioner StatefulSet: the MariaDB operator keeps data on disks only"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'MariaDBOperator' || !has(self.affinity) || !has(self.affinity.podAffinity)",message="the MariaDB operator knows nodeAffinity and podAntiAffinity only"
type DatabaseSpec struct {
	// engine is the database server's family. Only MariaDB is known so far. Defaults to MariaDB.
	// +optional
	// +kubebuilder:default=MariaDB
	// +kubebuilder:validation:Enum=MariaDB
	Engine Engine `json:"engine,omitempty"`

	// image is the server's container image; it must keep the contract of the official MariaDB image
	// (MARIADB_ROOT_PASSWORD_FILE, /etc/mysql/conf.d). It is pulled only if the node does not have it, and the digest that
	// really ran is recorded in status.environment. Unset: mariadb:11.8, unless the server is external.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// provisioner is what brings the database up: StatefulSet, which needs nothing but Kubernetes; MariaDBOperator, which
	// creates a MariaDB resource and needs the MariaDB operator (k8s.mariadb.com); or External, a server that is there
	// already. Defaults to StatefulSet.
	// +optional
	// +kubebuilder:default=StatefulSet
	// +kubebuilder:validation:Enum=StatefulSet;MariaDBOperator;External
	Provisioner Provisioner `json:"provisioner,omitempty"`

	// external is the server of provisioner External.
	// +optional
	External *ExternalSpec `json:"external,omitempty"`

	// tls says whether the loader's connections are encrypted. Unset: they are not.
	// +optional
	TLS TLSSpec `json:"tls,omitzero"`

	// settings are the server settings that every benchmark should say out loud. Those left out are the server's defaults;
	// what was effective is recorded in any case. An external server is not configured, but it must have what is said here:
	// a run against one that has not ends SettingNotEffective.
	// +optional
	Settings ServerSettings `json:"settings,omitzero"`

	// variables are any other server variables, verbatim, as they would stand in my.cnf: lower case, with underscores. Each
	// is read back from the server before anything is measured; a run whose server does not do as asked ends
	// SettingNotEffective. A name with the prefix loose_ may be unknown to the server, and is then recorded as ignored.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=200
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_]{0,79}$'))",message="a variable's name is lower case letters, digits and underscores, at most 80, as in innodb_flush_method"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k.replace('loose_', '') in ['datadir', 'port', 'socket', 'bind_address', 'user', 'log_error', 'pid_file', 'skip_networking', 'skip_grant_tables']))",message="datadir, port, socket, bind_address, user, log_error, pid_file, skip_networking and skip_grant_tables belong to the operator"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k.replace('loose_', '') in ['log_bin', 'skip_log_bin']))",message="the binary log is switched by settings.binaryLog: log_bin=OFF would switch it on"
	Variables map[string]VariableValue `json:"variables,omitempty"`

	// storage is the volume of the server's data directory. It goes with the run. Unset: a volume of 5Gi of the cluster's
	// default class, unless the server is external.
	// +optional
	Storage StorageSpec `json:"storage,omitzero"`

	// resources of the server's container. Requests that are left out equal the limits, so that the Pod is Guaranteed.
	// Unset: one CPU, and memory for 1.25 times the buffer pool plus 512Mi.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// nodeSelector restricts the nodes that the database may run on.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the database's Pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity of the database's Pod.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// priorityClassName of the database's Pod. A preempted database invalidates the attempt that it was measured by.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Engine is a family of database servers.
type Engine string

// EngineMariaDB is MariaDB Server.
const EngineMariaDB Engine = "MariaDB"

// Provisioner is a way to get a database.
type Provisioner string

const (
	// ProvisionerStatefulSet is a StatefulSet of one Pod that Benchrun makes.
	ProvisionerStatefulSet Provisioner = "StatefulSet"
	// ProvisionerMariaDBOperator is a MariaDB resource of the MariaDB operator.
	ProvisionerMariaDBOperator Provisioner = "MariaDBOperator"
	// ProvisionerExternal is a server that Benchrun neither makes nor removes.
	ProvisionerExternal Provisioner = "External"
)

// VariableValue is a server variable's value as in my.cnf: one line.
//
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:Pattern=`^[^\r\n]*$`
type VariableValue string

// ServerSettings are the settings without which a published number means little.
type ServerSettings struct {
	// bufferPoolSize is innodb_buffer_pool_size, for example 256Mi. It must be below resources.limits.memory. From 5Mi on.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('5Mi')) >= 0",message="bufferPoolSize must be at least 5Mi"
	BufferPoolSize *resource.Quantity `json:"bufferPoolSize,omitempty"`

	// logFileSize is the size of the redo log (innodb_log_file_size), for example 96Mi. From 4Mi on.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('4Mi')) >= 0",message="logFileSize must be at least 4Mi"
	LogFileSize *resource.Quantity `json:"logFileSize,omitempty"`

	// flushLogAtTrxCommit is innodb_flush_log_at_trx_commit: 1 makes every commit durable; with 0 or 2 a crash may lose the
	// last second. From 0 to 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3
	FlushLogAtTrxCommit *int32 `json:"flushLogAtTrxCommit,omitempty"`

	// binaryLog says whether the server writes a binary log. Unset: it does not, unless the server is external.
	// +optional
	BinaryLog *bool `json:"binaryLog,omitempty"`
}

// StorageMedium is what a data directory lies on.
type StorageMedium string

const (
	// MediumVolume is a PersistentVolume, made for the run.
	MediumVolume StorageMedium = "Volume"
	// MediumMemory is a tmpfs: no disk at all. It counts towards the Pod's memory.
	MediumMemory StorageMedium = "Memory"
)

// StorageSpec is the volume of the data directory.
//
// +kubebuilder:validation:XValidation:rule="self.medium != 'Memory' || !has(self.storageClassName)",message="storageClassName goes with medium Volume only: Memory is a tmpfs"
type StorageSpec struct {
	// medium is Volume (a PersistentVolume that is made for the run and deleted with it) or Memory (a tmpfs). Defaults to
	// Volume.
	// +optional
	// +kubebuilder:default=Volume
	// +kubebuilder:validation:Enum=Volume;Memory
	Medium StorageMedium `json:"medium,omitempty"`

	// size of the volume. Defaults to 5Gi.
	// +optional
	// +kubebuilder:default="5Gi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('256Mi')) >= 0",message="storage.size must be at least 256Mi"
	Size resource.Quantity `json:"size,omitzero"`

	// storageClassName of the volume. Unset: the cluster's default class.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`
}
