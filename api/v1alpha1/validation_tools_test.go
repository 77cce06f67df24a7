//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const minimalSysbench = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec:
  database: {}
  workload: {type: Sysbench, sysbench: {script: oltp_read_write}}
`

const minimalCustom = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec:
  database: {}
  workload: {type: Custom, custom: {image: "tool:1", command: ["tool"]}}
`

func sysbench(s string) string { return spec("workload: {sysbench: {" + s + "}}") }

func custom(s string) string { return spec("workload: {custom: {" + s + "}}") }

// TestEnvtestToolRules asks a real API server about each rule of the workloads that other programs make.
func TestEnvtestToolRules(t *testing.T) {
	for name, r := range map[string]struct {
		base             string
		allowed, refused []string
		says             string
	}{
		"sysbench member": {
			minimalSysbench, nil,
			[]string{spec("workload: {sysbench: null}"), spec("workload: {type: CommitSize, commitSize: {}}")},
			"the member sysbench goes with type Sysbench",
		},
		"asPublished": {
			minimalSysbench,
			[]string{sysbench("script: tpcc, asPublished: SysbenchTPCC"), sysbench("asPublished: None")},
			[]string{sysbench("asPublished: SysbenchTPCC"), sysbench("script: null, scriptFrom: {name: s, key: k}, asPublished: SysbenchTPCC")},
			"asPublished SysbenchTPCC is for script tpcc",
		},
		"compat's name": {
			minimalSysbench, nil, []string{sysbench("script: tpcc, asPublished: sysbench-tpcc")}, `supported values: "None", "SysbenchTPCC"`,
		},
		"script": {minimalSysbench, []string{sysbench("script: tpcc"), sysbench("script: oltp_delete")}, []string{sysbench("script: oltp")}, "supported values"},
		"one script": {
			minimalSysbench,
			[]string{sysbench("script: null, scriptFrom: {name: scripts, key: own.lua}")},
			[]string{
				sysbench("script: null"), sysbench("scriptFrom: {name: scripts, key: own.lua}"),
				sysbench("script: null, scriptFrom: {name: s, key: k}, sweep: {script: [scan]}"),
				sysbench("script: null, scriptFrom: {name: s, key: k}, points: [{clients: 1}, {script: scan}]"),
			},
			"or scriptFrom for a script of your own, not both",
		},
		"swept script": {
			minimalSysbench,
			[]string{
				sysbench("script: point-query"), sysbench("script: null, sweep: {script: [oltp_read_only, scan, insert]}"),
				sysbench("sweep: {script: [scan]}"), sysbench("script: null, points: [{script: scan, tables: 1}, {script: scan, tables: 2}]"),
			},
			[]string{
				sysbench("script: points"), sysbench("sweep: {script: [scan, oltp-read-only]}"), sysbench("points: [{script: scans}]"),
			},
			`"points-covered-pk"`,
		},
		"key": {minimalSysbench, nil, []string{sysbench("script: null, scriptFrom: {name: scripts, key: ../own.lua}")}, "scriptFrom.key"},
		"commands": {
			minimalSysbench,
			[]string{sysbench("script: null, scriptFrom: {name: s, key: k, commands: [check]}"), sysbench("script: null, scriptFrom: {name: s, key: k, commands: []}")},
			[]string{sysbench("script: null, scriptFrom: {name: s, key: k, commands: [run]}")},
			"supported values",
		},
		"end": {
			minimalSysbench,
			[]string{sysbench("seconds: null, events: 100"), sysbench("seconds: 10, events: 100"), sysbench("seconds: 1")},
			[]string{sysbench("seconds: 0"), sysbench("seconds: 10, events: 0")},
			"should be greater than or equal to 1",
		},
		"limits": {
			minimalSysbench,
			[]string{spec("workload: {limits: {errorPercent: 0}}")},
			[]string{spec("workload: {limits: {seconds: 7}}")},
			"limits.seconds is not for TPROCHLoad",
		},
		"scale": {
			minimalSysbench,
			[]string{sysbench("script: tpcc, scale: 10"), sysbench("script: null, scriptFrom: {name: s, key: k}, scale: 10")},
			[]string{sysbench("scale: 10")},
			"scale is the number of warehouses of script tpcc",
		},
		"table size": {
			minimalSysbench, []string{sysbench("tableSize: 1")}, []string{sysbench("script: tpcc, tableSize: 1")}, "the size of tpcc is tables and scale",
		},
		"bulk insert": {
			minimalSysbench,
			[]string{sysbench("script: bulk_insert"), sysbench("script: bulk_insert, warmupSeconds: 0")},
			[]string{sysbench("script: bulk_insert, tables: 1"), sysbench("script: bulk_insert, tableSize: 1"), sysbench("script: bulk_insert, warmupSeconds: 1")},
			"bulk_insert fills one empty table for each client",
		},
		"one table": {
			minimalSysbench,
			[]string{sysbench("script: select_random_points, tables: 1")},
			[]string{sysbench("script: select_random_points, tables: 2"), sysbench("script: select_random_ranges, tables: 2")},
			"use one table only",
		},
		"clients":      {minimalSysbench, nil, []string{sysbench("clients: 0"), sysbench("clients: 10001")}, "sysbench.clients"},
		"percentile":   {minimalSysbench, []string{sysbench("percentile: 99")}, []string{sysbench("percentile: 0"), sysbench("percentile: 101")}, "percentile"},
		"distribution": {minimalSysbench, []string{sysbench("randType: special")}, []string{sysbench("randType: Pareto"), sysbench("randType: zipfian")}, `"pareto"`},
		"option names": {
			minimalSysbench,
			[]string{sysbench(`options: {range_size: "10", mysql-ignore-errors: all}`), sysbench(`options: {` + strings.Repeat("a", 63) + `: "1"}`)},
			[]string{sysbench(`options: {` + strings.Repeat("a", 64) + `: "1"}`), sysbench(`options: {--range-size: "10"}`), sysbench(`options: {"a b": x}`), sysbench(`options: {"a=b": x}`)},
			"without the leading dashes",
		},
		"options with a field": {
			minimalSysbench, nil,
			[]string{
				sysbench(`options: {threads: "2"}`), sysbench(`options: {table-size: "2"}`), sysbench(`options: {rand_seed: "2"}`),
				sysbench(`options: {time: "2"}`),
			},
			"are no options here",
		},
		"options of Benchrun": {
			minimalSysbench, nil,
			[]string{
				sysbench(`options: {mysql-password: x}`), sysbench(`options: {mysql_host: x}`), sysbench(`options: {config-file: x}`),
				sysbench(`options: {histogram: "off"}`), sysbench(`options: {mysql-dry-run: "on"}`), sysbench(`options: {report-checkpoints: "1"}`),
			},
			"Benchrun itself sets how sysbench reports",
		},
		"option values": {minimalSysbench, []string{sysbench(`options: {create_table_options: ""}`)}, []string{sysbench(`options: {x: "a\nb"}`)}, "should match"},
		"sweep": {
			minimalSysbench,
			[]string{
				sysbench("sweep: {clients: [1, 64]}"), sysbench("sweep: {ratePerSecond: [0]}"), sysbench("sweep: {tableSize: [100000]}"),
				sysbench("points: [{tables: 7}]"), sysbench(`options: {range_size: "1"}, sweep: {options: {range_size: ["1", x]}}`),
			},
			[]string{sysbench(`sweep: {options: {range_size: ["1"]}}`), sysbench(`points: [{options: {range_size: "1"}}]`)},
			"can vary the options that options names with their usual values",
		},
		"sweep's fields": {minimalSysbench, nil, []string{sysbench("sweep: {rowsPerCommit: [1]}"), sysbench(`points: [{range_size: "1"}]`)}, "unknown field"},
		"sweep values": {
			minimalSysbench, nil,
			[]string{
				sysbench("sweep: {clients: [0]}"), sysbench("sweep: {clients: [many]}"), sysbench("points: [{clients: 1.5}]"),
				sysbench("sweep: {ratePerSecond: [-1]}"), sysbench("sweep: {clients: [10001]}"),
			},
			"Invalid value",
		},
		"keep": {
			minimalSysbench,
			[]string{
				spec(`trials: {data: Keep}`), spec(`workload: {sysbench: {script: select_random_points}}, trials: {data: Keep}`),
				spec(`workload: {sysbench: {script: null, sweep: {script: [scan, insert]}}}, trials: {data: Keep}`),
			},
			[]string{
				spec(`workload: {sysbench: {script: tpcc}}, trials: {data: Keep}`), spec(`workload: {sysbench: {script: bulk_insert}}, trials: {data: Keep}`),
				spec(`workload: {sysbench: {script: null, scriptFrom: {name: s, key: k}}}, trials: {data: Keep}`),
			},
			"Keep and Restore are for workload type Sysbench, with all scripts but bulk_insert and your own; tpcc takes Restore, and not Keep",
		},
		"restore": {
			minimalSysbench,
			[]string{
				spec(`trials: {data: Restore}`), spec(`workload: {sysbench: {script: tpcc}}, trials: {data: Restore, server: PerTrial}`),
				spec(`workload: {sysbench: {script: null, sweep: {script: [scan, insert]}}}, trials: {data: Restore}`),
				spec(`database: {observer: Enabled, storage: {medium: NodeDisk}}, trials: {data: Restore}`),
			},
			[]string{
				spec(`workload: {sysbench: {script: bulk_insert}}, trials: {data: Restore}`),
				spec(`workload: {sysbench: {script: null, scriptFrom: {name: s, key: k}}}, trials: {data: Restore}`),
			},
			"Keep and Restore are for workload type Sysbench, with all scripts but bulk_insert",
		},
		"restore needs the observer": {
			minimalSysbench, nil,
			[]string{
				spec(`database: {observer: Disabled}, trials: {data: Restore}`),
				spec(`database: {provisioner: MariaDBOperator}, trials: {data: Restore}`),
			},
			"Restore needs provisioner StatefulSet and database.observer: Enabled",
		},
		"restore another's data": {minimalCustom, nil, []string{spec("trials: {data: Restore}")}, "Keep and Restore are for workload type Sysbench"},
		"custom member":          {minimalCustom, nil, []string{spec("workload: {custom: null}")}, "the member custom goes with type Custom"},
		"image":                  {minimalCustom, nil, []string{custom("image: null")}, "custom.image"},
		"command":                {minimalCustom, nil, []string{custom("command: []")}, "custom.command"},
		"user":                   {minimalCustom, []string{custom("user: 1000"), custom("user: 2147483647")}, []string{custom("user: 0"), custom("user: 2147483648")}, "custom.user"},
		"parameters": {
			minimalCustom,
			[]string{
				custom(`parameters: {threads: "1"}, command: [tool, "--threads=${threads}", "${threads}x${threads}"]`), custom(`command: [tool, "$HOME", "a$b", "}{"]`),
			},
			[]string{custom(`command: [tool, "${threads}"]`), custom(`parameters: {threads: "1"}, command: ["a${threads}", "b${thread}"]`)},
			"command has a ${…} that custom.parameters does not name",
		},
		"parameter names": {
			minimalCustom,
			[]string{custom(`parameters: {` + strings.Repeat("a", 63) + `: "1"}`)},
			[]string{custom(`parameters: {"a-b": "1"}`), custom(`parameters: {` + strings.Repeat("a", 64) + `: "1"}`)},
			"a parameter's name is letters",
		},
		"environment": {
			minimalCustom,
			[]string{custom(`env: {LD_PRELOAD: "/x.so"}`)},
			[]string{custom(`env: {BENCHRUN_CONFIG: x}`), custom(`env: {"A B": x}`)},
			"does not begin with BENCHRUN_",
		},
		"pattern": {
			minimalCustom,
			[]string{custom(`result: {pattern: "TPS: (?P<tps>[0-9.]+)", metrics: [{name: tps, unit: t/s}]}`)},
			[]string{custom(`result: {pattern: "(?P<tps>[0-9.]+", metrics: [{name: tps, unit: t/s}]}`)},
			"pattern must be a regular expression (RE2)",
		},
		"groups": {
			minimalCustom, nil,
			[]string{custom(`result: {pattern: "(?P<tps>[0-9.]+)", metrics: [{name: qps, unit: t/s}]}`)},
			"each metric needs a group of its name",
		},
		"metric": {
			minimalCustom, nil, []string{custom(`result: {pattern: "(?P<tps>[0-9.]+)", metrics: [{name: tps, unit: "t s"}]}`)}, "should match",
		},
		"custom sweep": {
			minimalCustom,
			[]string{custom(`parameters: {vu: "1"}, sweep: {parameters: {vu: ["1", two]}}`), custom(`parameters: {vu: "1"}, points: [{parameters: {vu: two}}]`)},
			[]string{custom(`sweep: {parameters: {vu: ["1"]}}`), custom(`parameters: {vu: "1"}, points: [{parameters: {uv: "1"}}]`)},
			"can vary the parameters that parameters names with their usual values",
		},
		"custom keep": {minimalCustom, nil, []string{spec("trials: {data: Keep}")}, "Keep and Restore are for workload type Sysbench"},
	} {
		checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, says: r.says}})
	}
	checkRules(t, minimalSysbench, map[string]rule{"sweep of a script": {
		allowed: []string{sysbench("script: tpcc, sweep: {scale: [1, 10]}"), sysbench("script: select_random_points, sweep: {tableSize: [1]}")},
		later: []string{
			sysbench("sweep: {scale: [1]}"), sysbench("points: [{scale: 1}]"), sysbench("script: tpcc, sweep: {tableSize: [1]}"),
			sysbench("script: bulk_insert, sweep: {tables: [1]}"), sysbench("script: select_random_points, sweep: {tables: [2]}"),
		},
		says: "has no such parameter",
	}})
	checkRules(t, minimalCustom, map[string]rule{"parameters everywhere": {
		allowed: []string{custom(`parameters: {a: "1"}, prepare: ["${a}"], cleanup: ["${a}"], env: {A: "${a}"}`)},
		later:   []string{custom(`prepare: ["${a}"]`), custom(`cleanup: ["x", "${a}"]`), custom(`env: {A: "${a"}`)},
		says:    "has a ${…} that parameters does not name",
	}})
}

// tprochMinimal is the shortest run of TPROCHLoad.
const tprochMinimal = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec:
  database: {}
  workload: {type: TPROCHLoad, tprochLoad: {}}
`

// tproch wraps an overlay of the workload's member.
func tproch(s string) string { return spec("workload: {tprochLoad: {" + s + "}}") }

// sweeps are sweeps of one parameter, each as a list of one value and as a point.
func sweeps(parameter string, values ...string) []string {
	var all []string
	for _, value := range values {
		all = append(all, tproch("sweep: {"+parameter+": ["+value+"]}"), tproch("points: [{"+parameter+": "+value+"}]"))
	}
	return all
}

func TestEnvtestTPROCHRules(t *testing.T) {
	parallel := func(overlays []string) []string {
		for i := range overlays {
			overlays[i] += "\n" // a document of its own: the overlay's mode stands beside it
			overlays[i] = strings.Replace(overlays[i], "tprochLoad: {", "tprochLoad: {loadMode: Parallel, ", 1)
		}
		return overlays
	}
	checkRules(t, tprochMinimal, map[string]rule{
		"member": {
			refused: []string{spec("workload: {tprochLoad: null}"), spec("workload: {type: CommitSize, commitSize: {}}")},
			says:    "the member tprochLoad goes with type TPROCHLoad",
		},
		"scale factor": {
			allowed: []string{
				tproch(`scaleFactor: "0.01"`), tproch(`scaleFactor: "0.1"`), tproch(`scaleFactor: "1"`), tproch(`scaleFactor: "12.50"`),
				tproch(`scaleFactor: "999.99"`), tproch(`scaleFactor: "1000"`),
			},
			refused: []string{
				tproch(`scaleFactor: "0"`), tproch(`scaleFactor: "0.00"`), tproch(`scaleFactor: "0.001"`), tproch(`scaleFactor: "1001"`),
				tproch(`scaleFactor: "1e3"`), tproch(`scaleFactor: "-1"`), tproch(`scaleFactor: "01"`), tproch(`scaleFactor: "1000.1"`),
			},
			says: "scaleFactor must be 0.01 to 1000",
		},
		"scale factor is a string": {refused: []string{tproch(`scaleFactor: 1`)}, says: "scaleFactor"},
		"data": {
			allowed: []string{tproch("data: Streamed")}, refused: []string{tproch("data: Made")},
			says: `supported values: "Staged", "Streamed"`,
		},
		"staged": {
			allowed: []string{spec("loader: {scratch: {}}, workload: {tprochLoad: {data: Staged}}")},
			refused: []string{tproch("data: Staged")},
			says:    "data: Staged needs a volume for the files",
		},
		"load mode": {
			allowed: []string{tproch("loadMode: Chunked"), tproch("loadMode: Parallel")}, refused: []string{tproch("loadMode: parallel")},
			says: `supported values: "OneStatement", "Chunked", "Parallel"`,
		},
		"chunk": {
			allowed: []string{tproch("rowsPerChunk: 1")}, refused: []string{tproch("rowsPerChunk: 0"), tproch("rowsPerChunk: 1000000001")},
			says: "rowsPerChunk",
		},
		"clients": {
			allowed: []string{tproch("loadMode: Parallel, clients: 8")},
			refused: []string{tproch("loadMode: Parallel, clients: 0"), tproch("loadMode: Parallel, clients: 9")},
			says:    "clients",
		},
		"clients without parallel": {
			allowed: []string{tproch("clients: 2, sweep: {loadMode: [Chunked, Parallel]}"), tproch("points: [{clients: 2, loadMode: Parallel}]")},
			refused: append(sweeps("clients", "2"), tproch("clients: 2"), tproch("clients: 1, loadMode: Chunked")),
			says:    "clients are for loadMode Parallel",
		},
		"asPublished": {
			allowed: []string{tproch("asPublished: None"), tproch("asPublished: MariaDBOrg, foreignKeyChecks: false")},
			refused: []string{tproch("asPublished: MariaDBOrg"), tproch("asPublished: MariaDBOrg, foreignKeyChecks: false, loadMode: Chunked")},
			says:    "asPublished MariaDBOrg goes with loadMode OneStatement and foreignKeyChecks false",
		},
		"compat's name": {refused: []string{tproch("asPublished: mariadb.org")}, says: `supported values: "None", "MariaDBOrg"`},
		"indexes":       {allowed: []string{tproch("indexes: After")}, refused: []string{tproch("indexes: Never")}, says: `"Before", "After"`},
		"booleans":      {allowed: []string{tproch("analyze: true, uniqueChecks: false, foreignKeyChecks: false")}, refused: []string{tproch("analyze: 1")}, says: "analyze"},
		"no limit": {
			refused: []string{spec("workload: {limits: {seconds: 5}}")},
			says:    "limits.seconds is not for TPROCHLoad",
		},
		"no retries": {
			refused: []string{spec("workload: {limits: {errorPercent: 5}}")},
			says:    "limits.errorPercent is not for TPROCHLoad and Custom",
		},
		"swept parameter": {refused: append(sweeps("rowsPerChunk", "5"), sweeps("rowsPerCommit", "5")...), says: "unknown field"},
		"swept scale factor": {
			allowed: sweeps("scaleFactor", `"0.01"`, `"1"`, `"1000"`), refused: sweeps("scaleFactor", `"0"`, `"0.001"`, "big", `"1001"`),
			says: "scaleFactor must be 0.01 to 1000",
		},
		"swept checks": {
			allowed: append(sweeps("uniqueChecks", "true", "false"), sweeps("foreignKeyChecks", "true", "false")...),
			refused: append(sweeps("uniqueChecks", "0", `"true"`), sweeps("foreignKeyChecks", "1", `"off"`)...), says: "must be of type boolean",
		},
		"swept load mode": {
			allowed: sweeps("loadMode", "OneStatement", "Chunked", "Parallel"), refused: sweeps("loadMode", "parallel"), says: "supported values",
		},
		"swept clients": {
			allowed: parallel(sweeps("clients", "1", "8")), refused: parallel(sweeps("clients", "0", "9", "x", `"1"`)), says: "clients",
		},
		"two parameters": {
			allowed: []string{tproch(`sweep: {uniqueChecks: [true, false], scaleFactor: ["0.1", "1"]}`)},
			refused: []string{tproch(`sweep: {uniqueChecks: [true, false], scaleFactor: [true]}`)}, says: "must be of type string",
		},
		"one factor around nothing": {
			allowed: []string{spec("sweep: {mode: OneFactor}, workload: {tprochLoad: {loadMode: Parallel, clients: 4, sweep: {clients: [1, 8]}}}")},
			later:   []string{spec("sweep: {mode: OneFactor}, workload: {tprochLoad: {loadMode: Parallel, sweep: {clients: [1, 8]}}}")},
			says:    "set workload.tprochLoad.clients",
		},
		"data is made anew": {refused: []string{spec("trials: {data: Keep}")}, says: "Keep and Restore are for workload type Sysbench"},
		"one pod":           {refused: []string{spec("loader: {pods: 2}")}, says: "loader.pods must be 1"},
	})
}

// What is not said is said by the stored specification.
func TestEnvtestTPROCHDefaults(t *testing.T) {
	run := parsed(t, tprochMinimal)
	must.Do(t, dryRun(t, run))
	spec := run.Object["spec"].(map[string]any)["workload"].(map[string]any)["tprochLoad"]
	want := map[string]any{
		"scaleFactor": "0.01", "data": "Streamed", "loadMode": "OneStatement", "rowsPerChunk": int64(100000), "indexes": "Before",
		"foreignKeyChecks": true, "uniqueChecks": true, "analyze": false, "asPublished": "None",
	}
	must.Same(t, "defaults", want, spec)
}
