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
		"bulkInsert's data": {minimalBulkInsert, nil, []string{spec("trials: {data: Keep}")}, "Keep is for workload type Sysbench"},
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
