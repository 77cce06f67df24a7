// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadTPROCHLoad loads the tables of a TPC-H-derived schema with LOAD DATA.
const WorkloadTPROCHLoad WorkloadType = "TPROCHLoad"

// TPROCHData is when the rows are generated.
type TPROCHData string

// TPROCHLoadMode is how tables are loaded.
//
// +kubebuilder:validation:Enum=OneStatement;Chunked;Parallel
type TPROCHLoadMode string

// TPROCHIndexes is when secondary indexes and foreign keys are made.
type TPROCHIndexes string

// TPROCHScaleFactor is the size of the data, a decimal number.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=7
// +kubebuilder:validation:XValidation:rule="self.matches('^(0[.](0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,2}([.][0-9]{1,2})?|1000([.]00?)?)$')",message="scaleFactor must be 0.01 to 1000 with at most two decimal places, as a string"
type TPROCHScaleFactor string

// TPROCHClients is a number of clients.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=8
type TPROCHClients int32

// TPROCHLoadWorkload loads the eight tables of HammerDB's TPROC-H, derived from TPC-H, with LOAD DATA LOCAL INFILE, and compares
// every row. It is not TPC-H. The server needs local_infile=ON.
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="self.loadMode == 'Parallel' || has(self.sweep) && has(self.sweep.loadMode) || !(has(self.clients) || has(self.sweep) && has(self.sweep.clients))",message="clients are for loadMode Parallel"
// +kubebuilder:validation:XValidation:rule="self.loadMode == 'Parallel' || !has(self.points) || !self.points.exists(p, has(p.clients)) || self.points.exists(p, has(p.loadMode))",message="clients are for loadMode Parallel"
// +kubebuilder:validation:XValidation:rule="self.asPublished != 'MariaDBOrg' || (self.loadMode == 'OneStatement' && !self.foreignKeyChecks)",message="asPublished MariaDBOrg goes with loadMode OneStatement and foreignKeyChecks false"
type TPROCHLoadWorkload struct {
	// scaleFactor is the size of the data: 1 is 8.7 million rows, a gigabyte of text; a label with dataFrom. "0.01" to "1000", at
	// most two decimal places; defaults to 0.01.
	// +optional
	// +kubebuilder:default="0.01"
	// +benchrun:sweep=sizes of the data
	ScaleFactor TPROCHScaleFactor `json:"scaleFactor,omitempty"`

	// data is Streamed (generated while they are loaded) or Staged (generated on the scratch volume before; needs
	// loader.scratch). Defaults to Streamed.
	// +optional
	// +kubebuilder:default=Streamed
	// +kubebuilder:validation:Enum=Staged;Streamed
	Data TPROCHData `json:"data,omitempty"`

	// loadMode is OneStatement (for each table, one after another), Chunked (a statement for every rowsPerChunk rows) or
	// Parallel (by several clients, the largest table first). Defaults to OneStatement.
	// +optional
	// +kubebuilder:default=OneStatement
	// +benchrun:sweep=ways of loading
	// +benchrun:sweep:max=3
	LoadMode TPROCHLoadMode `json:"loadMode,omitempty"`

	// asPublished MariaDBOrg sends the statements of mariadb.org's "10.7 preview feature: InnoDB Bulk Insert". Needs loadMode
	// OneStatement, foreignKeyChecks false and generated data. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;MariaDBOrg
	AsPublished AsPublished `json:"asPublished,omitempty"`

	// rowsPerChunk is the number of rows of a statement with loadMode Chunked. From 1 to 1000000000; defaults to 100000.
	// +optional
	// +kubebuilder:default=100000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	RowsPerChunk int64 `json:"rowsPerChunk,omitempty"`

	// clients load at the same time with loadMode Parallel, each over a connection. From 1 to 8. Unset: 4. Refused with other modes.
	// +optional
	// +benchrun:sweep=numbers of clients
	// +benchrun:sweep:max=8
	Clients *TPROCHClients `json:"clients,omitempty"`

	// foreignKeyChecks is foreign_key_checks of the session. With this and uniqueChecks off, MariaDB 10.7 and later load empty
	// tables in bulk. Defaults to true.
	// +optional
	// +kubebuilder:default=true
	// +benchrun:sweep=true, false or both
	// +benchrun:sweep:max=2
	ForeignKeyChecks *bool `json:"foreignKeyChecks,omitempty"`

	// uniqueChecks is unique_checks of the session. Defaults to true.
	// +optional
	// +kubebuilder:default=true
	// +benchrun:sweep=true, false or both
	// +benchrun:sweep:max=2
	UniqueChecks *bool `json:"uniqueChecks,omitempty"`

	// indexes is when secondary indexes and foreign keys are made: Before the load, or After, in a phase that counts in the
	// total. Defaults to Before.
	// +optional
	// +kubebuilder:default=Before
	// +kubebuilder:validation:Enum=Before;After
	Indexes TPROCHIndexes `json:"indexes,omitempty"`

	// analyze runs ANALYZE TABLE at the end, in a phase that counts in the total. Defaults to false.
	// +optional
	// +kubebuilder:default=false
	Analyze *bool `json:"analyze,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *TPROCHLoadSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []TPROCHLoadPoint `json:"points,omitempty"`
}
