// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestPlanSuite(t *testing.T) {
	sweep := func(values ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.CommitSizeSweep {
		return &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkSuite)
		pairs  []PlannedPair
		says   string
	}{
		"one point": {func(*v1alpha1.BenchmarkSuite) {}, []PlannedPair{{Variant: 1}}, ""},
		"another baseline": {
			func(s *v1alpha1.BenchmarkSuite) { s.Spec.Baseline = "lazy" }, []PlannedPair{{Variant: 0}}, "",
		},
		"a part of the points": {func(s *v1alpha1.BenchmarkSuite) {
			s.Spec.Template.Spec.Workload.CommitSize.Sweep = sweep(1, 4, 16)
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: sweep(16, 8, 4)}}
		}, []PlannedPair{{Variant: 1, Of: 0, With: 2}, {Variant: 1, Of: 2, With: 1}}, ""},
		"no point in common": {func(s *v1alpha1.BenchmarkSuite) {
			s.Spec.Template.Spec.Workload.CommitSize.Sweep = sweep(1)
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: sweep(2)}}
		}, nil, "variant lazy has no point in common with the baseline durable: nothing can be compared"},
		"no plan": {func(s *v1alpha1.BenchmarkSuite) {
			s.Spec.Template.Spec.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor}
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{
				Points: []v1alpha1.CommitSizePoint{{RowsPerCommit: ptr.To(v1alpha1.CommitSizeRowsPerCommit(2))}},
			}}
		}, nil, "variant lazy: sweep.mode OneFactor goes with workload.commitSize.sweep: points are measured as they are listed"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := PlanSuite(suite(tc.change))
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != tc.says {
				t.Errorf("it says %q, want %q", said, tc.says)
			}
			if diff := cmp.Diff(tc.pairs, p.Pairs, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	s := suite(func(s *v1alpha1.BenchmarkSuite) {
		s.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	})
	p := planOfSuite(t, s)
	for runs, want := range map[int]string{0: "0 []", 1: "0 []", 2: "1 [CannotSay CannotSay]", 9: "4 [CannotSay CannotSay]", 10: "5 [Faster Faster]"} {
		j := measuredRuns(s, p, runs).Judged
		var verdicts []stats.Verdict
		for _, pair := range j.Pairs {
			verdicts = append(verdicts, pair.Verdict)
		}
		if got := fmt.Sprint(j.Rounds, verdicts); got != want {
			t.Errorf("after %d runs: %s, want %s", runs, got, want)
		}
	}
	seen := measuredRuns(s, p, 8)
	before := seen.Judged
	before.Pairs[0].Variant = "remembered"
	if j := Judge(s, p, seen, before); j.Pairs[0].Variant != "remembered" {
		t.Error("the same rounds are judged again")
	}
	seen.Members[1].Measured.Metric.Unit = "s"
	if j := Judge(s, p, seen, Judged{}); j.Pairs[0].Verdict != stats.CannotSay || j.Pairs[0].Obstacle == "" {
		t.Errorf("different units were compared: %+v", j.Pairs[0].Comparison)
	}
}

// Costs of a unit of work are compared by their medians, where both variants have them.
func TestJudgeCosts(t *testing.T) {
	s := suite()
	p := planOfSuite(t, s)
	seen := measuredRuns(s, p, 8)
	for i := range 8 {
		m := seen.Members[i].Measured
		fsyncs := 1.0 / (1 + 9*float64(p.Members[i].Variant))
		metrics := []result.Metric{
			{Name: "rowsPerSecond", Value: 5, Unit: "rows/s"},
			{Name: "errorPercent", Value: 0, Unit: "%"},
			{Name: "fsyncsPerTransaction", Value: fsyncs, Unit: "fsyncs/transaction"},
		}
		if p.Members[i].Variant == p.Baseline {
			metrics = append(metrics, result.Metric{Name: "waitsPerRow", Value: 3, Unit: "waits/row"})
		}
		for _, metric := range metrics {
			m.add(0, metric)
		}
	}
	got := Judge(s, p, seen, Judged{}).Pairs[0].Costs
	want := []stats.Cost{{Name: "fsyncsPerTransaction", Unit: "fsyncs/transaction", Baseline: 1, Variant: 0.1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
}

// A suite knows the plan of a variant by one seed, and every round measures the points in an order of its own.
func TestMeasurementsInAnotherOrder(t *testing.T) {
	p := planOf(t, oneAxis(3, 1))
	var records []*result.Record
	for number, point := range []int{2, 0, 1} {
		records = append(records, testutil.Record(number+1, 1, p.Points[point].Parameters, float64(10*(point+1))))
	}
	if diff := cmp.Diff([]float64{10, 20, 30}, MeasurementsOf(p, records, nil).Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A run's warnings are those of its points, each once, and of bounded size.
func TestMeasurementsHaveWarnings(t *testing.T) {
	p := planOf(t, oneAxis(2, 2))
	var records []*result.Record
	for number, point := range []int{1, 0, 0, 1} {
		r := testutil.Record(number+1, 1, p.Points[point].Parameters, 10)
		if point == 1 {
			r.Summary.Findings = []finding.Finding{finding.Retried(int64(number+1), 1)}
		}
		records = append(records, r)
	}
	records[1].Summary.Findings = []finding.Finding{finding.Retried(9, 2)}
	want := []stats.Warning{{Finding: finding.Merge([]finding.Finding{finding.Retried(1, 1), finding.Retried(9, 2)})[0].Finding, Trials: 3, Of: 4}}
	if diff := cmp.Diff(want, MeasurementsOf(p, records, nil).Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 1000 {
		f := finding.OfProgram(fmt.Sprintf("%d%s", i, strings.Repeat("x", 10_000)))
		records[0].Summary.Findings = append(records[0].Summary.Findings, f)
	}
	got := MeasurementsOf(p, records, nil).Warnings
	if len(got) != 64 || len(got[63].String()) > 600 {
		t.Errorf("%d warnings, the last has %d bytes", len(got), len(got[63].String()))
	}
}

// Values are those of accepted attempts, in the order of the points; a point without one is not a number.
func TestMeasurementsOf(t *testing.T) {
	p := planOf(t, oneAxis(3, 1))
	lost := disturbed(2, 1, result.OutcomeInvalidated, result.CauseEvicted)
	at := func(point int) map[string]string { return p.Points[point].Parameters }
	got := MeasurementsOf(p, []*result.Record{testutil.Record(3, 1, at(2), 30), lost, testutil.Record(1, 1, at(0), 10)}, nil)
	want := &Measurements{
		Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}, Values: []float64{10, math.NaN(), 30},
		Served: plan.Served{Number: 1, PodUID: "db-pod"}, Servers: []string{"db-pod"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
