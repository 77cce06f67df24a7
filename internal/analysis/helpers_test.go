// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// oneAxis is a run with points rowsPerCommit=1, 2 and so on, in the order of the sweep.
func oneAxis(points int, repetitions int32) *v1alpha1.BenchmarkRun {
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range points {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	return testutil.MakeRun("run", "ns").Sweep(values...).Repetitions(repetitions).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Order = v1alpha1.OrderSequential
	}).Obj()
}

func planRun(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&run.Spec) }

func planOf(t *testing.T, run *v1alpha1.BenchmarkRun) *plan.Plan {
	t.Helper()
	p, err := planRun(run)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// disturbed is the record of an attempt that does not count.
func disturbed(number, attempt int, outcome result.Outcome, cause result.Cause) *result.Record {
	r := testutil.Record(number, attempt, map[string]string{"rowsPerCommit": "1"}, 0)
	r.Outcome, r.Cause, r.Message, r.Summary = outcome, cause, "what happened", nil
	return r
}

func planOfComparison(t *testing.T, s *v1alpha1.BenchmarkRun) *ComparisonPlan {
	t.Helper()
	p, err := PlanComparison(s, planRun)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// measuredRuns are so many runs of a comparison that are complete: those of lazy are three times as fast. The noise is small, and
// the same whatever the number of runs.
func measuredRuns(s *v1alpha1.BenchmarkRun, p *ComparisonPlan, n int) *ComparisonRuns {
	runs := &ComparisonRuns{Members: make([]Member, len(p.Members))}
	for i, m := range p.Members[:n] {
		run := plan.Side(s, m.Variant, m.Round)
		run.Name = plan.MemberName(s, m)
		run.Status.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2", DatabaseImage: "mariadb@1"}
		runs.Members[i] = Member{Run: run, Measured: &Measurements{Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}}}
		for range p.Variants[m.Variant].Plan.Points {
			runs.Members[i].Measured.Values = append(runs.Members[i].Measured.Values,
				testutil.PairValue(i, m.Variant))
		}
	}
	return runs
}

func rows(value string) v1alpha1.PointSelector {
	return v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{"rowsPerCommit": v1alpha1.SelectedText(value)}}
}
