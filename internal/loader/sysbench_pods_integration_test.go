// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// Two Pods with a warm-up each: what both did is in the tables, in the histogram and in the numbers.
func TestSysbenchPods(t *testing.T) {
	for name, p := range map[string]sysbench.Parameters{
		"oltp_insert": {
			Script: "oltp_insert", Threads: 3, Tables: ptr.To[int32](2), TableSize: ptr.To[int64](500), Seconds: 2, WarmupSeconds: 1,
		},
		"events": {Script: "oltp_read_write", Threads: 2, TableSize: ptr.To[int64](500), Events: 301},
		"tpcc": {
			Script: "tpcc", Threads: 2, Scale: ptr.To[int32](1), Seconds: 2, WarmupSeconds: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newSysbenchTrial(t, p)
			doc := tr.mustLoad(t, 2)
			toolPodsAddUp(t, doc)
			if p.Events > 0 && (doc.Totals.Transactions != p.Events || doc.Totals.StoppedBy != result.StoppedByRows) {
				t.Errorf("totals %+v, want %d events", doc.Totals, p.Events)
			}
			if p.Seconds > 0 && (doc.Totals.Micros < int64(p.Seconds)*1_000_000 || doc.Totals.Micros > int64(p.Seconds)*1_000_000+3_000_000) {
				t.Errorf("%d µs for %d s", doc.Totals.Micros, p.Seconds)
			}
			seeds := map[string]bool{}
			for _, c := range doc.Tool.Commands {
				i := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--rand-seed=") })
				if strings.HasPrefix(c.Phase, "measure") {
					seeds[c.Args[i]] = true
				}
			}
			if len(seeds) != 2 || !strings.Contains(doc.ToolOutput["measure of Pod 1"], "Threads fairness:") {
				t.Errorf("seeds %v, outputs of %v", seeds, len(doc.ToolOutput))
			}
			if name == "tpcc" {
				sameConstants(t, doc)
			}
		})
	}
}

var tpccConstants = regexp.MustCompile(`(?m)^constants: c_last=(\d+) (c_id=\d+ i_id=\d+)$`)

// sameConstants checks that the hot rows of tpcc are the same ones in whatever was executed, and that last names are asked for by
// another constant than they were loaded by.
func sameConstants(t *testing.T, doc *result.Document) {
	t.Helper()
	seen := map[string]int{}
	for _, phase := range []string{"warmup", "measure", "warmup of Pod 1", "measure of Pod 1"} {
		for _, m := range tpccConstants.FindAllString(doc.ToolOutput[phase], -1) {
			seen[m]++
		}
	}
	running := tpccConstants.FindStringSubmatch(doc.ToolOutput["measure"])
	loading := tpccConstants.FindStringSubmatch(doc.ToolOutput["prepare"])
	if len(seen) != 1 || loading == nil || running == nil || seen[running[0]] != 4 || loading[2] != running[2] || loading[1] == running[1] {
		t.Errorf("constants in runs %v, when loading %q", seen, loading)
	}
}

// toolPodsAddUp checks that the parts of two Pods are the whole.
func toolPodsAddUp(t *testing.T, doc *result.Document) {
	t.Helper()
	var parts, series int64
	for _, p := range doc.Pods {
		parts += p.Transactions
		if p.Transactions < 1 || p.Clients < 1 || p.Client.UserMicros < 1 {
			t.Errorf("Pod %d is %+v", p.Pod, p)
		}
	}
	for _, i := range doc.Series {
		series += i.Transactions
	}
	n := doc.Totals.Transactions
	if len(doc.Pods) != 2 || parts != n || series != n || doc.Latencies[0].Count != n {
		t.Errorf("%d transactions, %d in the parts, %d in the series, %d latencies", n, parts, series, doc.Latencies[0].Count)
	}
	if rate := doc.Metrics[0].Value * float64(doc.Totals.Micros) / 1e6; fmt.Sprintf("%.0f", rate) != fmt.Sprint(n) {
		t.Errorf("the headline stands for %g transactions, there were %d", rate, n)
	}
}
