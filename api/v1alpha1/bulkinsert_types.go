// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadBulkInsert inserts many rows with each statement, over many connections.
const WorkloadBulkInsert WorkloadType = "BulkInsert"

// BulkInsertTable names a table and its data.
type BulkInsertTable string

const (
	// BulkInsertFileList is a list of files: some 190 bytes of SQL a row.
	BulkInsertFileList BulkInsertTable = "FileList"
	// BulkInsertNarrow has two integer columns: some 17 bytes of SQL a row.
	BulkInsertNarrow BulkInsertTable = "Narrow"
)

// BulkInsertWorkload fills a table with INSERT statements of many rows each, in transactions of several statements, over
// several connections. Row n is the same whoever sends it: a seed gives the same rows, however they are sent. Sweepable:
// rowsPerStatement, statementsPerTransaction, concurrency, storageEngine.
type BulkInsertWorkload struct {
	// table is FileList (id, path, modification_time, file_size; some 190 bytes of SQL a row) or Narrow (two integer columns;
	// some 17 bytes). Neither has a secondary index. Defaults to FileList.
	// +optional
	// +kubebuilder:default=FileList
	// +kubebuilder:validation:Enum=FileList;Narrow
	Table BulkInsertTable `json:"table,omitempty"`

	// tables is over how many tables of the kind the connections spread: the first connection writes to the first table, the
	// second to the second, and so on, beginning again after the last. From 1 to 64; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Tables int32 `json:"tables,omitempty"`

	// rows to insert in each trial, in all tables together; with dataFrom, the file's if they are fewer. From 1 to
	// 1000000000; defaults to 1000000.
	// +optional
	// +kubebuilder:default=1000000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows int64 `json:"rows,omitempty"`

	// rowsPerStatement is how many rows each INSERT has; the last one has what is left. A statement must fit into the
	// server's max_allowed_packet: 16 MiB are some 75000 rows of FileList. From 1 to 1000000; defaults to 2000.
	// +optional
	// +kubebuilder:default=2000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RowsPerStatement int64 `json:"rowsPerStatement,omitempty"`

	// statementsPerTransaction is how many statements make a transaction, which a COMMIT ends. From 1 to 1000000; defaults
	// to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	StatementsPerTransaction int64 `json:"statementsPerTransaction,omitempty"`

	// concurrency is the number of connections that insert at the same time. Each keeps a statement or two in the loader's
	// memory. From 1 to 128; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	Concurrency int32 `json:"concurrency,omitempty"`

	// storageEngine of the table, as the server calls it: InnoDB, MyISAM, Aria, … With schemaFrom, that of tables that do
	// not say ENGINE; those that say another one are refused. One that the server does not have ends the run with the
	// server's words. 1 to 64 letters, digits and underscores; defaults to InnoDB.
	// +optional
	// +kubebuilder:default=InnoDB
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	StorageEngine string `json:"storageEngine,omitempty"`
}
