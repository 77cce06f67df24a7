// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

func bulkInsertSpec() *v1alpha1.WorkloadSpec {
	return &v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{
		Table: v1alpha1.BulkInsertFileList, Tables: 1, Rows: 1000, RowsPerStatement: 10, StatementsPerTransaction: 2, Concurrency: 3,
		StorageEngine: "InnoDB",
	}}
}

func iiBenchSpec() *v1alpha1.WorkloadSpec {
	return &v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
		Schema: v1alpha1.IIBenchInsertBenchmark, Rows: 1000, RowsPerCommit: 100, RowsPerStatement: 10, StorageEngine: "InnoDB",
		InsertThreads: 1, ReportEveryRows: 1000,
	}}
}

func TestInsertWorkloadsAtPoint(t *testing.T) {
	wantBulk, wantII := bulkInsertSpec(), iiBenchSpec()
	wantBulk.BulkInsert.RowsPerStatement, wantBulk.BulkInsert.StatementsPerTransaction = 7, 8
	wantBulk.BulkInsert.Concurrency, wantBulk.BulkInsert.StorageEngine = 9, "Aria"
	i := wantII.IIBench
	i.RowsPerCommit, i.RowsPerStatement, i.StorageEngine, i.InsertThreads = 1, 2, "MyISAM", 4
	i.SecondaryIndexes, i.QueryThreads = ptr.To[int32](0), ptr.To[int32](5)
	for _, tc := range []struct {
		spec, want *v1alpha1.WorkloadSpec
		parameters map[string]string
	}{
		{bulkInsertSpec(), wantBulk, map[string]string{
			"rowsPerStatement": "7", "statementsPerTransaction": "8", "concurrency": "9", "storageEngine": "Aria",
		}},
		{iiBenchSpec(), wantII, map[string]string{
			"rowsPerCommit": "1", "rowsPerStatement": "2", "storageEngine": "MyISAM", "insertThreads": "4",
			"secondaryIndexes": "0", "queryThreads": "5",
		}},
	} {
		before := tc.spec.DeepCopy()
		got, err := plan.Workload(tc.spec, plan.Point{Parameters: tc.parameters})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("workload at the point (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, tc.spec); diff != "" {
			t.Errorf("the specification was changed (-want +got):\n%s", diff)
		}
	}
}

// Around a base, the parameters that are not varied have the values that the workload names, or their defaults.
func TestInsertWorkloadsOneFactor(t *testing.T) {
	spec := sweep(v1alpha1.SweepOneFactor)
	spec.Workload = *iiBenchSpec()
	spec.Sweep.Axes = []v1alpha1.SweepAxis{
		{Parameter: "secondaryIndexes", Values: []v1alpha1.ParameterValue{"0", "3"}},
		{Parameter: "insertThreads", Values: []v1alpha1.ParameterValue{"1", "2"}},
	}
	p, err := plan.ForRun(spec)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Point{
		{Parameters: map[string]string{"secondaryIndexes": "0", "insertThreads": "1"}},
		{Parameters: map[string]string{"secondaryIndexes": "3", "insertThreads": "1"}},
		{Parameters: map[string]string{"secondaryIndexes": "3", "insertThreads": "2"}},
	}
	if diff := cmp.Diff(want, p.Points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestInsertWorkloadsRefuse(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"rows", "1", `parameter "rows" of BulkInsert cannot be swept`},
		{"concurrency", "many", `concurrency must be a whole number, not "many"`},
		{"concurrency", "-1", `concurrency must be a whole number, not "-1"`},
		{"concurrency", "4294967297", `concurrency must be a whole number, not "4294967297"`},
	} {
		_, err := plan.Workload(bulkInsertSpec(), plan.Point{Parameters: map[string]string{tc.name: tc.value}})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s=%s: %v, want %s", tc.name, tc.value, err, tc.want)
		}
	}
	spec := sweep(v1alpha1.SweepGrid, "1")
	spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench}
	if _, err := plan.ForRun(spec); err == nil || !strings.Contains(err.Error(), "lacks its member") {
		t.Errorf("without its member: %v", err)
	}
}
