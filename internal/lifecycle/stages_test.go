// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A trial in stages is one attempt, whose record has no stage among its parameters, and a point of the status for each stage.
func TestStatusOfStages(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{Stages: []v1alpha1.IIBenchStage{
			{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: 10}}, {Name: "l.x", CreateIndexes: 3},
		}}}
	}).Obj()
	record := testutil.Record(1, 1, nil, 0)
	record.Summary.Metrics = nil
	for _, name := range []string{"l.i0", "l.x"} {
		record.Summary.Stages = append(record.Summary.Stages, result.StageSummary{Name: name, Metrics: []result.Metric{
			{Name: "operationsPerSecond", Value: float64(1000 * len(name)), Unit: "operations/s", Better: "higher"},
		}})
	}
	status := statusOf(t, run, &Observed{Records: []*result.Record{record}}, now)
	if status.Progress != "1/2" || status.Headline != "4000 operations/s (one trial) at stage=l.i0; 1 other stage" ||
		status.Result != "4000 operations/s at stage=l.i0" || len(status.Points) != 2 {
		t.Fatalf("%s, %s, %s, %+v", status.Progress, status.Headline, status.Result, status.Points)
	}
	if p := status.Points[1]; p.Parameters["stage"] != "l.x" || p.Median != "3000" || p.N != 1 {
		t.Errorf("%+v", p)
	}
	s := &situation{run: run, plan: planOf(t, run)}
	if got := s.parameters(2); got != nil {
		t.Errorf("trial 2 sets %v", got)
	}
}
