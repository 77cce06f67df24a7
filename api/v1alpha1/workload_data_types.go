// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// DataFormat is how a file of rows is written.
type DataFormat string

const (
	// DataTSV is what SELECT … INTO OUTFILE and mariadb-dump --tab write: a backslash before what is no separator, \N is NULL.
	DataTSV DataFormat = "TSV"
	// DataCSV is RFC 4180: quotation marks around what is no separator, doubled within.
	DataCSV DataFormat = "CSV"
)

// DataSource is data of your own on a volume. It is mounted read-only and must be readable for the user 65532. Every file is
// read once before the clock starts: its SHA-256, bytes and rows are recorded. It is read again after the load: if it has
// changed, the attempt does not count.
//
// +kubebuilder:validation:XValidation:rule="!self.path.startsWith('/') && !self.path.split('/').exists(s, s == '..')",message="path is relative to the volume: it begins without / and has no .."
// +kubebuilder:validation:XValidation:rule="!has(self.separator) || self.separator.matches('^[\\t !#-&(-/:-@\\\\[\\\\]^_`{-~]$')",message="separator is one ASCII character: a tab, a space or a punctuation mark, but no backslash and no quotation mark"
// +kubebuilder:validation:XValidation:rule="!has(self.table) || !self.table.startsWith('benchrun_')",message="table: names that begin with benchrun_ are the loader's own"
type DataSource struct {
	// persistentVolumeClaim is the name of a claim in the run's namespace. The loader runs where it can be mounted.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	PersistentVolumeClaim string `json:"persistentVolumeClaim,omitempty"`

	// path on the volume: for BulkInsert of a file, whose rows are inserted in their order; for TPROCHLoad of a folder with
	// the eight tables' files, region.tbl or in pieces region_1.tbl, …, as HammerDB writes them: fields in the order of its
	// columns, separated by "|", dates like 1996-JAN-02 or 1996-01-02. "." is the volume itself.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Path string `json:"path,omitempty"`

	// format of a file for BulkInsert. TSV: tabs between fields, as SELECT … INTO OUTFILE and mariadb-dump --tab write it: \t,
	// \n, \\ and the like are single characters, \N is NULL. CSV: commas between fields, a field may be enclosed in quotation
	// marks, which are doubled within it; an unenclosed \N is NULL. Text is UTF-8. Unset: TSV.
	// +optional
	// +kubebuilder:validation:Enum=TSV;CSV
	Format DataFormat `json:"format,omitempty"`

	// separator of fields, one character, for BulkInsert. Unset: a tab for TSV, a comma for CSV.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1
	Separator string `json:"separator,omitempty"`

	// headerLines are how many records at the beginning of the file are no rows, for BulkInsert. From 0 to 100. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	HeaderLines *int32 `json:"headerLines,omitempty"`

	// table that BulkInsert inserts the rows into, which schemaFrom makes. Unset: the workload's own. At most 60 letters, digits
	// and underscores.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=60
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	Table string `json:"table,omitempty"`

	// columns of the table that the fields go to, in the fields' order, for BulkInsert. Unset: all columns of the table in
	// their order; of the workload's own table path, modification_time and file_size (FileList), or id and k (Narrow).
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9_$]+$`
	Columns []string `json:"columns,omitempty"`
}
