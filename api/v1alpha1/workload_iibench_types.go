// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadIIBench inserts into a table with secondary indexes.
const WorkloadIIBench WorkloadType = "IIBench"

// IIBenchSchema names a publication's table.
type IIBenchSchema string

const (
	// IIBenchInsertBenchmark is the table of today's insert benchmark.
	IIBenchInsertBenchmark IIBenchSchema = "InsertBenchmark"
	// IIBenchTokutek2008 is the table of the contest of 2008.
	IIBenchTokutek2008 IIBenchSchema = "Tokutek2008"
)

// IndexMoment is when secondary indexes are built.
type IndexMoment string

const (
	// IndexesAtStart builds them with the table.
	IndexesAtStart IndexMoment = "Start"
	// IndexesAtEnd builds them in one statement after the last row, as a phase of its own.
	IndexesAtEnd IndexMoment = "End"
)

// IIBenchRules are rules that a load obeys.
type IIBenchRules string

const (
	// IIBenchNoRules allows everything.
	IIBenchNoRules IIBenchRules = "None"
	// IIBenchContest2008 are the ground rules of the contest of 2008.
	IIBenchContest2008 IIBenchRules = "Contest2008"
)

// IIBenchRowsPerCommit is a number of rows in a transaction.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=1000000
type IIBenchRowsPerCommit int64

// IIBenchRowsPerStatement is a number of rows in an INSERT.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=100000
type IIBenchRowsPerStatement int64

// IIBenchIndexes is a number of secondary indexes.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=3
type IIBenchIndexes int32

// IIBenchQueryThreads is a number of connections that query.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=128
type IIBenchQueryThreads int32

// IIBenchPreset names stages that are written out for the user.
type IIBenchPreset string

// IIBenchSmallDatum has the ten steps of the insert benchmark as its maintainer publishes them.
const IIBenchSmallDatum IIBenchPreset = "SmallDatum"

// IIBenchScale is a decimal number.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=6
// +kubebuilder:validation:XValidation:rule="self.matches('^(0[.](00[1-9]|0[1-9][0-9]?|[1-9][0-9]{0,2})|[1-9]([.][0-9]{1,3})?|10([.]0{1,3})?)$')",message="scale must be 0.001 to 10 with at most three decimal places, as a string"
type IIBenchScale string

// IIBenchWorkload inserts into a table whose secondary indexes have random keys. The headline is the rate at the end of the load.
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="self.rows / self.reportEveryRows <= 10000",message="reportEveryRows is too small: the series has at most 10000 points, one every reportEveryRows rows"
// +kubebuilder:validation:XValidation:rule="self.rules != 'Contest2008' || self.schema == 'Tokutek2008' && self.rowsPerCommit == 1000 && self.rowsPerStatement <= 1000",message="rules Contest2008 ask for schema Tokutek2008, rowsPerCommit 1000 and at most 1000 rowsPerStatement"
// +kubebuilder:validation:XValidation:rule="self.rules != 'Contest2008' || self.indexesAt == 'Start' && self.secondaryIndexes == 3",message="rules Contest2008 ask for 3 secondaryIndexes with indexesAt Start: inserting first and indexing later is not allowed"
// +kubebuilder:validation:XValidation:rule="self.rules != 'Contest2008' || self.queryThreads == 0 && !has(self.keepRows)",message="rules Contest2008 allow inserts only: leave out queryThreads and keepRows"
// +kubebuilder:validation:XValidation:rule="has(self.stages) || has(self.preset) || !has(self.clients) && !has(self.tables)",message="clients and tables go with stages or preset; without them, set insertThreads"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && !has(self.preset) || !has(self.sweep) && !has(self.points)",message="stages are points themselves: leave out sweep and points, and compare what else differs as variants"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && !has(self.preset) || self.rows == 1000000 && self.rowsPerCommit == 1000 && self.rowsPerStatement == 1000 && self.reportEveryRows == 1000000",message="each of the stages has its own rows and rowsPerCommit: leave out rows, rowsPerCommit, rowsPerStatement and reportEveryRows"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && !has(self.preset) || self.secondaryIndexes == 3 && self.indexesAt == 'Start' && self.insertThreads == 1 && self.queryThreads == 0 && !has(self.keepRows) && self.rules == 'None'",message="stages say what is indexed, queried and deleted: leave out secondaryIndexes, indexesAt, insertThreads, queryThreads, keepRows and rules"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && !has(self.preset) || !has(self.ratePerSecond) && !has(self.thinkTimeMilliseconds) && !has(self.warmupSeconds) && !has(self.rampSeconds)",message="set ratePerSecond in the stages, and leave out thinkTimeMilliseconds, warmupSeconds and rampSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || has(self.stages[0].insert) && !self.stages[0].insert.?deletePerInsert.orValue(false)",message="the first of the stages inserts without deletePerInsert: the tables are empty"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.stages.all(s, self.stages.exists_one(t, t.name == s.name))",message="two stages have the same name"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.stages.filter(s, has(s.createIndexes)).size() <= 1",message="only one of the stages can create the indexes"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.?tables.orValue('PerClient') == 'PerClient' || self.stages.all(s, !s.?insert.deletePerInsert.orValue(false) && !s.?query.deletePerInsert.orValue(false))",message="deletePerInsert needs tables: PerClient"
// +kubebuilder:validation:XValidation:rule="!has(self.preset) || !has(self.stages)",message="set stages or preset, not both"
// +kubebuilder:validation:XValidation:rule="has(self.preset) || !has(self.scale)",message="scale goes with preset"
type IIBenchWorkload struct {
	Pacing `json:",inline"`

	// schema is InsertBenchmark (purchases_index, of today's insert benchmark) or Tokutek2008 (mypurchases, of the contest of 2008).
	// Defaults to InsertBenchmark.
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

	// rowsPerCommit is the number of rows in a transaction; the last has the remainder. From 1 to 1000000; defaults to 1000.
	// +optional
	// +kubebuilder:default=1000
	// +benchrun:sweep=numbers of rows in a transaction
	// +benchrun:sweep:max=1000
	RowsPerCommit IIBenchRowsPerCommit `json:"rowsPerCommit,omitempty"`

	// rowsPerStatement is the most rows in an INSERT, which never spans two transactions. From 1 to 100000; defaults to 1000.
	// +optional
	// +kubebuilder:default=1000
	// +benchrun:sweep=numbers of rows in an INSERT
	// +benchrun:sweep:max=1000
	RowsPerStatement IIBenchRowsPerStatement `json:"rowsPerStatement,omitempty"`

	// storageEngine of the table, as the server spells it. Defaults to InnoDB.
	// +optional
	// +kubebuilder:default=InnoDB
	// +benchrun:sweep=storage engines
	// +benchrun:sweep:max=16
	StorageEngine StorageEngine `json:"storageEngine,omitempty"`

	// secondaryIndexes is how many of the schema's indexes the table has: marketsegment, registersegment, pdc, in this order. From 0
	// to 3; defaults to 3.
	// +optional
	// +kubebuilder:default=3
	// +benchrun:sweep=numbers of secondary indexes
	// +benchrun:sweep:max=4
	SecondaryIndexes *IIBenchIndexes `json:"secondaryIndexes,omitempty"`

	// indexesAt is Start, or End (one statement builds the indexes after the last row, in the phase index). Defaults to Start.
	// +optional
	// +kubebuilder:default=Start
	// +kubebuilder:validation:Enum=Start;End
	IndexesAt IndexMoment `json:"indexesAt,omitempty"`

	// insertThreads is the number of connections that insert. From 1 to 128; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of inserting connections
	// +benchrun:sweep:max=128
	InsertThreads Connections `json:"insertThreads,omitempty"`

	// queryThreads read ten rows at a time from an index meanwhile, as fast as they can. From 0 to 128; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +benchrun:sweep=numbers of querying connections
	// +benchrun:sweep:max=129
	QueryThreads *IIBenchQueryThreads `json:"queryThreads,omitempty"`

	// keepRows adds a connection that deletes the oldest rows, so that the table keeps this many. From 1 to 1000000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	KeepRows *int64 `json:"keepRows,omitempty"`

	// reportEveryRows is the number of rows between two points of the series; the terminal rate is that of the last. From 1000 to
	// 1000000000; defaults to 1000000.
	// +optional
	// +kubebuilder:default=1000000
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=1000000000
	ReportEveryRows int64 `json:"reportEveryRows,omitempty"`

	// rules is None or Contest2008: the contest's schema and indexes from the start, 1000 rows per commit, at most 1000 per
	// statement. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Contest2008
	Rules IIBenchRules `json:"rules,omitempty"`

	// tables is PerClient (a table for each client) or Shared, with stages or preset. Unset: PerClient.
	// +optional
	// +kubebuilder:validation:Enum=PerClient;Shared
	Tables IIBenchTables `json:"tables,omitempty"`

	// clients of each stage, with stages or preset. Each has one connection to insert, delete and query each. From 1 to 64.
	// Unset: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Clients int32 `json:"clients,omitempty"`

	// stages make each trial a chain on one set of data, each measured as a point. The first inserts, into empty tables without
	// secondary indexes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Stages []IIBenchStage `json:"stages,omitempty"`

	// preset SmallDatum writes the stages of that blog's insert benchmark: l.i0, l.x, l.i1, l.i2, a rest, and qr100, qp100,
	// qr500, qp500, qr1000, qp1000. With tables Shared, nothing is deleted.
	// +optional
	// +kubebuilder:validation:Enum=SmallDatum
	Preset IIBenchPreset `json:"preset,omitempty"`

	// scale multiplies the preset's rows (30 million without and 40 million with secondary indexes, for each client) and times
	// (30 minutes for a query stage), not its rates: "0.001" to "10", at most three decimal places. Unset: 1.
	// +optional
	Scale IIBenchScale `json:"scale,omitempty"`

	// sweep lists the values to measure. Unset: the values above.
	// +optional
	Sweep *IIBenchSweep `json:"sweep,omitempty"`

	// points lists the combinations to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []IIBenchPoint `json:"points,omitempty"`
}
