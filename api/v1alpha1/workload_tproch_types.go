// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadTPROCHLoad loads the tables of a TPC-H-derived schema with LOAD DATA.
const WorkloadTPROCHLoad WorkloadType = "TPROCHLoad"

// TPROCHData says when the rows are made that are loaded.
type TPROCHData string

const (
	// TPROCHStaged makes files before the clock starts.
	TPROCHStaged TPROCHData = "Staged"
	// TPROCHStreamed makes rows while they are loaded.
	TPROCHStreamed TPROCHData = "Streamed"
)

// TPROCHLoadMode says how tables are loaded.
type TPROCHLoadMode string

const (
	// TPROCHOneStatement loads one table after another, each with one statement.
	TPROCHOneStatement TPROCHLoadMode = "OneStatement"
	// TPROCHChunked loads one table after another, each with as many statements as it has chunks.
	TPROCHChunked TPROCHLoadMode = "Chunked"
	// TPROCHParallel loads several tables at the same time, each with one statement.
	TPROCHParallel TPROCHLoadMode = "Parallel"
)

// TPROCHIndexes says when secondary indexes and foreign keys are made.
type TPROCHIndexes string

const (
	// TPROCHIndexesBefore makes them with the tables.
	TPROCHIndexesBefore TPROCHIndexes = "Before"
	// TPROCHIndexesAfter makes them when the tables are loaded.
	TPROCHIndexesAfter TPROCHIndexes = "After"
)

// TPROCHLoadWorkload loads the eight tables of a schema derived from TPC-H, as HammerDB's TPROC-H has it, with LOAD DATA
// LOCAL INFILE: seconds, rows, bytes and warnings of each table, and seconds in total. Every row is compared with what was
// sent. The results are not comparable with any TPC-H result. The server needs local_infile=ON. Sweepable: scaleFactor,
// uniqueChecks, foreignKeyChecks, streams, loadMode.
type TPROCHLoadWorkload struct {
	// scaleFactor is the size of the data: 1 is 8.7 million rows, a gigabyte of text; with dataFrom, a label. From 0.01 to
	// 1000 with at most two decimal places, as a string; defaults to 0.01.
	// +optional
	// +kubebuilder:default="0.01"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=7
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0[.](0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,2}([.][0-9]{1,2})?|1000([.]00?)?)$')",message="scaleFactor must be 0.01 to 1000 with at most two decimal places, as a string"
	ScaleFactor string `json:"scaleFactor,omitempty"`

	// data is Streamed (rows are made while they are loaded) or Staged (files at the loader's scratch volume are made before
	// the clock starts, and their checksums recorded; needs loader.scratch). Defaults to Streamed.
	// +optional
	// +kubebuilder:default=Streamed
	// +kubebuilder:validation:Enum=Staged;Streamed
	Data TPROCHData `json:"data,omitempty"`

	// loadMode is OneStatement (one table after another, each with one statement and in one transaction), Chunked (the same
	// with a statement for every rowsPerChunk rows) or Parallel (tables at the same time over several streams, each with one
	// statement; the largest first, or, with foreignKeyChecks, each after those that it refers to). Defaults to OneStatement.
	// +optional
	// +kubebuilder:default=OneStatement
	// +kubebuilder:validation:Enum=OneStatement;Chunked;Parallel
	LoadMode TPROCHLoadMode `json:"loadMode,omitempty"`

	// rowsPerChunk is how many rows a statement loads with loadMode Chunked. From 1 to 1000000000; defaults to 100000.
	// +optional
	// +kubebuilder:default=100000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	RowsPerChunk int64 `json:"rowsPerChunk,omitempty"`

	// streams is the number of connections with loadMode Parallel; there are eight tables. From 1 to 8; defaults to 4 there,
	// and is not allowed elsewhere.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8
	Streams *int32 `json:"streams,omitempty"`

	// foreignKeyChecks is the session variable foreign_key_checks: whether the server looks up every reference. Without it
	// and uniqueChecks, MariaDB from 10.7 on sorts the rows of an empty table and builds its indexes in bulk. Defaults to
	// true.
	// +optional
	// +kubebuilder:default=true
	ForeignKeyChecks *bool `json:"foreignKeyChecks,omitempty"`

	// uniqueChecks is the session variable unique_checks: whether the server checks secondary unique indexes row by row.
	// Defaults to true.
	// +optional
	// +kubebuilder:default=true
	UniqueChecks *bool `json:"uniqueChecks,omitempty"`

	// indexes are the secondary indexes and foreign keys: made Before the tables are loaded, or After it, which is timed as
	// a phase of its own and counts in the total. Defaults to Before.
	// +optional
	// +kubebuilder:default=Before
	// +kubebuilder:validation:Enum=Before;After
	Indexes TPROCHIndexes `json:"indexes,omitempty"`

	// analyze runs ANALYZE TABLE on all tables at the end, which is timed as a phase of its own and counts in the total.
	// Defaults to false.
	// +optional
	// +kubebuilder:default=false
	Analyze *bool `json:"analyze,omitempty"`
}
