// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// What ends a run that has no answer is not called one.
func TestWhyStopped(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkRun) { s.Spec.Rounds.Until = v1alpha1.RoundsDecided })
	for verdict, want := range map[stats.Verdict]string{
		stats.Faster:    "every pair has its answer after 6 rounds",
		stats.CannotSay: "6 rounds are measured, and a few more would give no answer",
	} {
		pair := stats.Paired{Variant: "lazy", Comparison: stats.Comparison{Verdict: verdict, Decided: true}}
		c := planVariants(t, s)
		c.Rounds, c.Pairs = 6, []stats.Paired{pair}
		must.Same(t, string(verdict), want, c.WhyStopped())
	}
}

func TestJudge(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	})
	judge := func(sides int) *Compared {
		c := measured(t, s, sides)
		c.Judge(nil)
		return c
	}
	for n, want := range map[int]string{0: "0 []", 1: "0 []", 2: "1 [CannotSay CannotSay]", 11: "5 [CannotSay CannotSay]", 12: "6 [Faster Faster]"} {
		c := judge(n)
		var verdicts []stats.Verdict
		for _, pair := range c.Pairs {
			verdicts = append(verdicts, pair.Verdict)
		}
		must.Same(t, fmt.Sprintf("after %d", n), want, fmt.Sprint(c.Rounds, verdicts))
	}
	// With one point open, the points together may have their answer.
	c := judge(16)
	if all := c.Overall; len(all) != 1 || all[0].Points != 2 || all[0].Verdict != stats.Faster {
		t.Errorf("over all points: %+v", all)
	}
	c.Pairs[1].Decided = false
	for policy, want := range map[v1alpha1.RoundsUntil]bool{
		v1alpha1.RoundsDecided: false, v1alpha1.RoundsAll: false, v1alpha1.RoundsOverallDecided: true,
	} {
		if s.Spec.Rounds.Until = policy; c.decided() != want {
			t.Errorf("%s: decided is %t, want %t", policy, !want, want)
		}
	}
	s.Spec.Rounds.Until = v1alpha1.RoundsOverallDecided
	// A variant whose points do not count together, but for one, has its answer at that.
	other := c.Pairs[1]
	other.Variant = "other"
	if c.Pairs = append(c.Pairs, other); c.decided() {
		t.Error("decided, although a variant without an overall answer is not")
	}
	c.Pairs = c.Pairs[:2]
	c.Overall[0].Decided = false
	if c.decided() {
		t.Error("decided, although the points together are not")
	}
	if c.Pairs, c.Overall = c.Pairs[:1], nil; !c.decided() {
		t.Error("the one point is decided, and the run is not")
	}
	before, again := judge(8), measured(t, s, 8)
	before.Pairs[0].Variant = "remembered"
	if again.Judge(before); again.Pairs[0].Variant != "remembered" {
		t.Error("the same rounds are judged again")
	}
	again.Sides[1].Points[1].Records[0].Summary.Metrics[0].Unit = "s"
	again.Pairs = nil
	again.Judge(nil)
	if again.Pairs[0].Cause != stats.MetricsDiffer || again.Pairs[0].BaselineMetric == nil {
		t.Errorf("different units were compared: %+v", again.Pairs[0].Comparison)
	}
}

// With several points, half of the error is for all of them together.
func TestDesignOf(t *testing.T) {
	s := testutil.Pair()
	for comparisons, want := range map[int]bool{1: false, 2: true} {
		if d := DesignOf(&s.Spec, comparisons); d.Together != want || d.Comparisons != comparisons {
			t.Errorf("%d comparisons: %+v", comparisons, d)
		}
	}
}

// Costs of a unit of work are compared by their medians, where both variants have them.
func TestJudgeCosts(t *testing.T) {
	s := testutil.Pair()
	c := measured(t, s, 8)
	for i := range 8 {
		side := &c.Sides[i]
		side.add(result.Metric{Name: "errorPercent", Value: 0, Unit: "%"})
		side.add(result.Metric{Name: "fsyncsPerTransaction", Value: 1 / (1 + 9*float64(side.Variant)), Unit: "fsyncs/transaction"})
		if side.Variant == c.Baseline {
			side.add(result.Metric{Name: "waitsPerRow", Value: 3, Unit: "waits/row"})
		}
	}
	c.Judge(nil)
	got := c.Pairs[0].Costs
	want := []stats.Cost{{Name: "fsyncsPerTransaction", Unit: "fsyncs/transaction", Baseline: 1, Variant: 0.1}}
	must.Same(t, "costs", want, got)
}

// A server may use its limit, of which there is always one, or its node.
func TestServerCPUs(t *testing.T) {
	for _, c := range []struct {
		limit string
		node  int
		want  float64
	}{{"2500m", 8, 2.5}, {"4", 2, 2}, {"4", -1, 4}, {"", 8, 1}} {
		spec := new(v1alpha1.BenchmarkRunSpec)
		if c.limit != "" {
			spec.Database.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(c.limit)}
		}
		must.Same(t, fmt.Sprintf("limit %q on %d CPUs", c.limit, c.node), c.want, serverCPUs(spec, c.node))
	}
	external := new(v1alpha1.BenchmarkRunSpec)
	external.Database.Provisioner = v1alpha1.ProvisionerExternal
	must.Same(t, "CPUs of a server somewhere else", 0.0, serverCPUs(external, -1))
}

// Neither a point nor a variant is measured on once all of its pairs have their answers: what the rounds after it measure is what is
// undecided. It is the same whether it was followed from record to record, or is read anew.
func TestDecidedPointsAreNotMeasuredOn(t *testing.T) {
	undecided := map[string]bool{"rowsPerCommit=16": true}
	both := map[string]bool{"rowsPerCommit=1": true, "rowsPerCommit=16": true}
	sweep := func(rows ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.WorkloadSpec {
		return &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: &v1alpha1.CommitSizeSweep{RowsPerCommit: rows}}}
	}
	first := map[string]bool{"rowsPerCommit=1": true}
	noisy := func(s *v1alpha1.BenchmarkRunSpec, alternation v1alpha1.Alternation) { // one more variant, at the first point alone
		s.Workload.CommitSize.Sweep, s.Alternation = sweep(1).CommitSize.Sweep, alternation
		s.Variants = append(s.Variants, v1alpha1.Variant{Name: "noisy"})
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		// later are the points of all rounds after the sixth, and rounds those that the pairs have.
		later  map[string]bool
		rounds []int
	}{
		"slices":                        {func(s *v1alpha1.BenchmarkRunSpec) { s.Alternation = v1alpha1.AlternateSlices }, undecided, []int{6, 12}},
		"trials":                        {func(*v1alpha1.BenchmarkRunSpec) {}, undecided, []int{6, 12}},
		"runs":                          {func(s *v1alpha1.BenchmarkRunSpec) { s.Alternation = v1alpha1.AlternateRuns }, undecided, []int{6, 12}},
		"a point of the baseline alone": {func(s *v1alpha1.BenchmarkRunSpec) { s.Variants[1].Workload = sweep(16) }, both, []int{12}},
		"variants with other points": {func(s *v1alpha1.BenchmarkRunSpec) {
			s.Variants[1].Workload = sweep(1)
			s.Variants = append(s.Variants, v1alpha1.Variant{Name: "later", Workload: sweep(16)})
		}, undecided, []int{6, 12}},
		"claims": {func(s *v1alpha1.BenchmarkRunSpec) {
			of := func(variant string) v1alpha1.PointSelector { return v1alpha1.PointSelector{Variant: variant} }
			s.Claims = v1alpha1.Claims{{Name: "is", Ratio: &v1alpha1.RatioClaim{Of: of("lazy"), To: of("durable"), AtLeast: "1"}}}
		}, both, []int{12, 12}},
		"all together":         {func(s *v1alpha1.BenchmarkRunSpec) { s.Rounds.Until = v1alpha1.RoundsOverallDecided }, both, []int{7, 7}},
		"a variant, in slices": {func(s *v1alpha1.BenchmarkRunSpec) { noisy(s, v1alpha1.AlternateSlices) }, first, []int{6, 12}},
		"a variant, in trials": {func(s *v1alpha1.BenchmarkRunSpec) { noisy(s, v1alpha1.AlternateTrials) }, first, []int{6, 12}},
		"a variant, in runs":   {func(s *v1alpha1.BenchmarkRunSpec) { noisy(s, v1alpha1.AlternateRuns) }, first, []int{6, 12}},
		"all rounds":           {func(s *v1alpha1.BenchmarkRunSpec) { s.Rounds.Until = v1alpha1.RoundsAll }, both, []int{12, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.Pair(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Workload.CommitSize.Sweep = sweep(1, 16).CommitSize.Sweep
				r.Spec.Rounds.AtMost = 12
				tc.change(&r.Spec)
			})
			p := must.Get(plan.New(run, cmp.Or(run.Spec.Alternation, v1alpha1.AlternateTrials)))(t)
			var records []*result.Record
			var c *Compared
			later := map[string]bool{}
			for {
				c = OfVariants(run, p, records, nil, c)
				g := ProgressOf(run, p, records)
				g.Keep(func(t *plan.Trial) bool { return c.Left(p, t) })
				anew := OfVariants(run, p, records, nil, nil)
				must.Same(t, "pairs read anew", c.Pairs, anew.Pairs)
				must.Same(t, "decided points read anew", c.decidedBy, anew.decidedBy)
				must.Same(t, "decided variants read anew", c.droppedBy, anew.droppedBy)
				if len(g.Left) == 0 {
					break
				}
				next := *g.Left[0]
				next.Sides = c.SidesOf(&next)
				parameters := p.Points[next.Point].Parameters
				if next.Round > 6 {
					later[stats.Label(parameters)] = true
				}
				records = append(records, atPair(&next, p, parameters))
			}
			must.Same(t, "points of later rounds", tc.later, later)
			var rounds []int
			for _, pair := range c.Pairs {
				rounds = append(rounds, pair.Rounds)
			}
			must.Same(t, "rounds of the pairs", tc.rounds, rounds)
		})
	}
}

// atPair is the record of a trial: with one row per commit the first two variants differ by three times; otherwise the rounds
// scatter so much that nobody can say.
func atPair(trial *plan.Trial, p *plan.Plan, parameters map[string]string) *result.Record {
	value := func(variant int) float64 {
		switch {
		case variant == 0:
			return 1000
		case variant == 1 && parameters["rowsPerCommit"] == "1":
			return 3000 + 10*float64(trial.Round%3)
		}
		return 1000 + 400*float64(1-trial.Round%2*2)
	}
	r := testutil.Record(trial.Number, 1, parameters, value(trial.Sides[0]))
	for _, side := range trial.Sides {
		r.Sides = append(r.Sides, result.SideRecord{Variant: p.Variants[side], Instance: side + 1})
		if len(trial.Sides) > 1 {
			one := testutil.Record(trial.Number, 1, parameters, value(side))
			r.Summary.Sides = append(r.Summary.Sides, result.SideSummary{Variant: p.Variants[side], Summary: *one.Summary})
		}
	}
	return r
}
