//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"
)

const (
	minimalBulkInsert = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec: {database: {}, workload: {type: BulkInsert, bulkInsert: {}}}
`
	minimalIIBench = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec: {database: {}, workload: {type: IIBench, iiBench: {}}}
`
	contest = "schema: Tokutek2008, rules: Contest2008"
)

func bulk(s string) string { return spec("workload: {bulkInsert: {" + s + "}}") }

func ii(s string) string { return spec("workload: {iiBench: {" + s + "}}") }

// TestEnvtestInsertRules asks a real API server about each rule of BulkInsert and IIBench.
func TestEnvtestInsertRules(t *testing.T) {
	for name, r := range map[string]struct {
		base             string
		allowed, refused []string
		says             string
	}{
		"bulkInsert's member": {
			minimalBulkInsert,
			[]string{bulk("")},
			[]string{spec("workload: {bulkInsert: null}"), spec("workload: {type: CommitSize, commitSize: {}}")},
			"the member bulkInsert goes with type BulkInsert",
		},
		"table": {
			minimalBulkInsert,
			[]string{bulk("table: FileList"), bulk("table: Narrow")},
			[]string{bulk("table: Wide")},
			`supported values: "FileList", "Narrow"`,
		},
		"bulkInsert's rows": {
			minimalBulkInsert,
			[]string{bulk("rows: 1"), bulk("rows: 1000000000")},
			[]string{bulk("rows: 0"), bulk("rows: 1000000001")},
			"spec.workload.bulkInsert.rows",
		},
		"bulkInsert's sizes": {
			minimalBulkInsert,
			[]string{bulk("rowsPerStatement: 1000000, statementsPerTransaction: 1000000, concurrency: 128")},
			[]string{
				bulk("rowsPerStatement: 0"), bulk("rowsPerStatement: 1000001"), bulk("statementsPerTransaction: 0"),
				bulk("statementsPerTransaction: 1000001"), bulk("concurrency: 0"), bulk("tables: 0"), bulk("tables: 65"), bulk("concurrency: 129"),
			},
			"Invalid value",
		},
		"bulkInsert's engine": {
			minimalBulkInsert,
			[]string{bulk("storageEngine: Aria")},
			[]string{bulk("storageEngine: InnoDB; DROP TABLE x"), bulk(`storageEngine: ""`)},
			"spec.workload.bulkInsert.storageEngine",
		},
		"bulkInsert's parameters": {
			minimalBulkInsert,
			[]string{
				bulk("sweep: {rowsPerStatement: [1], statementsPerTransaction: [64], concurrency: [1, 128], storageEngine: [MyISAM]}"),
				bulk("points: [{concurrency: 5, rowsPerStatement: 2000}]"),
			},
			[]string{bulk("sweep: {rows: [1]}"), bulk("points: [{rowsPerCommit: 1}]"), bulk("sweep: {tables: [1], concurrency: [1]}")},
			"unknown field",
		},
		"bulkInsert's values": {
			minimalBulkInsert,
			[]string{bulk("sweep: {rowsPerStatement: [1000000]}")},
			[]string{
				bulk("sweep: {rowsPerStatement: [0]}"), bulk("sweep: {rowsPerStatement: [1000001]}"), bulk("sweep: {concurrency: [129]}"),
				bulk("sweep: {storageEngine: ['a b']}"), bulk("points: [{concurrency: many}]"), bulk("points: [{concurrency: 500}]"),
				bulk("points: [{storageEngine: '-'}]"),
			},
			"Invalid value",
		},
		"bulkInsert's data": {minimalBulkInsert, nil, []string{spec("trials: {data: Keep}")}, "Keep and Restore are for workload type Sysbench"},
		"iiBench's member": {
			minimalIIBench,
			[]string{ii("")},
			[]string{spec("workload: {iiBench: null}"), spec("workload: {type: CommitSize, commitSize: {}}")},
			"the member iiBench goes with type IIBench",
		},
		"schema": {
			minimalIIBench,
			[]string{ii("schema: Tokutek2008")},
			[]string{ii("schema: tokutek")},
			`supported values: "InsertBenchmark", "Tokutek2008"`,
		},
		"iiBench's sizes": {
			minimalIIBench,
			[]string{ii("rowsPerCommit: 1, rowsPerStatement: 100000, insertThreads: 128, queryThreads: 128, secondaryIndexes: 0, keepRows: 1")},
			[]string{
				ii("rows: 0"), ii("rowsPerCommit: 0"), ii("rowsPerStatement: 100001"), ii("insertThreads: 0"), ii("queryThreads: 129"),
				ii("secondaryIndexes: 4"), ii("keepRows: 0"), ii("reportEveryRows: 999"),
			},
			"Invalid value",
		},
		"iiBench's engine": {minimalIIBench, []string{ii("storageEngine: Aria")}, []string{ii(`storageEngine: "x'y"`)}, "storageEngine"},
		"points of the series": {
			minimalIIBench,
			[]string{ii("rows: 10000000, reportEveryRows: 1000")},
			[]string{ii("rows: 100000000, reportEveryRows: 1000")},
			"reportEveryRows is too small",
		},
		"the moment of indexes": {minimalIIBench, []string{ii("indexesAt: End")}, []string{ii("indexesAt: Never")}, `"Start", "End"`},
		"iiBench's parameters": {
			minimalIIBench,
			[]string{
				ii("sweep: {rowsPerCommit: [1], rowsPerStatement: [100000], insertThreads: [1]}"),
				ii("sweep: {storageEngine: [InnoDB, MyISAM], secondaryIndexes: [0, 3], queryThreads: [0, 128]}"),
			},
			[]string{ii("sweep: {rows: [1]}"), ii("points: [{concurrency: 1}]")},
			"unknown field",
		},
		"iiBench's values": {
			minimalIIBench, nil,
			[]string{
				ii("sweep: {rowsPerCommit: [0]}"), ii("sweep: {rowsPerStatement: [100001]}"), ii("sweep: {secondaryIndexes: [4]}"),
				ii("sweep: {insertThreads: [0]}"), ii("sweep: {queryThreads: [129]}"), ii("points: [{insertThreads: 0}]"),
				ii("points: [{storageEngine: 'a b'}]"),
			},
			"Invalid value",
		},
		"the contest's sizes": {
			minimalIIBench,
			[]string{ii(contest), ii(contest + ", rowsPerStatement: 1, storageEngine: MyISAM")},
			[]string{ii("rules: Contest2008"), ii(contest + ", rowsPerCommit: 500"), ii(contest + ", rowsPerStatement: 1001")},
			"rules Contest2008 ask for schema Tokutek2008, rowsPerCommit 1000",
		},
		"the contest's indexes": {
			minimalIIBench, nil,
			[]string{ii(contest + ", indexesAt: End"), ii(contest + ", secondaryIndexes: 2")},
			"inserting first and indexing later is not allowed",
		},
		"the contest's clients": {
			minimalIIBench,
			[]string{ii(contest + ", insertThreads: 4")},
			[]string{ii(contest + ", queryThreads: 1"), ii(contest + ", keepRows: 5")},
			"rules Contest2008 allow inserts only",
		},
	} {
		checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, says: r.says}})
	}
	checkRules(t, minimalIIBench, map[string]rule{"the contest's sweeps": {
		allowed: []string{ii(contest + ", sweep: {storageEngine: [InnoDB, MyISAM], insertThreads: [1, 4], rowsPerCommit: [1000]}")},
		later:   []string{ii(contest + ", sweep: {rowsPerCommit: [1]}"), ii(contest + ", points: [{secondaryIndexes: 1}]")},
		says:    "rules Contest2008",
	}})
}

// chain is a stage that inserts, and what comes after it.
func chain(after string) string {
	return ii("stages: [{name: l.i0, insert: {rows: 1000}}" + after + "]")
}

// hours are what a chain of these parameters may take.
func hours(s string) string {
	return spec("trials: {deadlineSeconds: 200000}, workload: {iiBench: {" + s + "}}")
}

// TestEnvtestStageRules asks a real API server about each rule of IIBench's stages.
func TestEnvtestStageRules(t *testing.T) {
	checkRules(t, minimalIIBench, map[string]rule{
		"stages": {
			allowed: []string{
				chain(""),
				ii("tables: Shared, clients: 64, storageEngine: Aria, schema: Tokutek2008, stages: [{name: a, insert: {rows: 6400}}]"),
				chain(", {name: l.x, createIndexes: 3}, {name: l.i1, insert: {rows: 100, rowsPerCommit: 5, deletePerInsert: true}}"),
				chain(", {name: rest, rest: {}}, {name: q, query: {by: PrimaryKey, seconds: 1, ratePerSecond: 100, deletePerInsert: true}}"),
			},
			refused: []string{
				ii("stages: []"), chain(", {name: A, rest: {}}"), chain(", {name: '-', rest: {}}"), chain(", {name: x, createIndexes: 4}"),
				chain(", {name: q, query: {by: PrimaryKey, seconds: 0}}"), chain(", {name: r, rest: {atLeastSeconds: 3601}}"),
				ii("clients: 65, stages: [{name: a, insert: {rows: 1000}}]"), ii("stages: [{name: a, insert: {rows: 0}}]"),
			},
			says: "nvalid value",
		},
		"a stage's members": {
			refused: []string{chain(", {name: x}"), chain(", {name: x, createIndexes: 1, rest: {}}")},
			says:    "exactly one of insert, createIndexes, rest and query",
		},
		"a stage's required fields": {
			refused: []string{chain(", {rest: {}}"), chain(", {name: q, query: {by: PrimaryKey}}"), chain(", {name: q, query: {seconds: 1}}")},
			says:    "Required value",
		},
		"clients without stages": {refused: []string{ii("clients: 2"), ii("tables: Shared")}, says: "clients and tables go with stages"},
		"a sweep of stages":      {refused: []string{ii("sweep: {insertThreads: [1]}, stages: [{name: a, insert: {rows: 1}}]")}, says: "stages are points themselves"},
		"the sizes of stages":    {refused: []string{ii("rows: 5, stages: [{name: a, insert: {rows: 1}}]")}, says: "each of the stages has its own rows"},
		"what stages say":        {refused: []string{ii("queryThreads: 1, stages: [{name: a, insert: {rows: 1}}]"), ii("keepRows: 1, stages: [{name: a, insert: {rows: 1}}]")}, says: "leave out secondaryIndexes"},
		"the pace of stages":     {refused: []string{ii("ratePerSecond: 1, stages: [{name: a, insert: {rows: 1}}]")}, says: "set ratePerSecond in the stages"},
		"the first stage":        {refused: []string{ii("stages: [{name: a, rest: {}}]"), ii("stages: [{name: a, insert: {rows: 1, deletePerInsert: true}}]")}, says: "the first of the stages inserts"},
		"names of stages":        {refused: []string{chain(", {name: l.i0, rest: {}}")}, says: "two stages have the same name"},
		"indexes of stages":      {refused: []string{chain(", {name: a, createIndexes: 1}, {name: b, createIndexes: 2}")}, says: "only one of the stages can create the indexes"},
		"deletes of shared tables": {
			refused: []string{ii("tables: Shared, stages: [{name: a, insert: {rows: 1}}, {name: b, insert: {rows: 1, deletePerInsert: true}}]")},
			says:    "deletePerInsert needs tables: PerClient",
		},
		"the time limit of stages": {
			refused: []string{spec("workload: {limits: {seconds: 5}, iiBench: {stages: [{name: a, insert: {rows: 1000}}]}}")},
			says:    "limits.seconds is not for iiBench.stages",
		},
		"a preset": {
			allowed: []string{hours("preset: SmallDatum"), ii("preset: SmallDatum, scale: '0.001', clients: 64, tables: Shared, schema: Tokutek2008")},
			refused: []string{ii("preset: Other")},
			says:    `supported values: "SmallDatum"`,
		},
		"the scale of a preset": {
			allowed: []string{hours("preset: SmallDatum, scale: '10'"), hours("preset: SmallDatum, scale: '2.5'")},
			refused: []string{
				ii("preset: SmallDatum, scale: '0'"), ii("preset: SmallDatum, scale: '0.0001'"), ii("preset: SmallDatum, scale: '11'"),
				ii("preset: SmallDatum, scale: '0.000'"), ii("preset: SmallDatum, scale: '1e-1'"),
			},
			says: "scale must be 0.001 to 10",
		},
		"a scale alone":         {refused: []string{ii("scale: '1'")}, says: "scale goes with preset"},
		"a preset of stages":    {refused: []string{ii("preset: SmallDatum, stages: [{name: a, insert: {rows: 1}}]")}, says: "set stages or preset, not both"},
		"the rows of a preset":  {refused: []string{ii("preset: SmallDatum, rows: 5")}, says: "each of the stages has its own rows"},
		"the pace of a preset":  {refused: []string{ii("preset: SmallDatum, ratePerSecond: 5")}, says: "set ratePerSecond in the stages"},
		"a sweep with a preset": {refused: []string{ii("preset: SmallDatum, sweep: {insertThreads: [1]}")}, says: "stages are points themselves"},
		"the time limit of a preset": {
			refused: []string{spec("workload: {limits: {seconds: 5}, iiBench: {preset: SmallDatum}}")},
			says:    "limits.seconds is not for iiBench.stages",
		},
		"the rows that a preset allows": {
			later: []string{ii("preset: SmallDatum, clients: 64")},
			says:  "but at most 1000000000 are allowed: reduce scale or clients",
		},
		"the time of a preset": {
			later: []string{ii("preset: SmallDatum")},
			says:  "trials.deadlineSeconds would end it after 3600 s",
		},
		"what only the loader's rules say": {
			later: []string{chain(", {name: q, query: {by: SecondaryRange, seconds: 1}}")},
			says:  "needs a stage with createIndexes before it",
		},
	})
}
