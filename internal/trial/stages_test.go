// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// The loader of a chain is told of all of its stages, and of none as a parameter of the trial.
func TestConfigOfStages(t *testing.T) {
	run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
			Schema: v1alpha1.IIBenchInsertBenchmark, StorageEngine: "InnoDB", Clients: 2, Stages: []v1alpha1.IIBenchStage{
				{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: 400, RowsPerCommit: 100}},
				{Name: "rest", Rest: &v1alpha1.IIBenchRestStage{}},
				{Name: "l.x", CreateIndexes: 3},
			},
		}}
	}).Obj()
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range p.Trials {
		c, err := trial.Config(run, trial.Attempt{Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		const want = `"stages":[{"name":"l.i0","insert":{"rows":400,"rowsPerCommit":100}},{"name":"rest","rest":{}},{"name":"l.x","createIndexes":3}]`
		if c.Parameters != nil || !strings.Contains(string(c.Workload.Parameters), want) {
			t.Errorf("trial %d: parameters %v, workload %s", of.Number, c.Parameters, c.Workload.Parameters)
		}
	}
	if _, err := trial.Validate(run, p.Points[0]); err != nil {
		t.Error(err)
	}
	run.Spec.Loader.Pods = 2
	if _, err := trial.Validate(run, p.Points[0]); err == nil || !strings.Contains(err.Error(), "loader.pods is 2 but must be 1") {
		t.Errorf("with two Pods: %v", err)
	}
	if got := trial.NotInSlices(&run.Spec); !strings.Contains(got, "use alternation: Trials") {
		t.Errorf("in slices: %q", got)
	}
}
