// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadIIBench inserts into a table with secondary indexes.
const WorkloadIIBench WorkloadType = "IIBench"

// IIBenchTable names a publication's table.
type IIBenchTable string

const (
	// IIBenchInsertBenchmark is the table of today's insert benchmark.
	IIBenchInsertBenchmark IIBenchTable = "InsertBenchmark"
	// IIBenchTokutek2008 is the table of the contest of 2008.
	IIBenchTokutek2008 IIBenchTable = "Tokutek2008"
)

// IndexMoment is when secondary indexes are built.
type IndexMoment string

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

// IIBenchQueryClients is a number of clients that query.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=128
type IIBenchQueryClients int32

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
// +kubebuilder:validation:XValidation:rule="self.asPublished != 'Contest2008' || self.table == 'Tokutek2008' && self.rowsPerCommit == 1000 && self.rowsPerStatement <= 1000",message="asPublished Contest2008 asks for table Tokutek2008, rowsPerCommit 1000 and at most 1000 rowsPerStatement"
// +kubebuilder:validation:XValidation:rule="self.asPublished != 'Contest2008' || self.indexesAt == 'Start' && self.secondaryIndexes == 3",message="asPublished Contest2008 asks for 3 secondaryIndexes with indexesAt Start: inserting first and indexing later is not allowed"
// +kubebuilder:validation:XValidation:rule="self.asPublished != 'Contest2008' || self.queryClients == 0 && !has(self.keepRows)",message="asPublished Contest2008 allows inserts only: leave out queryClients and keepRows"
// +kubebuilder:validation:XValidation:rule="has(self.stages) || self.asPublished == 'SmallDatum' ? self.clients <= 64 : !has(self.tables)",message="tables goes with stages or asPublished SmallDatum, which take at most 64 clients"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && self.asPublished != 'SmallDatum' || !has(self.sweep) && !has(self.points)",message="stages are points themselves: leave out sweep and points, and compare what else differs as variants"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && self.asPublished != 'SmallDatum' || self.rows == 1000000 && self.rowsPerCommit == 1000 && self.rowsPerStatement == 1000 && self.reportEveryRows == 1000000",message="each of the stages has its own rows and rowsPerCommit: leave out rows, rowsPerCommit, rowsPerStatement and reportEveryRows"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && self.asPublished != 'SmallDatum' || self.secondaryIndexes == 3 && self.indexesAt == 'Start' && self.queryClients == 0 && !has(self.keepRows) && self.asPublished != 'Contest2008'",message="stages say what is indexed, queried and deleted: leave out secondaryIndexes, indexesAt, queryClients, keepRows and asPublished Contest2008"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) && self.asPublished != 'SmallDatum' || !has(self.ratePerSecond) && !has(self.thinkTimeMilliseconds) && !has(self.warmupSeconds) && !has(self.rampSeconds)",message="set ratePerSecond in the stages, and leave out thinkTimeMilliseconds, warmupSeconds and rampSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || has(self.stages[0].insert) && !self.stages[0].insert.?deletePerInsert.orValue(false)",message="the first of the stages inserts without deletePerInsert: the tables are empty"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.stages.all(s, self.stages.exists_one(t, t.name == s.name))",message="two stages have the same name"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.stages.filter(s, has(s.createIndexes)).size() <= 1",message="only one of the stages can create the indexes"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.?tables.orValue('PerClient') == 'PerClient' || self.stages.all(s, !s.?insert.deletePerInsert.orValue(false) && !s.?query.deletePerInsert.orValue(false))",message="deletePerInsert needs tables: PerClient"
// +kubebuilder:validation:XValidation:rule="self.asPublished != 'SmallDatum' || !has(self.stages)",message="set stages or asPublished SmallDatum, not both"
// +kubebuilder:validation:XValidation:rule="self.asPublished == 'SmallDatum' || !has(self.scale)",message="scale goes with asPublished SmallDatum"
type IIBenchWorkload struct {
	Pacing `json:",inline"`

	// table is InsertBenchmark (purchases_index, of today's insert benchmark) or Tokutek2008 (mypurchases, of the contest of 2008).
	// Defaults to InsertBenchmark.
	// +optional
	// +kubebuilder:default=InsertBenchmark
	// +kubebuilder:validation:Enum=InsertBenchmark;Tokutek2008
	Table IIBenchTable `json:"table,omitempty"`

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

	// clients insert over a connection each; with stages or asPublished SmallDatum, they also delete and query over one each. From 1
	// to 128, with stages to 64; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of clients that insert
	// +benchrun:sweep:max=128
	Clients Connections `json:"clients,omitempty"`

	// queryClients read ten rows at a time from an index meanwhile, as fast as they can. From 0 to 128; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +benchrun:sweep=numbers of clients that query
	// +benchrun:sweep:max=129
	QueryClients *IIBenchQueryClients `json:"queryClients,omitempty"`

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

	// tables is PerClient (a table for each client) or Shared, with stages or asPublished SmallDatum. Unset: PerClient.
	// +optional
	// +kubebuilder:validation:Enum=PerClient;Shared
	Tables IIBenchTables `json:"tables,omitempty"`

	// stages make each trial a chain on one set of data, each measured as a point. The first inserts, into empty tables without
	// secondary indexes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Stages []IIBenchStage `json:"stages,omitempty"`

	// asPublished is None, Contest2008 (obeys the contest's rules: table Tokutek2008, its indexes from the start, 1000 rows per
	// commit, at most 1000 per statement) or SmallDatum (writes the stages of that blog's insert benchmark; with tables Shared,
	// nothing is deleted). Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Contest2008;SmallDatum
	AsPublished AsPublished `json:"asPublished,omitempty"`

	// scale multiplies SmallDatum's rows and times, not its rates: "0.001" to "10", at most three decimal places. Unset: 1.
	// +optional
	Scale IIBenchScale `json:"scale,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *IIBenchSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []IIBenchPoint `json:"points,omitempty"`
}

// IIBenchTables says who has which table.
type IIBenchTables string

const (
	// IIBenchShared gives all clients one table.
	IIBenchShared IIBenchTables = "Shared"
)

// IIBenchQuery is how queries find their rows.
type IIBenchQuery string

const (
	// IIBenchSecondaryRange reads ten rows at a time from a secondary index, whichever chance says.
	IIBenchSecondaryRange IIBenchQuery = "SecondaryRange"
	// IIBenchPrimaryKey reads a row at a time by the primary key.
	IIBenchPrimaryKey IIBenchQuery = "PrimaryKey"
)

// IIBenchStage is a stage of a chain. It has exactly one member besides its name.
//
// +kubebuilder:validation:XValidation:rule="[has(self.insert), has(self.createIndexes), has(self.rest), has(self.query)].filter(x, x).size() == 1",message="a stage has exactly one of insert, createIndexes, rest and query"
type IIBenchStage struct {
	// name of the stage: the value of the parameter stage in points and claims.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// insert inserts rows as fast as the clients can, or at a rate.
	// +optional
	Insert *IIBenchInsertStage `json:"insert,omitempty"`

	// createIndexes builds this many of the schema's indexes, with one statement for each table, all tables at once. From 1 to 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	CreateIndexes int32 `json:"createIndexes,omitempty"`

	// rest waits until the server is quiet. It is no point.
	// +optional
	Rest *IIBenchRestStage `json:"rest,omitempty"`

	// query queries as fast as the clients can, while rows are inserted at a rate.
	// +optional
	Query *IIBenchQueryStage `json:"query,omitempty"`
}

// IIBenchInsertStage inserts rows.
type IIBenchInsertStage struct {
	// rows to insert, by all clients. From 1 to 1000000000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows int64 `json:"rows,omitempty"`

	// rowsPerCommit is the number of rows in a transaction: one statement. From 1 to 100000; defaults to 100.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RowsPerCommit int64 `json:"rowsPerCommit,omitempty"`

	// ratePerSecond is how many rows all clients insert together. Unset: as many as they can. From 1 to 100000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`

	// deletePerInsert deletes as many of the oldest rows as are inserted, over its own connection. Needs tables PerClient.
	// +optional
	DeletePerInsert *bool `json:"deletePerInsert,omitempty"`
}

// IIBenchRestStage analyzes the tables and waits until the server has written its dirty pages back.
type IIBenchRestStage struct {
	// atLeastSeconds is the least duration of the stage. From 0 to 3600. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	AtLeastSeconds *int32 `json:"atLeastSeconds,omitempty"`
}

// IIBenchQueryStage queries while rows are inserted.
type IIBenchQueryStage struct {
	// by is SecondaryRange (ten rows at a time from a random index) or PrimaryKey (one row at a time).
	// +required
	// +kubebuilder:validation:Enum=SecondaryRange;PrimaryKey
	By IIBenchQuery `json:"by,omitempty"`

	// seconds that the stage lasts. From 1 to 86400.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	Seconds int32 `json:"seconds,omitempty"`

	// ratePerSecond is how many rows all clients insert meanwhile. Unset: none. From 1 to 100000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`

	// rowsPerCommit is the number of rows in a transaction: one statement. From 1 to 100000; defaults to 50.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RowsPerCommit int64 `json:"rowsPerCommit,omitempty"`

	// deletePerInsert deletes as many of the oldest rows as are inserted, over its own connection. Needs tables PerClient.
	// +optional
	DeletePerInsert *bool `json:"deletePerInsert,omitempty"`
}

// InStages says whether a workload, which may be nil, is measured in stages.
func (w *IIBenchWorkload) InStages() bool {
	return w != nil && (len(w.Stages) > 0 || w.AsPublished == AsPublishedSmallDatum)
}
