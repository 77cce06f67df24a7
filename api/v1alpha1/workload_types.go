// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadType names a workload.
type WorkloadType string

// WorkloadCommitSize inserts single rows and commits after every rowsPerCommit of them.
const WorkloadCommitSize WorkloadType = "CommitSize"

// WorkloadSpec is what the loader does: a union, with the one member that type names.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'CommitSize' || has(self.commitSize)",message="type CommitSize needs the member commitSize; write commitSize: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="self.type == 'TPROCHLoad' ? has(self.tprochLoad) : !has(self.tprochLoad)",message="the member tprochLoad goes with type TPROCHLoad; write tprochLoad: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="self.type != 'TPROCHLoad' || !has(self.limits) || !has(self.limits.seconds)",message="TPROCHLoad loads whole tables: limits.seconds is not for it; trials.deadlineSeconds ends what takes too long"
// +kubebuilder:validation:XValidation:rule="self.type == 'BulkInsert' ? has(self.bulkInsert) : !has(self.bulkInsert)",message="the member bulkInsert goes with type BulkInsert, which needs it; write bulkInsert: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="self.type == 'IIBench' ? has(self.iiBench) : !has(self.iiBench)",message="the member iiBench goes with type IIBench, which needs it; write iiBench: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Sysbench') == has(self.sysbench)",message="type Sysbench needs the member sysbench, and no other type has it; write sysbench: {script: oltp_read_write}"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Custom') == has(self.custom)",message="type Custom needs the member custom, and no other type has it"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['Sysbench', 'Custom']) || !has(self.limits) || !has(self.limits.seconds)",message="limits are not for Sysbench, which measures for sysbench.seconds, nor for Custom, whose program ends by itself"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || self.type in ['BulkInsert', 'TPROCHLoad']",message="dataFrom is for BulkInsert and TPROCHLoad: no other workload loads files"
// +kubebuilder:validation:XValidation:rule="!has(self.schemaFrom) || self.type in ['BulkInsert', 'TPROCHLoad']",message="schemaFrom is for BulkInsert and TPROCHLoad: the tables of other workloads are their own"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || self.type == 'BulkInsert' || !(has(self.dataFrom.format) || has(self.dataFrom.separator) || has(self.dataFrom.headerLines) || has(self.dataFrom.table) || has(self.dataFrom.columns))",message="format, separator, headerLines, table and columns of dataFrom are for BulkInsert: TPROCHLoad reads files as HammerDB writes them"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || !has(self.dataFrom.table) || has(self.schemaFrom)",message="dataFrom.table needs schemaFrom with the SQL that makes it"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || !has(self.tprochLoad) || self.tprochLoad.data == 'Streamed'",message="data: Staged is for Benchrun's own data, leave it out with dataFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.schemaFrom) || !has(self.tprochLoad) || self.tprochLoad.indexes == 'Before'",message="indexes: After is for Benchrun's own tables: with schemaFrom, its SQL says all keys"
type WorkloadSpec struct {
	// type says which workload is run, and which of the members below is read: CommitSize, BulkInsert, IIBench, TPROCHLoad,
	// Sysbench or Custom.
	// +required
	// +kubebuilder:validation:Enum=CommitSize;BulkInsert;IIBench;TPROCHLoad;Sysbench;Custom
	Type WorkloadType `json:"type,omitempty"`

	// commitSize inserts rows one by one over one connection, committing after every rowsPerCommit of them.
	// +optional
	CommitSize *CommitSizeWorkload `json:"commitSize,omitempty"`

	// bulkInsert inserts many rows with each statement, over one or many connections.
	// +optional
	BulkInsert *BulkInsertWorkload `json:"bulkInsert,omitempty"`

	// iiBench inserts into a table with secondary indexes, and shows how the rate falls as they grow.
	// +optional
	IIBench *IIBenchWorkload `json:"iiBench,omitempty"`

	// tprochLoad loads the tables of a TPC-H-derived schema with LOAD DATA.
	// +optional
	TPROCHLoad *TPROCHLoadWorkload `json:"tprochLoad,omitempty"`

	// sysbench runs sysbench with one of its own scripts, with tpcc, or with yours.
	// +optional
	Sysbench *SysbenchWorkload `json:"sysbench,omitempty"`

	// custom runs any program in any image.
	// +optional
	Custom *CustomWorkload `json:"custom,omitempty"`

	// dataFrom is a file, or a folder of files, that BulkInsert or TPROCHLoad loads in place of rows that Benchrun makes.
	// TPROCHLoad's scaleFactor is a label then.
	// +optional
	DataFrom *DataSource `json:"dataFrom,omitempty"`

	// schemaFrom is SQL in a ConfigMap that makes the tables of BulkInsert or TPROCHLoad in place of Benchrun's own
	// statements: tables of the same names (or dataFrom.table), with at least the columns that are loaded. Statements are
	// separated by semicolons; tables that do not say ENGINE get BulkInsert's storageEngine. Everything in the schema is
	// dropped first. Its SHA-256 is recorded.
	// +optional
	SchemaFrom *ConfigMapFile `json:"schemaFrom,omitempty"`

	// limits end a trial before it has done all of its work. It is a result all the same, marked with what stopped it.
	// +optional
	Limits WorkloadLimits `json:"limits,omitzero"`
}

// WorkloadLimits bound a trial's measured phase.
type WorkloadLimits struct {
	// seconds after which measuring stops. Unset: it runs until all rows are in. From 1 to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	Seconds *int32 `json:"seconds,omitempty"`
}

// CommitSizeCompat is a published program whose behaviour is imitated.
type CommitSizeCompat string

const (
	// CompatNone commits after exactly rowsPerCommit rows.
	CompatNone CommitSizeCompat = "None"
	// CompatIsotopp commits where the published script does: its first transaction has one row.
	CompatIsotopp CommitSizeCompat = "Isotopp"
)

// CommitSizeWorkload fills a table of an id and a string of 20 characters with single-row INSERT statements over one
// connection. Sweepable: rowsPerCommit.
//
// +kubebuilder:validation:XValidation:rule="self.rowsPerCommit <= self.rows",message="rowsPerCommit must not be above rows"
type CommitSizeWorkload struct {
	// rows to insert in each trial. From 1 to 1000000000; defaults to 10000.
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows int64 `json:"rows,omitempty"`

	// rowsPerCommit is how many rows make a transaction; the last one has what is left. From 1 to rows; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	RowsPerCommit int64 `json:"rowsPerCommit,omitempty"`

	// compat imitates a published program. Isotopp commits where that script does: its first transaction has one row, the
	// next ones have rowsPerCommit each. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Isotopp
	Compat CommitSizeCompat `json:"compat,omitempty"`
}
