// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

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
