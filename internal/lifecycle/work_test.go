// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// By default a run has time for the work that it asks for, and not for what any work may take.
func TestDefaultDeadlineFollowsTheWork(t *testing.T) {
	sysbench := func(w v1alpha1.SysbenchWorkload) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &w}
		}
	}
	limited := func(seconds int32) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload.Limits.Seconds = &seconds }
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   int64
	}{
		"rows, however long they take":    {func(*v1alpha1.BenchmarkRun) {}, 3600},
		"a second":                        {limited(1), 310},
		"an hour":                         {limited(3600), 3600},
		"a pilot":                         {func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.MinSeconds = ptr.To[int32](20) }, 500},
		"a deadline that somebody set":    {func(r *v1alpha1.BenchmarkRun) { limited(1)(r); r.Spec.Trials.DeadlineSeconds = 7200 }, 7200},
		"a schema that may have rows":     {func(r *v1alpha1.BenchmarkRun) { limited(1)(r); r.Spec.Workload.SchemaFrom = &v1alpha1.ConfigMapFile{} }, 3600},
		"sysbench, as it is":              {sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only"}), 300 + 600 + 20},
		"sysbench, a second":              {sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only", Seconds: ptr.To[int32](1)}), 300 + 10 + 20},
		"sysbench, events":                {sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only", Events: ptr.To[int64](5)}), 3600},
		"sysbench, a script of one's own": {sysbench(v1alpha1.SysbenchWorkload{Seconds: ptr.To[int32](1)}), 3600},
		"sysbench, warehouses":            {sysbench(v1alpha1.SysbenchWorkload{Script: "tpcc", Seconds: ptr.To[int32](1)}), 3600},
		"sysbench, swept": {
			sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only", Seconds: ptr.To[int32](1), Tables: ptr.To[v1alpha1.SysbenchTables](2), Sweep: &v1alpha1.SysbenchSweep{
				TableSize: []v1alpha1.SysbenchTableSize{1000, 500_000},
			}}), 300 + 10 + 2000,
		},
		"a program, which says nothing": {
			func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{}}
			}, 3600,
		},
	} {
		run := oneAxis(1, 6)
		tc.change(run)
		if got := workSeconds(run, planOf(t, run)); got != tc.want {
			t.Errorf("%s: %d s, want %d", name, got, tc.want)
		}
	}
	run := oneAxis(1, 6)
	limited(1)(run)
	if got, want := Deadline(run, planOf(t, run)), 7900*time.Second; got != want { // 10 attempts, 4 servers, 10 minutes
		t.Errorf("six trials of one second have %s, want %s", got, want)
	}
}
