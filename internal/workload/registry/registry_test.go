// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

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
		if _, err := registry.New(&cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestWorkloadThatIsNotKnown(t *testing.T) {
	const want = `workload type "Nonsense" is not known to this loader, it knows BulkInsert, CommitSize, IIBench, TPROCHLoad`
	if _, err := registry.New(&result.Config{Workload: result.Workload{Type: "Nonsense"}}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
