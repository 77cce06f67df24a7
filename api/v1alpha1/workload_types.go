// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadType names a workload. Its member of WorkloadSpec has the same name in lower camel case, for example commitSize.
type WorkloadType string

// WorkloadSpec is the load on the database. It has the one member that type names: a workload's parameters, with sweep for values
// to vary, or points for whole combinations.
//
// +kubebuilder:validation:XValidation:rule="(self.type == 'CommitSize') == has(self.commitSize)",message="the member commitSize goes with type CommitSize, which needs it; write commitSize: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="(self.type == 'BulkInsert') == has(self.bulkInsert)",message="the member bulkInsert goes with type BulkInsert, which needs it; write bulkInsert: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="(self.type == 'IIBench') == has(self.iiBench)",message="the member iiBench goes with type IIBench, which needs it; write iiBench: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="(self.type == 'TPROCHLoad') == has(self.tprochLoad)",message="the member tprochLoad goes with type TPROCHLoad, which needs it; write tprochLoad: {} for its defaults"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Sysbench') == has(self.sysbench)",message="the member sysbench goes with type Sysbench, which needs it; write sysbench: {script: oltp_read_write}"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Pgbench') == has(self.pgbench)",message="the member pgbench goes with type Pgbench, which needs it; write pgbench: {script: TPCBLike}"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Statements') == has(self.statements)",message="the member statements goes with type Statements, which needs it: transactions with their scripts"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Custom') == has(self.custom)",message="the member custom goes with type Custom, which needs it"
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.limits.seconds) || !(self.type in ['TPROCHLoad', 'Sysbench', 'Custom'])",message="limits.seconds is not for TPROCHLoad, which loads whole tables, nor for Sysbench (use sysbench.seconds) and Custom, whose programs end by themselves"
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.limits.seconds) || !has(self.iiBench) || !has(self.iiBench.stages) && self.iiBench.asPublished != 'SmallDatum'",message="limits.seconds is not for iiBench.stages and asPublished SmallDatum, whose query stages have their own seconds: leave it out"
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.limits.errorPercent) || !(self.type in ['TPROCHLoad', 'Custom'])",message="limits.errorPercent is not for TPROCHLoad and Custom, which do not retry transactions"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || self.type in ['BulkInsert', 'TPROCHLoad']",message="dataFrom is for BulkInsert and TPROCHLoad: no other workload loads files"
// +kubebuilder:validation:XValidation:rule="!has(self.schemaFrom) || self.type in ['BulkInsert', 'TPROCHLoad']",message="schemaFrom is for BulkInsert and TPROCHLoad: other workloads make their own tables"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || self.type == 'BulkInsert' || !(has(self.dataFrom.format) || has(self.dataFrom.separator) || has(self.dataFrom.emptyIs) || has(self.dataFrom.headerLines) || has(self.dataFrom.table) || has(self.dataFrom.columns))",message="format, separator, emptyIs, headerLines, table and columns of dataFrom are for BulkInsert: TPROCHLoad reads files as HammerDB writes them"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || !has(self.dataFrom.table) || has(self.schemaFrom)",message="dataFrom.table needs schemaFrom with the SQL that makes the table"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || !has(self.tprochLoad) || self.tprochLoad.data == 'Streamed'",message="data: Staged is for generated data: leave it out with dataFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.schemaFrom) || !has(self.tprochLoad) || self.tprochLoad.indexes == 'Before'",message="indexes: After is for Benchrun's own tables: with schemaFrom, its SQL defines all keys"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || !has(self.bulkInsert) || self.bulkInsert.protocol == 'Text' && (!has(self.bulkInsert.sweep) || !has(self.bulkInsert.sweep.protocol) || self.bulkInsert.sweep.protocol == ['Text']) && (!has(self.bulkInsert.points) || self.bulkInsert.points.all(p, p.?protocol.orValue('Text') == 'Text'))",message="dataFrom goes with protocol Text: rows of a file are sent as text"
// +kubebuilder:validation:XValidation:rule="!has(self.dataFrom) || !has(self.bulkInsert) || self.bulkInsert.?warmupSeconds.orValue(0) == 0 && self.bulkInsert.?rampSeconds.orValue(0) == 0",message="warmupSeconds and rampSeconds need an unlimited number of rows: leave them out with dataFrom"
type WorkloadSpec struct {
	// type selects the workload.
	// +required
	// +kubebuilder:validation:Enum=CommitSize;BulkInsert;IIBench;TPROCHLoad;Sysbench;Pgbench;Statements;Custom
	Type WorkloadType `json:"type,omitempty"`

	// commitSize inserts rows one by one and commits after every rowsPerCommit of them.
	// +optional
	CommitSize *CommitSizeWorkload `json:"commitSize,omitempty"`

	// bulkInsert inserts many rows with each statement.
	// +optional
	BulkInsert *BulkInsertWorkload `json:"bulkInsert,omitempty"`

	// iiBench inserts into a table with secondary indexes.
	// +optional
	IIBench *IIBenchWorkload `json:"iiBench,omitempty"`

	// tprochLoad loads TPC-H-derived tables with LOAD DATA.
	// +optional
	TPROCHLoad *TPROCHLoadWorkload `json:"tprochLoad,omitempty"`

	// sysbench runs a script, a microbenchmark, tpcc, or your own script.
	// +optional
	Sysbench *SysbenchWorkload `json:"sysbench,omitempty"`

	// pgbench runs one of the scripts of PostgreSQL's own program, or yours.
	// +optional
	Pgbench *PgbenchWorkload `json:"pgbench,omitempty"`

	// statements sends your own SQL, by the loader itself.
	// +optional
	Statements *StatementsWorkload `json:"statements,omitempty"`

	// custom runs any program in any image.
	// +optional
	Custom *CustomWorkload `json:"custom,omitempty"`

	// dataFrom has files that BulkInsert or TPROCHLoad load instead of generated rows.
	// +optional
	DataFrom *DataSource `json:"dataFrom,omitempty"`

	// schemaFrom is SQL in a ConfigMap that makes the tables of BulkInsert or TPROCHLoad: of the workload's own names (or
	// dataFrom.table) and with at least the columns that are loaded. A semicolon ends a statement. Everything in the schema is
	// dropped first.
	// +optional
	SchemaFrom *ConfigMapFile `json:"schemaFrom,omitempty"`

	// limits end a trial early, or let it fail.
	// +optional
	Limits WorkloadLimits `json:"limits,omitzero"`
}

// WorkloadLimits bound a trial's measured phase.
type WorkloadLimits struct {
	// seconds after which measuring stops. The trial counts. Unset: until all rows are in. From 1 to 15552000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15552000
	Seconds *int32 `json:"seconds,omitempty"`

	// errorPercent is the largest share of transactions that may be rolled back and retried; above it, the run fails. From 0 to
	// 100; unset: 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ErrorPercent *int32 `json:"errorPercent,omitempty"`
}

// ConfigMapFile is a key of a ConfigMap in the run's namespace.
type ConfigMapFile struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// key of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// StorageEngine is the name of a storage engine as the server spells it, for example InnoDB, MyISAM or Aria.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
type StorageEngine string

// AsPublished names what a workload sends or obeys as it was published; each workload has its own.
type AsPublished string

const (
	// AsPublishedNone is Benchrun's own way.
	AsPublishedNone AsPublished = "None"
	// AsPublishedIsotopp commits where the published script of CommitSize does: its first transaction has one row.
	AsPublishedIsotopp AsPublished = "Isotopp"
	// AsPublishedContest2008 obeys the ground rules of the contest of 2008.
	AsPublishedContest2008 AsPublished = "Contest2008"
	// AsPublishedSmallDatum has the ten steps of the insert benchmark as its maintainer publishes them.
	AsPublishedSmallDatum AsPublished = "SmallDatum"
)

// DataFormat is the format of a file of rows.
type DataFormat string

const (
	// DataTSV is the format of SELECT … INTO OUTFILE and mariadb-dump --tab: a backslash escapes separators, \N is NULL.
	DataTSV DataFormat = "TSV"
	// DataCSV is RFC 4180: quotation marks enclose separators and are doubled within a field.
	DataCSV DataFormat = "CSV"
)

// EmptyField is what an empty field of a file is.
type EmptyField string

const (
	// EmptyFieldIsString makes it an empty string.
	EmptyFieldIsString EmptyField = "EmptyString"
	// EmptyFieldIsNull makes it NULL.
	EmptyFieldIsNull EmptyField = "NULL"
)

// DataSource is your own data on a volume. It is mounted read-only; the user 65532 must be able to read the files. An attempt
// whose files have changed meanwhile does not count.
//
// +kubebuilder:validation:XValidation:rule="!self.path.startsWith('/') && !self.path.split('/').exists(s, s == '..')",message="path is relative to the volume: it begins without / and has no .."
// +kubebuilder:validation:XValidation:rule="!has(self.separator) || self.separator.matches('^[\\t !#-&(-/:-@\\\\[\\\\]^_`{-~]$')",message="separator is one ASCII character: a tab, a space or a punctuation mark other than a backslash or a quotation mark"
// +kubebuilder:validation:XValidation:rule="!has(self.table) || !self.table.startsWith('benchrun_')",message="table: names that begin with benchrun_ are reserved for the loader"
type DataSource struct {
	// persistentVolumeClaim in the run's namespace. The loader runs where it can be mounted.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	PersistentVolumeClaim string `json:"persistentVolumeClaim,omitempty"`

	// path on the volume: for BulkInsert a file; for TPROCHLoad a folder with the files of the eight tables as HammerDB writes
	// them, region.tbl or in pieces region_1.tbl, …, with fields separated by "|". "." is the root.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Path string `json:"path,omitempty"`

	// format of a file for BulkInsert, in UTF-8: TSV, as written by SELECT … INTO OUTFILE and mariadb-dump --tab, or CSV, with
	// doubled quotation marks and literal backslashes. \N is NULL. Unset: TSV.
	// +optional
	// +kubebuilder:validation:Enum=TSV;CSV
	Format DataFormat `json:"format,omitempty"`

	// separator of fields, for BulkInsert: one character. Unset: a tab for TSV, a comma for CSV.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1
	Separator string `json:"separator,omitempty"`

	// emptyIs is what an empty field is, for BulkInsert: EmptyString or "NULL", in quotation marks. In CSV, "" is always empty.
	// Unset: EmptyString.
	// +optional
	// +kubebuilder:validation:Enum=EmptyString;NULL
	EmptyIs EmptyField `json:"emptyIs,omitempty"`

	// headerLines are not rows, for BulkInsert. From 0 to 100. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	HeaderLines *int32 `json:"headerLines,omitempty"`

	// table that BulkInsert fills; schemaFrom makes it. Unset: the workload's own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=60
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	Table string `json:"table,omitempty"`

	// columns of the fields, in their order, for BulkInsert. Unset: those of the table, but for id of FileList.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9_$]+$`
	Columns []string `json:"columns,omitempty"`
}
