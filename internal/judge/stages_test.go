// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// chained makes a specification one in stages, of which l.i0 and qr100 are measured.
func chained(spec *v1alpha1.BenchmarkRunSpec) {
	spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{Stages: []v1alpha1.IIBenchStage{
		{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: 10}},
		{Name: "rest", Rest: &v1alpha1.IIBenchRestStage{}},
		{Name: "qr100", Query: &v1alpha1.IIBenchQueryStage{By: v1alpha1.IIBenchPrimaryKey, Seconds: 1}},
	}}}
}

func chainRun(repetitions int32) *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("run", "ns").Repetitions(repetitions).With(func(r *v1alpha1.BenchmarkRun) { chained(&r.Spec) }).Obj()
}

// inStages is the record of an attempt that measured these values in l.i0 and qr100.
func inStages(trial int, load, query float64) *result.Record {
	r := testutil.Record(trial, 1, nil, 0)
	r.Summary.Metrics = nil
	for _, s := range []struct {
		name  string
		value float64
	}{{"l.i0", load}, {"qr100", query}} {
		r.Summary.Stages = append(r.Summary.Stages, result.StageSummary{Name: s.name, Metrics: []result.Metric{
			{Name: "operationsPerSecond", Value: s.value, Unit: "operations/s", Better: "higher"},
			{Name: "serverMicrosPerOperation", Value: 1e6 / s.value, Unit: "µs/operation", Better: "lower"},
		}})
	}
	return r
}

// An accepted attempt is a measurement of each of its stages, and one trial.
func TestPointsOfStages(t *testing.T) {
	run := chainRun(2)
	p := planOf(t, run)
	records := []*result.Record{inStages(1, 100, 10), inStages(2, 110, 11)}
	points := Points(run, p, records)
	if len(points) != 2 || !slices.Equal(points[0].Values, []float64{100, 110}) || !slices.Equal(points[1].Values, []float64{10, 11}) {
		t.Fatalf("%+v", points)
	}
	if points[1].Parameters["stage"] != "qr100" || points[1].Records[0].Parameters["stage"] != "qr100" {
		t.Errorf("point 1 is at %v", points[1].Parameters)
	}
	must.Same(t, "progress", (counts{Planned: 2, Measured: 1, Next: 2}), counted(ProgressOf(run, p, records[:1])))
	side := &Side{Points: Points(run, p, records[:1])}
	if m, _ := side.Metric(""); m.Name != "operationsPerSecond" || side.Value("serverMicrosPerOperation", 1) != 1e5 {
		t.Errorf("metric %+v, costs %g", m, side.Value("serverMicrosPerOperation", 1))
	}
}

// A document that was lost takes all stages with it: the attempt does not count, and its trial is measured again.
func TestInvalidatedChain(t *testing.T) {
	run := chainRun(1)
	p := planOf(t, run)
	lost := inStages(1, 100, 10)
	lost.Outcome, lost.Cause, lost.Summary.Stages = result.OutcomeInvalidated, result.CauseDocumentLost, nil
	for _, point := range Points(run, p, []*result.Record{lost}) {
		must.Same(t, fmt.Sprint(point), 0, point.Summary.N)
	}
	must.Same(t, "progress", (counts{Planned: 1, Invalidated: 1, Next: 1}), counted(ProgressOf(run, p, []*result.Record{lost})))
}

// A precision target leaves a chain out only when each of its stages has reached it.
func TestPrecisionOfStages(t *testing.T) {
	run := chainRun(1)
	run.Spec.Trials.Repetitions = nil
	run.Spec.Trials.Precision = &v1alpha1.PrecisionSpec{TargetRelativeCIPercent: 5, Min: 6, Max: 8}
	p := planOf(t, run)
	for name, tc := range map[string]struct {
		query func(round int) float64
		left  int
	}{
		"both are steady": {func(int) float64 { return 10 }, 0},
		"one is not":      {func(round int) float64 { return 10 + 10*float64(round%2) }, 2},
	} {
		var records []*result.Record
		for round := range 6 {
			records = append(records, inStages(round+1, 100, tc.query(round)))
		}
		must.Same(t, name+": trials that are left", tc.left, len(ProgressOf(run, p, records).Left))
	}
}

// Stages are paired across variants. One that missed its offered rate has no verdict, and does not count for the whole.
func TestJudgeStages(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkRun) { chained(&s.Spec) })
	if pairs := planVariants(t, s).Planned; len(pairs) != 2 || pairs[1].Of != 1 || pairs[1].With != 1 {
		t.Fatalf("pairs %+v", pairs)
	}
	const rounds = 8
	measure := func(missed bool) *Compared {
		c := planVariants(t, s)
		for i := range c.Sides[:rounds*len(c.Variants)] {
			side := &c.Sides[i]
			v := testutil.PairValue(i, side.Variant)
			r := inStages(1, v, v)
			if missed && i == 3 {
				r.Summary.Stages[1].Findings = []finding.Finding{finding.Missed{Rate: 100, Reached: 50, Share: 50, Unit: "rows/s"}.Finding()}
			}
			side.Points = Points(c.Variants[side.Variant].Run, c.Variants[side.Variant].Plan, []*result.Record{r})
		}
		c.Judge(nil)
		return c
	}
	for missed, want := range map[bool]string{false: "[Faster Faster] 1", true: "[Faster CannotSay] 0"} {
		v := measure(missed)
		must.Same(t, fmt.Sprintf("missed %t", missed), want, fmt.Sprint([]stats.Verdict{v.Pairs[0].Verdict, v.Pairs[1].Verdict}, len(v.Overall)))
		if pair := &v.Pairs[1]; missed && (pair.Cause != stats.RateMissed || !pair.Decided || pair.Bounded()) {
			t.Errorf("%+v", pair.Comparison)
		}
		must.Same(t, fmt.Sprintf("costs %+v", v.Pairs[0].Costs), 1, len(v.Pairs[0].Costs))
	}
}
