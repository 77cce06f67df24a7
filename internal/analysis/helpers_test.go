// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
	p := must.Get(planRun(run))(t)
	return p
}

// disturbed is the record of an attempt that does not count.
func disturbed(number, attempt int, outcome result.Outcome, cause result.Cause) *result.Record {
	r := testutil.Record(number, attempt, map[string]string{"rowsPerCommit": "1"}, 0)
	r.Outcome, r.Cause, r.Message, r.Summary = outcome, cause, "what happened", nil
	return r
}

func planVariants(t *testing.T, run *v1alpha1.BenchmarkRun) *Compared {
	t.Helper()
	c := must.Get(PlanVariants(run, planRun))(t)
	return c
}

// measured is a run with variants of which so many sides are measured: those of lazy are three times as fast. The noise is small,
// and the same whatever the number of sides.
func measured(t *testing.T, run *v1alpha1.BenchmarkRun, sides int) *Compared {
	t.Helper()
	c := planVariants(t, run)
	for i := range c.Sides[:sides] {
		s := &c.Sides[i]
		s.Trials = []int{i + 1}
		s.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2", DatabaseImage: "mariadb@1"}
		for _, p := range c.Variants[s.Variant].Plan.Points {
			record := testutil.Record(i+1, 1, p.Parameters, testutil.PairValue(i, s.Variant))
			s.Points = append(s.Points, stats.Summarized(p.Parameters, []*result.Record{record}))
		}
	}
	return c
}

// add a metric to all that is measured.
func (s *Side) add(m result.Metric) {
	for _, p := range s.Points {
		p.Records[0].Summary.Metrics = append(p.Records[0].Summary.Metrics, m)
	}
}

func rows(value string) v1alpha1.PointSelector {
	return v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{"rowsPerCommit": v1alpha1.SelectedText(value)}}
}
