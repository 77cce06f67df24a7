//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
		"swept parameter": {
			refused: append(sweeps("rowsPerChunk", "5"), sweeps("rowsPerCommit", "5")...), says: "unknown field",
		},
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
