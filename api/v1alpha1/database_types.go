// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DatabaseSpec is the server to measure, with its settings, placement and storage.
//
// +kubebuilder:validation:XValidation:rule="!has(self.variables) || !has(self.settings) || !has(self.settings.bufferPoolSize) || !('innodb_buffer_pool_size' in self.variables || 'loose_innodb_buffer_pool_size' in self.variables)",message="settings.bufferPoolSize sets innodb_buffer_pool_size: set one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.variables) || !has(self.settings) || !has(self.settings.redoLogSize) || !self.variables.exists(k, k in ['innodb_log_file_size', 'loose_innodb_log_file_size', 'innodb_redo_log_capacity', 'loose_innodb_redo_log_capacity'])",message="settings.redoLogSize sets innodb_log_file_size or, with engine MySQL, innodb_redo_log_capacity: set one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.variables) || !has(self.settings) || !has(self.settings.flushLogAtTrxCommit) || !('innodb_flush_log_at_trx_commit' in self.variables || 'loose_innodb_flush_log_at_trx_commit' in self.variables)",message="settings.flushLogAtTrxCommit sets innodb_flush_log_at_trx_commit: set one of them"
// +kubebuilder:validation:XValidation:rule="(self.provisioner == 'External') == has(self.external)",message="provisioner External goes with external (host, credentialsSecretName), and external with no other provisioner"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'External' || !(has(self.image) || has(self.storage) || has(self.resources) || has(self.nodeSelector) || has(self.tolerations) || has(self.nodeAffinity) || has(self.priorityClassName))",message="image, storage, resources, nodeSelector, tolerations, nodeAffinity and priorityClassName are for servers that Benchrun makes: leave them out with provisioner External"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'StatefulSet' || !has(self.tls) || self.tls.mode != 'VerifyIdentity'",message="a server of provisioner StatefulSet has a self-signed certificate, which cannot be verified: tls.mode must be Disabled or Required"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'MariaDBOperator' || !has(self.tls) || !has(self.tls.caSecretName)",message="provisioner MariaDBOperator brings its own authority: leave out tls.caSecretName"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'MariaDBOperator' || !has(self.storage) || self.storage.medium == 'Volume'",message="storage.medium must be Volume: the MariaDB operator keeps data on volumes only; the others need provisioner StatefulSet"
// +kubebuilder:validation:XValidation:rule="!has(self.hostTuning) || self.provisioner == 'StatefulSet'",message="hostTuning needs provisioner StatefulSet: the node is tuned before the server starts"
// +kubebuilder:validation:XValidation:rule="!has(self.hostTuning) || !has(self.hostTuning.ioScheduler) || !has(self.storage) || self.storage.medium != 'Memory'",message="hostTuning.ioScheduler needs a disk: leave it out with storage.medium Memory"
// +kubebuilder:validation:XValidation:rule="self.provisioner != 'MariaDBOperator' || !has(self.storage) || !has(self.storage.blockIOClass)",message="storage.blockIOClass needs provisioner StatefulSet: the Pods of the MariaDB operator have no block I/O class"
// +kubebuilder:validation:XValidation:rule="!(has(self.engine) ? self.engine == 'MySQL' : has(self.image) && self.image.matches('(mysql|percona)[^/]*$')) || self.provisioner != 'MariaDBOperator'",message="provisioner MariaDBOperator makes MariaDB servers: with engine MySQL it must be StatefulSet or External"
// +kubebuilder:validation:XValidation:rule="!(has(self.engine) ? self.engine == 'MySQL' : has(self.image) && self.image.matches('(mysql|percona)[^/]*$')) || !has(self.settings) || !has(self.settings.flushLogAtTrxCommit) || self.settings.flushLogAtTrxCommit <= 2",message="settings.flushLogAtTrxCommit must be 0, 1 or 2 with engine MySQL"
type DatabaseSpec struct {
	// engine is the family of the database server. Unset: by the last part of the image's name, MySQL if that has mysql or percona
	// in it, PostgreSQL if postgres.
	// +optional
	// +kubebuilder:validation:Enum=MariaDB;MySQL;PostgreSQL
	Engine Engine `json:"engine,omitempty"`

	// image of the server, which takes files and variables as the engine's official image does. Unset: the operator's default,
	// mariadb:11.8, mysql:8.4 or postgres:17 unless changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// provisioner is StatefulSet, MariaDBOperator (needs the MariaDB operator, k8s.mariadb.com) or External (an existing server).
	// Defaults to StatefulSet.
	// +optional
	// +kubebuilder:default=StatefulSet
	// +kubebuilder:validation:Enum=StatefulSet;MariaDBOperator;External
	Provisioner Provisioner `json:"provisioner,omitempty"`

	// external is the server of provisioner External.
	// +optional
	External *ExternalSpec `json:"external,omitempty"`

	// tls encrypts the loader's connections. Unset: not encrypted.
	// +optional
	TLS TLSSpec `json:"tls,omitzero"`

	// settings that every benchmark should state. Unset ones keep the server's defaults. An external server must already have
	// them: otherwise the run ends SettingNotEffective.
	// +optional
	Settings ServerSettings `json:"settings,omitzero"`

	// variables are other server variables, as in my.cnf: lower case, with underscores. The run ends SettingNotEffective if the
	// server has another value. With the prefix loose_, the server may not know it.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=200
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_.]{0,79}$'))",message="a variable's name is lower case letters, digits, underscores and dots, at most 80, as in innodb_flush_method",messageExpression="'%s: a variable\\'s name is lower case letters, digits, underscores and dots, at most 80, as in innodb_flush_method'.format([self.filter(k, !k.matches('^[a-z][a-z0-9_.]{0,79}$'))])"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k.replace('loose_', '') in ['datadir', 'port', 'socket', 'bind_address', 'user', 'log_error', 'pid_file', 'skip_networking', 'skip_grant_tables']))",messageExpression="'%s: reserved for the operator, as are datadir, port, socket, bind_address, user, log_error, pid_file, skip_networking and skip_grant_tables'.format([self.filter(k, k.replace('loose_', '') in ['datadir', 'port', 'socket', 'bind_address', 'user', 'log_error', 'pid_file', 'skip_networking', 'skip_grant_tables'])[0]])"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k.replace('loose_', '') in ['log_bin', 'skip_log_bin']))",message="use settings.binaryLog for the binary log: log_bin=OFF would switch it on"
	Variables map[string]VariableValue `json:"variables,omitempty"`

	// storage is the data volume, deleted with the run. Unset: 5Gi of the cluster's default class.
	// +optional
	Storage StorageSpec `json:"storage,omitzero"`

	// resources of the server's container. Requests default to the limits. Unset: one CPU, and memory for 1.25 times the buffer
	// pool plus 512Mi, with engine MySQL plus 1Gi.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// observer is Enabled, or Disabled for clusters that allow no shared process namespace: a container beside the server (100m
	// CPU, 32Mi) that reads its usage, throttling and the node. Unset: Enabled.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Disabled
	Observer ObserverMode `json:"observer,omitempty"`

	// hostTuning changes kernel settings of the database's node until the run ends. The run ends HostTuningNotAllowed unless the
	// installation allows it.
	// +optional
	HostTuning *HostTuningSpec `json:"hostTuning,omitempty"`

	// nodeSelector has labels of the nodes that may have the database.
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

	// nodeAffinity of the database's Pod.
	// +optional
	NodeAffinity *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`

	// priorityClassName of the database's Pod. Preemption invalidates the current attempt.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Engine is a family of database servers.
type Engine string

const (
	// EngineMariaDB is MariaDB Server.
	EngineMariaDB Engine = "MariaDB"
	// EngineMySQL is MySQL Server, from 8.4 on.
	EngineMySQL Engine = "MySQL"
	// EnginePostgreSQL is PostgreSQL, from 15 on.
	EnginePostgreSQL Engine = "PostgreSQL"
)

// Provisioner is a way to provide a database.
type Provisioner string

const (
	// ProvisionerStatefulSet is a StatefulSet of one Pod.
	ProvisionerStatefulSet Provisioner = "StatefulSet"
	// ProvisionerMariaDBOperator is a MariaDB resource of the MariaDB operator.
	ProvisionerMariaDBOperator Provisioner = "MariaDBOperator"
	// ProvisionerExternal is a server that Benchrun neither creates nor removes.
	ProvisionerExternal Provisioner = "External"
)

// ObserverMode is whether an observer runs beside the server.
type ObserverMode string

const (
	// ObserverDisabled runs none.
	ObserverDisabled ObserverMode = "Disabled"
)

// VariableValue is a server variable's value as in my.cnf: one line.
//
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:Pattern=`^[^\r\n]*$`
type VariableValue string

// ServerSettings are the server settings that every benchmark should state.
type ServerSettings struct {
	// bufferPoolSize is innodb_buffer_pool_size, for example 256Mi: below resources.limits.memory, at least 5Mi.
	// +optional
	BufferPoolSize *resource.Quantity `json:"bufferPoolSize,omitempty"`

	// redoLogSize is the size of the whole redo log, for example 96Mi: innodb_log_file_size (of one file, unless variables has
	// innodb_log_files_in_group) or, with engine MySQL, innodb_redo_log_capacity. At least 4Mi, with engine MySQL 8Mi.
	// +optional
	RedoLogSize *resource.Quantity `json:"redoLogSize,omitempty"`

	// flushLogAtTrxCommit is innodb_flush_log_at_trx_commit: 1 makes commits durable; with 0 or 2 a crash may lose the last
	// second. From 0 to 3, with engine MySQL to 2.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3
	FlushLogAtTrxCommit *int32 `json:"flushLogAtTrxCommit,omitempty"`

	// binaryLog is whether there is a binary log. Unset: none, unless the server is external.
	// +optional
	BinaryLog *bool `json:"binaryLog,omitempty"`

	// synchronousCommit is synchronous_commit of PostgreSQL: with off, a crash may lose the last commits.
	// +optional
	// +kubebuilder:validation:Enum=on;off;local;remote_write;remote_apply
	SynchronousCommit SynchronousCommit `json:"synchronousCommit,omitempty"`
}

// SynchronousCommit is a value of synchronous_commit.
type SynchronousCommit string

// StorageMedium is what a data directory is stored on.
type StorageMedium string

const (
	// MediumVolume is a PersistentVolume, provisioned for the run.
	MediumVolume StorageMedium = "Volume"
	// MediumNodeDisk is an emptyDir: the disk on which the node keeps the files of its Pods. Nothing is provisioned.
	MediumNodeDisk StorageMedium = "NodeDisk"
	// MediumMemory is a tmpfs: no disk at all. It counts towards the Pod's memory.
	MediumMemory StorageMedium = "Memory"
)

// StorageSpec is the volume of the data directory.
//
// +kubebuilder:validation:XValidation:rule="self.medium == 'Volume' || !has(self.storageClassName)",message="storageClassName goes with medium Volume only: Memory is a tmpfs, and NodeDisk what the node has"
// +kubebuilder:validation:XValidation:rule="self.medium != 'Memory' || !has(self.blockIOClass)",message="blockIOClass needs a disk: a tmpfs has no disk to limit"
type StorageSpec struct {
	// medium is Volume (a PersistentVolume provisioned for the run), NodeDisk (an emptyDir on the node's disk) or Memory (a tmpfs).
	// Defaults to Volume.
	// +optional
	// +kubebuilder:default=Volume
	// +kubebuilder:validation:Enum=Volume;NodeDisk;Memory
	Medium StorageMedium `json:"medium,omitempty"`

	// size of the volume. With medium NodeDisk, the kubelet evicts a server that takes more. Defaults to 5Gi.
	// +optional
	// +kubebuilder:default="5Gi"
	Size resource.Quantity `json:"size,omitzero"`

	// storageClassName of the volume. Unset: the cluster's default class.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`

	// blockIOClass of the nodes' container runtime, which limits the server's reads and writes. The run ends
	// BlockIOClassNotEffective if it does not. Needs provisioner StatefulSet.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`
	BlockIOClass string `json:"blockIOClass,omitempty"`
}

// ExternalSpec is a server that Benchrun neither creates nor removes.
type ExternalSpec struct {
	// host is the server's DNS name or IP address, as seen from the run's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9:]([A-Za-z0-9._:-]*[A-Za-z0-9:.])?$`
	Host string `json:"host,omitempty"`

	// port of the server. Unset: 3306, with engine PostgreSQL 5432.
	// +optional
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
