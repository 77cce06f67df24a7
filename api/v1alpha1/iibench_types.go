// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadIIBench inserts into a table with secondary indexes.
const WorkloadIIBench WorkloadType = "IIBench"

// IIBenchSchema names a publication's table.
type IIBenchSchema string

const (
	// IIBenchInsertBenchmark is the table of the insert benchmark as it is today.
	IIBenchInsertBenchmark IIBenchSchema = "InsertBenchmark"
	// IIBenchTokutek2008 is the table of the contest of 2008.
	IIBenchTokutek2008 IIBenchSchema = "Tokutek2008"
)

// IndexMoment says when secondary indexes are made.
type IndexMoment string

const (
	// IndexesAtStart makes them with the table.
	IndexesAtStart IndexMoment = "Start"
	// IndexesAtEnd makes them in one statement when all rows are in, as a phase of its own.
	IndexesAtEnd IndexMoment = "End"
)

// IIBenchRules are rules that a load keeps to.
type IIBenchRules string

const (
	// IIBenchNoRules leaves everything open.
	IIBenchNoRules IIBenchRules = "None"
	// IIBenchContest2008 are the ground rules of the contest of 2008.
	IIBenchContest2008 IIBenchRules = "Contest2008"
)

// IIBenchWorkload inserts into a table whose secondary indexes have random keys: the rate falls when they no longer fit into
// memory, and the rate with which the load ends is the headline. Beside the inserts, the oldest rows may be deleted and
// indexes queried. Sweepable: rowsPerCommit, rowsPerStatement, storageEngine, secondaryIndexes, insertThreads, queryThreads.
//
// +kubebuilder:validation:XValidation:rule="self.rows / self.reportEveryRows <= 10000",message="reportEveryRows is too small: the series has at most 10000 points, one every reportEveryRows rows"
// +kubebuilder:validation:XValidation:rule="self.rules != 'Contest2008' || self.schema == 'Tokutek2008' && self.rowsPerCommit == 1000 && self.rowsPerStatement <= 1000",message="rules Contest2008 ask for schema Tokutek2008, rowsPerCommit 1000 and at most 1000 rowsPerStatement"
// +kubebuilder:validation:XValidation:rule="self.rules != 'Contest2008' || self.indexesAt == 'Start' && self.secondaryIndexes == 3",message="rules Contest2008 ask for 3 secondaryIndexes with indexesAt Start: inserting first and indexing later is not allowed"
// +kubebuilder:validation:XValidation:rule="self.rules != 'Contest2008' || self.queryThreads == 0 && !has(self.keepRows)",message="rules Contest2008 allow inserts only: leave out queryThreads and keepRows"
type IIBenchWorkload struct {
	// schema is InsertBenchmark (purchases_index, the insert benchmark as it is today) or Tokutek2008 (mypurchases, as in the
	// contest of 2008; its indexes are on other columns). Defaults to InsertBenchmark.
	// +optional
	// +kubebuilder:default=InsertBenchmark
	// +kubebuilder:validation:Enum=InsertBenchmark;Tokutek2008
	Schema IIBenchSchema `json:"schema,omitempty"`

	// rows to insert in each trial. From 1 to 1000000000; defaults to 1000000.
	// +optional
	// +kubebuilder:default=1000000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows int64 `json:"rows,omitempty"`

	// rowsPerCommit is how many rows make a transaction; the last one has what is left. From 1 to 1000000; defaults to 1000.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RowsPerCommit int64 `json:"rowsPerCommit,omitempty"`

	// rowsPerStatement is how many rows an INSERT has at most: a statement ends with its transaction. From 1 to 100000;
	// defaults to 1000.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RowsPerStatement int64 `json:"rowsPerStatement,omitempty"`

	// storageEngine of the table, as the server calls it: InnoDB, MyISAM, Aria, … One that the server does not have ends the
	// run with the server's words. 1 to 64 letters, digits and underscores; defaults to InnoDB.
	// +optional
	// +kubebuilder:default=InnoDB
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	StorageEngine string `json:"storageEngine,omitempty"`

	// secondaryIndexes is how many of the schema's three the table has: the first ones of marketsegment, registersegment and
	// pdc. From 0 to 3; defaults to 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3
	SecondaryIndexes *int32 `json:"secondaryIndexes,omitempty"`

	// indexesAt is Start (the table has its secondary indexes from the start) or End (they are made when all rows are in, by
	// one statement, in a phase index with its own time). Defaults to Start.
	// +optional
	// +kubebuilder:default=Start
	// +kubebuilder:validation:Enum=Start;End
	IndexesAt IndexMoment `json:"indexesAt,omitempty"`

	// insertThreads is the number of connections that insert at the same time. From 1 to 128; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	InsertThreads int32 `json:"insertThreads,omitempty"`

	// queryThreads is the number of connections that read ten rows at a time from an index, as fast as they can, while
	// others insert. From 0 to 128; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	QueryThreads *int32 `json:"queryThreads,omitempty"`

	// keepRows makes one more connection delete the oldest rows at the rate at which others insert, so that the table keeps
	// that many. Unset: nothing is deleted. From 1 to 1000000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	KeepRows *int64 `json:"keepRows,omitempty"`

	// reportEveryRows is after how many rows there is a point of the series: time, rates, bytes of the table and of its
	// indexes. The terminal rate is that of the last such stretch. From 1000 to 1000000000; defaults to 1000000.
	// +optional
	// +kubebuilder:default=1000000
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=1000000000
	ReportEveryRows int64 `json:"reportEveryRows,omitempty"`

	// rules is None or Contest2008: the contest's schema with its indexes from the start, 1000 rows per commit and at most
	// 1000 per statement. What differs from the contest besides is said with the result. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Contest2008
	Rules IIBenchRules `json:"rules,omitempty"`
}
