// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// However many Pods share a load, they send each row once, and what was sent is known from how many rows each has sent.
func TestShareOfRows(t *testing.T) {
	for _, rows := range []int64{1, 5, 6, 7, 100, 101} {
		for pods := range int64(5) {
			var all, counts []int64
			for pod := range pods + 1 {
				d := dispenser{rows: rows, perTransaction: 6, share: share{pod: pod, pods: pods + 1}}
				count := int64(0)
				for d.left() {
					first, last := d.take()
					for n := first; n <= last; n++ {
						all, count = append(all, n), count+1
					}
				}
				if first, last := d.take(); first <= last {
					t.Errorf("rows %d to %d after the last", first, last)
				}
				counts = append(counts, count)
			}
			sent := slices.Collect((&dispenser{rows: rows, perTransaction: 6}).sent(counts))
			slices.Sort(sent)
			slices.Sort(all)
			if !slices.Equal(all, sent) || int64(len(all)) != rows || all[0] != 1 || all[rows-1] != rows {
				t.Errorf("%d Pods send of %d rows %v, counted %v", pods+1, rows, all, sent)
			}
		}
	}
}

// Of three Pods with transactions of two rows, the first has rows 1, 2, 7, 8 and so on.
func TestSentBeforeTheEnd(t *testing.T) {
	d := &dispenser{rows: 100, perTransaction: 2}
	if got := slices.Collect(d.sent([]int64{4, 0, 2})); !slices.Equal(got, []int64{1, 2, 7, 8, 5, 6}) {
		t.Errorf("sent %v", got)
	}
	if got := slices.Collect(d.sent([]int64{200})); len(got) != 100 {
		t.Errorf("%d rows of 100", len(got))
	}
}

func TestShareOf(t *testing.T) {
	sum := int64(0)
	for pod := range int64(4) {
		part := share{pod: pod, pods: 4}.of(10)
		if part < 2 || part > 3 {
			t.Errorf("Pod %d has %d of 10", pod, part)
		}
		sum += part
	}
	if sum != 10 {
		t.Errorf("the parts add up to %d", sum)
	}
}

func TestWorkloadsThatCannotBeShared(t *testing.T) {
	inserts := func(connections int) result.Workload {
		return result.Workload{Type: "BulkInsert", BulkInsert: &result.BulkInsert{
			Table: "Narrow", Tables: 1, Rows: 10, RowsPerStatement: 3, StatementsPerTransaction: 2, Concurrency: connections,
			StorageEngine: "InnoDB",
		}}
	}
	iibench := func(threads int, keep int64) result.Workload {
		return result.Workload{Type: "IIBench", IIBench: &result.IIBench{
			Schema: "InsertBenchmark", Rows: 10, RowsPerCommit: 1, RowsPerStatement: 1, StorageEngine: "InnoDB", IndexesAt: "Start",
			InsertThreads: threads, KeepRows: keep, ReportEveryRows: 10,
		}}
	}
	for want, cfg := range map[string]result.Config{
		"workload CommitSize loads from one Pod, and loader.pods is 2": {
			Pods: 2, Workload: result.Workload{Type: "CommitSize", CommitSize: &result.CommitSize{Rows: 1, RowsPerCommit: 1}},
		},
		"this is Pod 2, and there are 2":                             {Pods: 2, Pod: 2, Workload: inserts(2)},
		"this is Pod 1, and there are 1":                             {Pod: 1, Workload: inserts(2)},
		"concurrency is 2, it must be at least 3: all loader Pods":   {Pods: 3, Workload: inserts(2)},
		"insertThreads is 1, it must be at least 2: all loader Pods": {Pods: 2, Workload: iibench(1, 0)},
		"keepRows needs one loader Pod":                              {Pods: 2, Workload: iibench(2, 5)},
	} {
		if _, err := New(&cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
