// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadBulkInsert inserts many rows with each statement, over many connections.
const WorkloadBulkInsert WorkloadType = "BulkInsert"

// BulkInsertTable names a table and its data.
type BulkInsertTable string

const (
	// BulkInsertFileList is a list of files: about 190 bytes of SQL per row.
	BulkInsertFileList BulkInsertTable = "FileList"
)

// BulkInsertProtocol is how rows reach the server.
//
// +kubebuilder:validation:Enum=Text;Prepared;Bulk
type BulkInsertProtocol string

// BulkInsertSize is a number of rows in a statement or of statements in a transaction.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=1000000
type BulkInsertSize int64

// Connections is a number of connections of the loader.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=128
type Connections int32

// BulkInsertWorkload fills tables with INSERT statements of many rows, in transactions. Row n depends on the seed and n alone.
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="has(self.points) || self.commit != 'Autocommit' && !(has(self.sweep) && has(self.sweep.commit) && 'Autocommit' in self.sweep.commit) || self.statementsPerTransaction == 1 && (!has(self.sweep) || !has(self.sweep.statementsPerTransaction) || self.sweep.statementsPerTransaction == [1])",message="commit Autocommit makes each statement a transaction: statementsPerTransaction must be 1"
// +kubebuilder:validation:XValidation:rule="!has(self.points) || self.points.all(p, p.?commit.orValue(self.commit) != 'Autocommit' || p.?statementsPerTransaction.orValue(self.statementsPerTransaction) == 1)",message="commit Autocommit makes each statement a transaction: statementsPerTransaction must be 1"
type BulkInsertWorkload struct {
	Pacing `json:",inline"`

	// table is FileList (id, path, modification_time, file_size; about 190 bytes of SQL per row) or Narrow (two integers; about 17
	// bytes). Defaults to FileList.
	// +optional
	// +kubebuilder:default=FileList
	// +kubebuilder:validation:Enum=FileList;Narrow
	Table BulkInsertTable `json:"table,omitempty"`

	// tables is the number of tables, which the connections take in turn. From 1 to 64; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Tables int32 `json:"tables,omitempty"`

	// rows to insert in each trial, into all tables; with dataFrom, at most those of the file. From 1 to 1000000000; defaults to
	// 1000000.
	// +optional
	// +kubebuilder:default=1000000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows int64 `json:"rows,omitempty"`

	// rowsPerStatement is the number of rows in an INSERT; the last has the remainder. With protocol Prepared, at most 21845 of
	// FileList or 32767 of Narrow. From 1 to 1000000; defaults to 2000.
	// +optional
	// +kubebuilder:default=2000
	// +benchrun:sweep=numbers of rows in an INSERT
	// +benchrun:sweep:max=1000
	RowsPerStatement BulkInsertSize `json:"rowsPerStatement,omitempty"`

	// statementsPerTransaction is the number of statements before a COMMIT. From 1 to 1000000; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of statements before a COMMIT
	// +benchrun:sweep:max=1000
	StatementsPerTransaction BulkInsertSize `json:"statementsPerTransaction,omitempty"`

	// clients is the number of clients, each with a connection. From 1 to 128; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of clients
	// +benchrun:sweep:max=128
	Clients Connections `json:"clients,omitempty"`

	// storageEngine of the table, as the server spells it. With schemaFrom, for tables without an ENGINE clause; others must name
	// the same. Defaults to InnoDB.
	// +optional
	// +kubebuilder:default=InnoDB
	// +benchrun:sweep=storage engines
	// +benchrun:sweep:max=16
	StorageEngine StorageEngine `json:"storageEngine,omitempty"`

	// protocol is Text (SQL), Prepared (an INSERT of rowsPerStatement rows, COM_STMT_EXECUTE) or Bulk (of one row for
	// rowsPerStatement rows, COM_STMT_BULK_EXECUTE; MariaDB 10.2 or newer). dataFrom needs Text. Defaults to Text.
	// +optional
	// +kubebuilder:default=Text
	// +benchrun:sweep=protocols
	// +benchrun:sweep:max=3
	Protocol BulkInsertProtocol `json:"protocol,omitempty"`

	// commit is Explicit (a COMMIT ends each transaction) or Autocommit (the server commits each INSERT). Autocommit needs
	// statementsPerTransaction 1. Defaults to Explicit.
	// +optional
	// +kubebuilder:default=Explicit
	// +benchrun:sweep=ways to commit
	// +benchrun:sweep:max=2
	Commit CommitMode `json:"commit,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *BulkInsertSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []BulkInsertPoint `json:"points,omitempty"`
}
