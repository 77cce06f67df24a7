// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

func TestConfigOfInsertWorkloads(t *testing.T) {
	for name, tc := range map[string]struct {
		spec v1alpha1.WorkloadSpec
		want result.Workload
	}{
		"BulkInsert": {
			v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{
				Table: v1alpha1.BulkInsertNarrow, Tables: 2, Rows: 3, RowsPerStatement: 4, StatementsPerTransaction: 5, Concurrency: 6,
				StorageEngine: "Aria",
			}},
			result.Workload{Type: "BulkInsert", BulkInsert: &result.BulkInsert{
				Table: "Narrow", Tables: 2, Rows: 3, RowsPerStatement: 4, StatementsPerTransaction: 5, Concurrency: 6, StorageEngine: "Aria",
			}},
		},
		"IIBench": {
			v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
				Schema: v1alpha1.IIBenchTokutek2008, Rows: 1, RowsPerCommit: 2, RowsPerStatement: 3, StorageEngine: "MyISAM",
				SecondaryIndexes: ptr.To[int32](0), IndexesAt: v1alpha1.IndexesAtEnd, InsertThreads: 4, QueryThreads: ptr.To[int32](5),
				KeepRows: ptr.To[int64](6), ReportEveryRows: 7, Rules: v1alpha1.IIBenchContest2008,
			}},
			result.Workload{Type: "IIBench", IIBench: &result.IIBench{
				Schema: "Tokutek2008", Rows: 1, RowsPerCommit: 2, RowsPerStatement: 3, StorageEngine: "MyISAM",
				IndexesAt: "End", InsertThreads: 4, QueryThreads: 5, KeepRows: 6, ReportEveryRows: 7, Rules: "Contest2008",
			}},
		},
		"IIBench by default": {
			v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
				Schema: v1alpha1.IIBenchInsertBenchmark, IndexesAt: v1alpha1.IndexesAtStart, Rules: v1alpha1.IIBenchNoRules,
			}},
			result.Workload{Type: "IIBench", IIBench: &result.IIBench{
				Schema: "InsertBenchmark", IndexesAt: "Start", SecondaryIndexes: 3,
			}},
		},
	} {
		g := goldenJobs()["default"]
		g.run.Spec.Workload = tc.spec
		got, err := trial.Config(g.run, g.attempt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got.Workload); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
