//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

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
			[]string{spec(pods + "workload: {bulkInsert: {concurrency: 4, points: [{concurrency: 8}, {rowsPerStatement: 7}]}}")},
			nil,
			[]string{spec(pods + "workload: {bulkInsert: {points: [{concurrency: 8}, {rowsPerStatement: 7}]}}")},
			"concurrency is 1 but must be at least loader.pods, 4",
		},
		"deletes": {
			minimalIIBench,
			[]string{spec("workload: {iiBench: {keepRows: 1000}}")},
			nil,
			[]string{spec(pods + "workload: {iiBench: {insertThreads: 4, keepRows: 1000}}")},
			"(keepRows) loads from one Pod",
		},
		"bulk_insert": {
			minimalSysbench,
			[]string{spec("workload: {sysbench: {script: bulk_insert, threads: 4}}")},
			nil,
			[]string{spec(pods + "workload: {sysbench: {script: bulk_insert, threads: 4}}")},
			"script bulk_insert loads from one Pod",
		},
		"too many": {minimalBulkInsert, nil, []string{spec("loader: {pods: 65}"), spec("loader: {pods: 0}")}, nil, "spec.loader.pods"},
	}
	for _, w := range []struct{ base, member, parameter string }{
		{minimalBulkInsert, "bulkInsert", "concurrency"},
		{minimalIIBench, "iiBench", "insertThreads"},
		{minimalSysbench, "sysbench", "threads"},
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
