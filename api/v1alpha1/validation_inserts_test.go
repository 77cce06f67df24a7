//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
	contest = "table: Tokutek2008, asPublished: Contest2008"
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
			[]string{bulk("rowsPerStatement: 1000000, statementsPerTransaction: 1000000, clients: 128")},
			[]string{
				bulk("rowsPerStatement: 0"), bulk("rowsPerStatement: 1000001"), bulk("statementsPerTransaction: 0"),
				bulk("statementsPerTransaction: 1000001"), bulk("clients: 0"), bulk("tables: 0"), bulk("tables: 65"), bulk("clients: 129"),
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
				bulk("sweep: {rowsPerStatement: [1], statementsPerTransaction: [64], clients: [1, 128], storageEngine: [MyISAM]}"),
				bulk("points: [{clients: 5, rowsPerStatement: 2000}]"),
			},
			[]string{bulk("sweep: {rows: [1]}"), bulk("points: [{rowsPerCommit: 1}]"), bulk("sweep: {tables: [1], clients: [1]}")},
			"unknown field",
		},
		"bulkInsert's values": {
			minimalBulkInsert,
			[]string{bulk("sweep: {rowsPerStatement: [1000000]}")},
			[]string{
				bulk("sweep: {rowsPerStatement: [0]}"), bulk("sweep: {rowsPerStatement: [1000001]}"), bulk("sweep: {clients: [129]}"),
				bulk("sweep: {storageEngine: ['a b']}"), bulk("points: [{clients: many}]"), bulk("points: [{clients: 500}]"),
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
			[]string{ii("table: Tokutek2008")},
			[]string{ii("table: tokutek")},
			`supported values: "InsertBenchmark", "Tokutek2008"`,
		},
		"iiBench's sizes": {
			minimalIIBench,
			[]string{ii("rowsPerCommit: 1, rowsPerStatement: 100000, clients: 128, queryClients: 128, secondaryIndexes: 0, keepRows: 1")},
			[]string{
				ii("rows: 0"), ii("rowsPerCommit: 0"), ii("rowsPerStatement: 100001"), ii("clients: 0"), ii("queryClients: 129"),
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
				ii("sweep: {rowsPerCommit: [1], rowsPerStatement: [100000], clients: [1]}"),
				ii("sweep: {storageEngine: [InnoDB, MyISAM], secondaryIndexes: [0, 3], queryClients: [0, 128]}"),
			},
			[]string{ii("sweep: {rows: [1]}"), ii("points: [{tableSize: 1}]")},
			"unknown field",
		},
		"iiBench's values": {
			minimalIIBench, nil,
			[]string{
				ii("sweep: {rowsPerCommit: [0]}"), ii("sweep: {rowsPerStatement: [100001]}"), ii("sweep: {secondaryIndexes: [4]}"),
				ii("sweep: {clients: [0]}"), ii("sweep: {queryClients: [129]}"), ii("points: [{clients: 0}]"),
				ii("points: [{storageEngine: 'a b'}]"),
			},
			"Invalid value",
		},
		"the contest's sizes": {
			minimalIIBench,
			[]string{ii(contest), ii(contest + ", rowsPerStatement: 1, storageEngine: MyISAM")},
			[]string{ii("asPublished: Contest2008"), ii(contest + ", rowsPerCommit: 500"), ii(contest + ", rowsPerStatement: 1001")},
			"asPublished Contest2008 asks for table Tokutek2008, rowsPerCommit 1000",
		},
		"the contest's indexes": {
			minimalIIBench, nil,
			[]string{ii(contest + ", indexesAt: End"), ii(contest + ", secondaryIndexes: 2")},
			"inserting first and indexing later is not allowed",
		},
		"the contest's clients": {
			minimalIIBench,
			[]string{ii(contest + ", clients: 4")},
			[]string{ii(contest + ", queryClients: 1"), ii(contest + ", keepRows: 5")},
			"asPublished Contest2008 allows inserts only",
		},
	} {
		checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, says: r.says}})
	}
	checkRules(t, minimalIIBench, map[string]rule{"the contest's sweeps": {
		allowed: []string{ii(contest + ", sweep: {storageEngine: [InnoDB, MyISAM], clients: [1, 4], rowsPerCommit: [1000]}")},
		later:   []string{ii(contest + ", sweep: {rowsPerCommit: [1]}"), ii(contest + ", points: [{secondaryIndexes: 1}]")},
		says:    "asPublished Contest2008",
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
				ii("tables: Shared, clients: 64, storageEngine: Aria, table: Tokutek2008, stages: [{name: a, insert: {rows: 6400}}]"),
				chain(", {name: l.x, createIndexes: 3}, {name: l.i1, insert: {rows: 100, rowsPerCommit: 5, deletePerInsert: true}}"),
				chain(", {name: rest, rest: {}}, {name: q, query: {by: PrimaryKey, seconds: 1, ratePerSecond: 100, deletePerInsert: true}}"),
			},
			refused: []string{
				ii("stages: []"), chain(", {name: A, rest: {}}"), chain(", {name: '-', rest: {}}"), chain(", {name: x, createIndexes: 4}"),
				chain(", {name: q, query: {by: PrimaryKey, seconds: 0}}"), chain(", {name: r, rest: {atLeastSeconds: 3601}}"),
				ii("stages: [{name: a, insert: {rows: 0}}]"),
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
		"tables without stages": {refused: []string{ii("tables: Shared"), ii("clients: 65, stages: [{name: a, insert: {rows: 1000}}]")}, says: "tables goes with stages"},
		"a sweep of stages":     {refused: []string{ii("sweep: {clients: [1]}, stages: [{name: a, insert: {rows: 1}}]")}, says: "stages are points themselves"},
		"the sizes of stages":   {refused: []string{ii("rows: 5, stages: [{name: a, insert: {rows: 1}}]")}, says: "each of the stages has its own rows"},
		"what stages say":       {refused: []string{ii("queryClients: 1, stages: [{name: a, insert: {rows: 1}}]"), ii("keepRows: 1, stages: [{name: a, insert: {rows: 1}}]")}, says: "leave out secondaryIndexes"},
		"the pace of stages":    {refused: []string{ii("ratePerSecond: 1, stages: [{name: a, insert: {rows: 1}}]")}, says: "set ratePerSecond in the stages"},
		"the first stage":       {refused: []string{ii("stages: [{name: a, rest: {}}]"), ii("stages: [{name: a, insert: {rows: 1, deletePerInsert: true}}]")}, says: "the first of the stages inserts"},
		"names of stages":       {refused: []string{chain(", {name: l.i0, rest: {}}")}, says: "two stages have the same name"},
		"indexes of stages":     {refused: []string{chain(", {name: a, createIndexes: 1}, {name: b, createIndexes: 2}")}, says: "only one of the stages can create the indexes"},
		"deletes of shared tables": {
			refused: []string{ii("tables: Shared, stages: [{name: a, insert: {rows: 1}}, {name: b, insert: {rows: 1, deletePerInsert: true}}]")},
			says:    "deletePerInsert needs tables: PerClient",
		},
		"the time limit of stages": {
			refused: []string{spec("workload: {limits: {seconds: 5}, iiBench: {stages: [{name: a, insert: {rows: 1000}}]}}")},
			says:    "limits.seconds is not for iiBench.stages",
		},
		"a preset": {
			allowed: []string{hours("asPublished: SmallDatum"), ii("asPublished: SmallDatum, scale: '0.001', clients: 64, tables: Shared, table: Tokutek2008")},
			refused: []string{ii("asPublished: Other")},
			says:    `supported values: "None", "Contest2008", "SmallDatum"`,
		},
		"the scale of a preset": {
			allowed: []string{hours("asPublished: SmallDatum, scale: '10'"), hours("asPublished: SmallDatum, scale: '2.5'")},
			refused: []string{
				ii("asPublished: SmallDatum, scale: '0'"), ii("asPublished: SmallDatum, scale: '0.0001'"), ii("asPublished: SmallDatum, scale: '11'"),
				ii("asPublished: SmallDatum, scale: '0.000'"), ii("asPublished: SmallDatum, scale: '1e-1'"),
			},
			says: "scale must be 0.001 to 10",
		},
		"a scale alone":         {refused: []string{ii("scale: '1'")}, says: "scale goes with asPublished SmallDatum"},
		"a preset of stages":    {refused: []string{ii("asPublished: SmallDatum, stages: [{name: a, insert: {rows: 1}}]")}, says: "set stages or asPublished SmallDatum, not both"},
		"the rows of a preset":  {refused: []string{ii("asPublished: SmallDatum, rows: 5")}, says: "each of the stages has its own rows"},
		"the pace of a preset":  {refused: []string{ii("asPublished: SmallDatum, ratePerSecond: 5")}, says: "set ratePerSecond in the stages"},
		"a sweep with a preset": {refused: []string{ii("asPublished: SmallDatum, sweep: {clients: [1]}")}, says: "stages are points themselves"},
		"the time limit of a preset": {
			refused: []string{spec("workload: {limits: {seconds: 5}, iiBench: {asPublished: SmallDatum}}")},
			says:    "limits.seconds is not for iiBench.stages",
		},
		"the rows that a preset allows": {
			later: []string{ii("asPublished: SmallDatum, clients: 64")},
			says:  "but at most 1000000000 are allowed: reduce scale or clients",
		},
		"the time of a preset": {
			later: []string{ii("asPublished: SmallDatum")},
			says:  "trials.deadlineSeconds would end it after 3600 s",
		},
		"what only the loader's rules say": {
			later: []string{chain(", {name: q, query: {by: SecondaryRange, seconds: 1}}")},
			says:  "needs a stage with createIndexes before it",
		},
	})
}

// TestEnvtestPacingRules asks a real API server about the rules of rates and pauses, which three workloads have in common.
func TestEnvtestPacingRules(t *testing.T) {
	for _, of := range []struct {
		valid string
		with  func(string) string
	}{
		{minimalBulkInsert, bulk},
		{minimalIIBench, ii},
		{minimal, func(s string) string { return spec("workload: {commitSize: {" + s + "}}") }},
	} {
		with := of.with
		checkRules(t, of.valid, map[string]rule{
			"rate": {
				allowed: []string{with("ratePerSecond: 0"), with("ratePerSecond: 100000000"), with("sweep: {ratePerSecond: [0, 5]}")},
				refused: []string{with("ratePerSecond: -1"), with("ratePerSecond: 100000001"), with("sweep: {ratePerSecond: [-1]}")},
				says:    "ratePerSecond",
			},
			"a point's rate": {
				allowed: []string{with("ratePerSecond: 7, points: [{ratePerSecond: 5}]")},
				refused: []string{with("points: [{ratePerSecond: -1}]")}, says: "points[0].ratePerSecond",
			},
			"rates are a set": {refused: []string{with("sweep: {ratePerSecond: [5, 5]}")}, says: "Duplicate value"},
			"think time": {
				allowed: []string{with("thinkTimeMilliseconds: 0"), with("thinkTimeMilliseconds: 3600000"), with("thinkTimeMilliseconds: 5, ratePerSecond: 0")},
				refused: []string{with("thinkTimeMilliseconds: -1"), with("thinkTimeMilliseconds: 3600001")},
				says:    "thinkTimeMilliseconds",
			},
			"warm-up and ramp": {
				allowed: []string{with("warmupSeconds: 0, rampSeconds: 0"), with("warmupSeconds: 3600, rampSeconds: 3600")},
				refused: []string{
					with("warmupSeconds: -1"), with("warmupSeconds: 3601"), with("rampSeconds: -1"), with("rampSeconds: 3601"),
				},
				says: "Seconds",
			},
			"rate and think time": {
				allowed: []string{with("thinkTimeMilliseconds: 0, ratePerSecond: 5")},
				refused: []string{with("thinkTimeMilliseconds: 5, ratePerSecond: 5")},
				later:   []string{with("thinkTimeMilliseconds: 5, sweep: {ratePerSecond: [5]}")},
				says:    "set ratePerSecond or thinkTimeMilliseconds, not both",
			},
		})
	}
	const file = "spec: {workload: {dataFrom: {persistentVolumeClaim: files, path: rows.tsv}}}"
	must.Do(t, firstSight(t, parsed(t, minimalBulkInsert, file, bulk("warmupSeconds: 0, rampSeconds: 0"))))
	for _, field := range []string{"warmupSeconds", "rampSeconds"} {
		err := dryRun(t, parsed(t, minimalBulkInsert, file, bulk(field+": 1")))
		if err == nil || !strings.Contains(err.Error(), "warmupSeconds and rampSeconds need an unlimited number of rows") {
			t.Errorf("%s with a file: %v", field, err)
		}
	}
}

func encrypted(s string) string {
	return spec("database: {tls: {mode: Required}}, workload: {bulkInsert: {" + s + "}}")
}

func onMySQL(s string) string {
	return spec("database: {engine: MySQL}, workload: {bulkInsert: {" + s + "}}")
}

func fromFile(s string) string {
	return spec("workload: {dataFrom: {persistentVolumeClaim: rows, path: a.csv}, bulkInsert: {" + s + "}}")
}

func commitSize(s string) string { return spec("workload: {commitSize: {" + s + "}}") }

// TestEnvtestProtocolRules asks a real API server how rows may be sent, and how transactions may end.
func TestEnvtestProtocolRules(t *testing.T) {
	for name, r := range map[string]struct {
		base             string
		allowed, refused []string
		says             string
	}{
		"protocol": {
			minimalBulkInsert,
			[]string{
				bulk("protocol: Text"), bulk("protocol: Prepared"), bulk("sweep: {protocol: [Text, Prepared, Bulk]}"),
				bulk("points: [{protocol: Bulk}, {protocol: Text}]"), encrypted("protocol: Bulk"),
			},
			[]string{bulk("protocol: Binary"), bulk("sweep: {protocol: [bulk]}"), bulk("points: [{protocol: X}]")},
			`supported values: "Text", "Prepared", "Bulk"`,
		},
		"protocols of MySQL": {
			minimalBulkInsert,
			[]string{
				onMySQL(""), onMySQL("protocol: Prepared"), onMySQL("sweep: {protocol: [Text, Prepared]}"),
				onMySQL("points: [{protocol: Prepared}, {clients: 2}]"),
			},
			[]string{
				onMySQL("protocol: Bulk"), onMySQL("sweep: {protocol: [Text, Bulk]}"), onMySQL("points: [{clients: 2}, {protocol: Bulk}]"),
			},
			"bulkInsert.protocol must be Text or Prepared with engine MySQL",
		},
		"protocols of files": {
			minimalBulkInsert,
			[]string{fromFile(""), fromFile("sweep: {protocol: [Text]}"), fromFile("points: [{protocol: Text}, {clients: 2}]")},
			[]string{
				fromFile("protocol: Bulk"), fromFile("sweep: {protocol: [Text, Prepared]}"), fromFile("points: [{clients: 2}, {protocol: Bulk}]"),
			},
			"dataFrom goes with protocol Text",
		},
		"bulkInsert's commit": {
			minimalBulkInsert,
			[]string{
				bulk("commit: Explicit, statementsPerTransaction: 2"), bulk("commit: Autocommit"),
				bulk("sweep: {commit: [Explicit, Autocommit], statementsPerTransaction: [1]}"),
				bulk("commit: Autocommit, statementsPerTransaction: 2, points: [{statementsPerTransaction: 1}, {commit: Explicit}]"),
			},
			[]string{
				bulk("commit: Autocommit, statementsPerTransaction: 2"), bulk("commit: Autocommit, sweep: {statementsPerTransaction: [1, 2]}"),
				bulk("sweep: {commit: [Explicit, Autocommit], statementsPerTransaction: [2]}"),
				bulk("statementsPerTransaction: 2, sweep: {commit: [Autocommit]}"),
				bulk("points: [{commit: Autocommit, statementsPerTransaction: 2}]"), bulk("commit: Autocommit, points: [{statementsPerTransaction: 2}]"),
			},
			"statementsPerTransaction must be 1",
		},
		"modes of commit": {minimalBulkInsert, nil, []string{bulk("commit: Auto")}, `supported values: "Explicit", "Autocommit"`},
		"commitSize's commit": {
			minimal,
			[]string{
				commitSize("commit: Autocommit"), commitSize("commit: Explicit, rowsPerCommit: 2"),
				commitSize("sweep: {commit: [Explicit, Autocommit]}"), commitSize("points: [{rowsPerCommit: 2}, {commit: Autocommit}]"),
			},
			[]string{
				commitSize("commit: Autocommit, rowsPerCommit: 2"), commitSize("commit: Autocommit, sweep: {rowsPerCommit: [1, 2]}"),
				commitSize("rowsPerCommit: 2, sweep: {commit: [Autocommit]}"), commitSize("rowsPerCommit: 2, points: [{commit: Autocommit}]"),
				commitSize("points: [{rowsPerCommit: 2, commit: Autocommit}]"),
			},
			"rowsPerCommit must be 1",
		},
	} {
		checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, says: r.says}})
	}
}

// TestEnvtestPodsRules asks a real API server about loader.pods.
func TestEnvtestPodsRules(t *testing.T) {
	const pods = "loader: {pods: 4}, "
	type table struct {
		base                    string
		allowed, refused, later []string
		says                    string
	}
	rules := map[string]table{
		"CommitSize": {minimal, nil, []string{spec("loader: {pods: 2}")}, nil, "loader.pods must be 1"},
		"Custom":     {minimalCustom, nil, []string{spec("loader: {pods: 2}")}, nil, "loader.pods must be 1"},
		"a mixed list": {
			minimalBulkInsert,
			[]string{spec(pods + "workload: {bulkInsert: {clients: 4, points: [{clients: 8}, {rowsPerStatement: 7}]}}")},
			nil,
			[]string{spec(pods + "workload: {bulkInsert: {points: [{clients: 8}, {rowsPerStatement: 7}]}}")},
			"clients is 1 but must be at least loader.pods, 4",
		},
		"deletes": {
			minimalIIBench,
			[]string{spec("workload: {iiBench: {keepRows: 1000}}")},
			nil,
			[]string{spec(pods + "workload: {iiBench: {clients: 4, keepRows: 1000}}")},
			"(keepRows) loads from one Pod",
		},
		"bulk_insert": {
			minimalSysbench,
			[]string{spec("workload: {sysbench: {script: bulk_insert, clients: 4}}")},
			nil,
			[]string{spec(pods + "workload: {sysbench: {script: bulk_insert, clients: 4}}")},
			"script bulk_insert loads from one Pod",
		},
		"too many": {minimalBulkInsert, nil, []string{spec("loader: {pods: 65}"), spec("loader: {pods: 0}")}, nil, "spec.loader.pods"},
	}
	for _, w := range []struct{ base, member, parameter string }{
		{minimalBulkInsert, "bulkInsert", "clients"},
		{minimalIIBench, "iiBench", "clients"},
		{minimalSysbench, "sysbench", "clients"},
	} {
		workload := func(s string) string { return spec(pods + "workload: {" + w.member + ": {" + s + "}}") }
		rules[w.member] = table{
			w.base,
			[]string{
				workload(w.parameter + ": 4"), workload("sweep: {" + w.parameter + ": [4, 8]}"),
				workload("points: [{" + w.parameter + ": 4}, {" + w.parameter + ": 16}]"),
			},
			nil,
			[]string{
				spec("loader: {pods: 4}"), workload(w.parameter + ": 3"), workload(w.parameter + ": 8, sweep: {" + w.parameter + ": [2, 8]}"),
				workload(w.parameter + ": 8, points: [{" + w.parameter + ": 3}]"),
			},
			"but must be at least loader.pods, 4: all loader Pods share them",
		}
	}
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, later: r.later, says: r.says}})
		})
	}
}
