//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

// TestEnvtestPodsRules asks a real API server about loader.pods.
func TestEnvtestPodsRules(t *testing.T) {
	const pods = "loader: {pods: 4}, "
	sweep := func(parameter, values string) string {
		return "sweep: {axes: [{parameter: " + parameter + ", values: [" + values + "]}]}"
	}
	share := func(member, parameter string) (allowed, refused []string) {
		base := func(n string) string { return "workload: {" + member + ": {" + parameter + ": " + n + "}}" }
		points := func(parameters ...string) string {
			text := ""
			for _, p := range parameters {
				text += "{parameters: {" + p + "}}, "
			}
			return "sweep: {mode: List, points: [" + text + "]}"
		}
		return []string{
				spec(pods + base("4")),
				spec(pods + sweep(parameter, `"4", "8"`)),
				spec(pods + points(parameter+`: "4"`, parameter+`: "16"`)),
			}, []string{
				spec("loader: {pods: 4}"),
				spec(pods + base("3")),
				spec(pods + base("8") + ", " + sweep(parameter, `"2", "8"`)),
				spec(pods + base("8") + ", " + points(parameter+`: "3"`)),
			}
	}
	rules := map[string]struct {
		base             string
		allowed, refused []string
		says             string
	}{
		"CommitSize": {minimal, nil, []string{spec("loader: {pods: 2}")}, "loader.pods must be 1"},
		"Custom":     {minimalCustom, nil, []string{spec("loader: {pods: 2}")}, "loader.pods must be 1"},
		"a mixed list": {
			minimalBulkInsert,
			[]string{spec(pods + `workload: {bulkInsert: {concurrency: 4}}, sweep: {mode: List, points: [{parameters: {concurrency: "8"}}, {parameters: {rowsPerStatement: "7"}}]}`)},
			[]string{spec(pods + `sweep: {mode: List, points: [{parameters: {concurrency: "8"}}, {parameters: {rowsPerStatement: "7"}}]}`)},
			"concurrency must be at least loader.pods",
		},
		"deletes": {
			minimalIIBench,
			[]string{spec("workload: {iiBench: {keepRows: 1000}}")},
			[]string{spec(pods + "workload: {iiBench: {insertThreads: 4, keepRows: 1000}}")},
			"keepRows) loads from one Pod",
		},
		"bulk_insert": {
			minimalSysbench,
			[]string{spec("workload: {sysbench: {script: bulk_insert, threads: 4}}")},
			[]string{spec(pods + "workload: {sysbench: {script: bulk_insert, threads: 4}}")},
			"script bulk_insert loads from one Pod",
		},
		"too many": {minimalBulkInsert, nil, []string{spec("loader: {pods: 65}"), spec("loader: {pods: 0}")}, "spec.loader.pods"},
	}
	for _, w := range []struct{ base, member, parameter string }{
		{minimalBulkInsert, "bulkInsert", "concurrency"},
		{minimalIIBench, "iiBench", "insertThreads"},
		{minimalSysbench, "sysbench", "threads"},
	} {
		r := rules[w.member]
		r.base, r.says = w.base, w.parameter+" must be at least loader.pods"
		r.allowed, r.refused = share(w.member, w.parameter)
		rules[w.member] = r
	}
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, says: r.says}})
		})
	}
}
