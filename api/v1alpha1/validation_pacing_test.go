//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"
)

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
	if err := firstSight(t, parsed(t, minimalBulkInsert, file, bulk("warmupSeconds: 0, rampSeconds: 0"))); err != nil {
		t.Error(err)
	}
	for _, field := range []string{"warmupSeconds", "rampSeconds"} {
		err := dryRun(t, parsed(t, minimalBulkInsert, file, bulk(field+": 1")))
		if err == nil || !strings.Contains(err.Error(), "warmupSeconds and rampSeconds need an unlimited number of rows") {
			t.Errorf("%s with a file: %v", field, err)
		}
	}
}
