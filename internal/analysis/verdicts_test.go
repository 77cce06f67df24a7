// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestJudge(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	})
	p := planOfComparison(t, s)
	for n, want := range map[int]string{0: "0 []", 1: "0 []", 2: "1 [CannotSay CannotSay]", 11: "5 [CannotSay CannotSay]", 12: "6 [Faster Faster]"} {
		j := Judge(s, p, measuredRuns(s, p, n), Verdicts{})
		var verdicts []stats.Verdict
		for _, pair := range j.Pairs {
			verdicts = append(verdicts, pair.Verdict)
		}
		if got := fmt.Sprint(j.Rounds, verdicts); got != want {
			t.Errorf("after %d runs: %s, want %s", n, got, want)
		}
	}
	if all := Judge(s, p, measuredRuns(s, p, 16), Verdicts{}).Overall; len(all) != 1 || all[0].Points != 2 || all[0].Verdict != stats.Faster {
		t.Errorf("over all points: %+v", all)
	}
	// With one point open, the points together may have their answer.
	j := Judge(s, p, measuredRuns(s, p, 16), Verdicts{})
	j.Pairs[1].Decided = false
	for policy, want := range map[v1alpha1.EarlyStopPolicy]bool{
		v1alpha1.EarlyStopWhenDecided: false, v1alpha1.EarlyStopWhenOverallDecided: true, v1alpha1.EarlyStopDisabled: false,
	} {
		if j.Policy = policy; j.Decided() != want {
			t.Errorf("%s: decided is %t, want %t", policy, !want, want)
		}
	}
	j.Policy = v1alpha1.EarlyStopWhenOverallDecided
	// A variant whose points do not count together, but for one, has its answer at that.
	other := j.Pairs[1]
	other.Variant = "other"
	if j.Pairs = append(j.Pairs, other); j.Decided() {
		t.Error("decided, although a variant without an overall answer is not")
	}
	j.Pairs = j.Pairs[:2]
	j.Overall[0].Decided = false
	if j.Decided() {
		t.Error("decided, although the points together are not")
	}
	if one := (Verdicts{Policy: j.Policy, Pairs: j.Pairs[:1]}); !one.Decided() {
		t.Error("the one point is decided, and the comparison is not")
	}
	runs := measuredRuns(s, p, 8)
	before := Judge(s, p, runs, Verdicts{})
	before.Pairs[0].Variant = "remembered"
	if j := Judge(s, p, runs, before); j.Pairs[0].Variant != "remembered" {
		t.Error("the same rounds are judged again")
	}
	runs.Members[1].Measured.Metric.Unit = "s"
	if j := Judge(s, p, runs, Verdicts{}); j.Pairs[0].Cause != stats.MetricsDiffer || j.Pairs[0].BaselineMetric == nil {
		t.Errorf("different units were compared: %+v", j.Pairs[0].Comparison)
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
	p := planOfComparison(t, s)
	runs := measuredRuns(s, p, 8)
	for i := range 8 {
		m := runs.Members[i].Measured
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
			m.add(0, metric, []*result.Record{{Summary: &result.Summary{Metrics: []result.Metric{metric}}}})
		}
	}
	got := Judge(s, p, runs, Verdicts{}).Pairs[0].Costs
	want := []stats.Cost{{Name: "fsyncsPerTransaction", Unit: "fsyncs/transaction", Baseline: 1, Variant: 0.1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
}
