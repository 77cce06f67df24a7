// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// pair is a comparison of which one run is complete, one has failed and one is under way.
func pair(t *testing.T) (*v1alpha1.BenchmarkComparison, *analysis.ComparisonPlan, *analysis.ComparisonRuns) {
	t.Helper()
	comparison := testutil.MakeComparison("pair", "bench", "durable", "lazy").Sweep(1, 16).With(func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Variants[1].Title = "once a second"
		s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Image: "mariadb:10.11"}
		s.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))}
	}).Obj()
	p, err := analysis.PlanComparison(comparison, func(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&run.Spec) })
	if err != nil {
		t.Fatal(err)
	}
	seen := &analysis.ComparisonRuns{
		Members:   make([]analysis.Member, len(p.Members)),
		Variables: []map[string]string{{"sort_buffer_size": "1"}, {"sort_buffer_size": "2"}},
	}
	for i, m := range p.Members[:3] {
		run := plan.MemberRun(comparison, m)
		run.Status.Results.Digest = "sha256:" + run.Name
		if i < 2 {
			run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}}
		}
		seen.Members[i].Run = run
	}
	seen.Members[0].Measured = &analysis.Measurements{
		Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s"}, Values: []float64{math.NaN(), 4000},
	}
	return comparison, p, seen
}

func TestOfComparison(t *testing.T) {
	comparison, p, seen := pair(t)
	rep, err := report.OfComparison(comparison, p, seen, analysis.Verdicts{}, report.Unfinished, "so far")
	if err != nil {
		t.Fatal(err)
	}
	if rep.Name != "pair" || rep.Namespace != "bench" || rep.UID != string(comparison.UID) || rep.Workload != "CommitSize" ||
		rep.Outcome != "Unfinished" || rep.Message != "so far" || rep.Planned != 20 || rep.Seed != 1 ||
		!rep.Started.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v", rep)
	}
	want := []report.ComparisonRun{
		{
			Name: seen.Members[0].Run.Name, Round: 1, Outcome: "Complete", Metric: "rowsPerSecond", Unit: "rows/s",
			Values: []report.ComparisonValue{{Parameters: map[string]string{"rowsPerCommit": "16"}, Value: 4000}},
		},
		{Name: seen.Members[1].Run.Name, Round: 1, Outcome: "Failed"},
	}
	for i := range want {
		m := p.Members[i]
		want[i].Variant, want[i].Seed, want[i].Results = comparison.Spec.Variants[m.Variant].Name, m.Seed, "sha256:"+want[i].Name
	}
	if diff := cmp.Diff(want, rep.Runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	baseline, lazy := rep.Variants[0], rep.Variants[1]
	if !baseline.Baseline || baseline.Besides != "" || baseline.Unrequested != 0 || lazy.Baseline || lazy.Title != "once a second" ||
		lazy.Unrequested != 1 || lazy.OtherVariables.Differing != 1 || lazy.OtherVariables.Differ[0].Name == "" || len(lazy.Differences) != 1 || lazy.SpecDigest == baseline.SpecDigest {
		t.Errorf("variants %+v", rep.Variants)
	}
}

// How often a round measures each point is said where trials alternate, and only there.
func TestOfComparisonOfAlternatingTrials(t *testing.T) {
	comparison, p, seen := pair(t)
	for alternation, want := range map[v1alpha1.Alternation]string{
		v1alpha1.AlternateRuns: "paired", v1alpha1.AlternateTrials: "paired, alternating trials (6 per round)",
	} {
		comparison.Spec.Alternation, p.Alternation = alternation, alternation
		rep, err := report.OfComparison(comparison, p, seen, analysis.Verdicts{}, report.Unfinished, "so far")
		if err != nil {
			t.Fatal(err)
		}
		if text := summaryOfComparison(t, rep); !strings.Contains(text, " of at most 20 rounds, "+want+", seed 1: so far") {
			t.Errorf("%s:\n%s", alternation, text)
		}
	}
}

// The metrics that plots name are in the report besides the first one, each once and where it was measured.
func TestOfComparisonHasMetricsOfPlots(t *testing.T) {
	comparison, p, seen := pair(t)
	comparison.Spec.Plots = v1alpha1.Plots{
		{Name: "headline", Metric: "rowsPerSecond"},
		{Name: "seconds", Metric: result.DurationMetric},
		{Name: "first"},
		{Name: "again", Metric: result.DurationMetric},
		{Name: "lost", Metric: "notMeasured"},
	}
	seen.Members[0].Measured.Others = []analysis.MetricValues{
		{Metric: result.Metric{Name: "bytesPerRow", Unit: "B"}, Values: []float64{7, 8}},
		{Metric: result.Metric{Name: result.DurationMetric, Unit: "s"}, Values: []float64{math.NaN(), 12}},
	}
	rep, err := report.OfComparison(comparison, p, seen, analysis.Verdicts{}, report.Unfinished, "so far")
	if err != nil {
		t.Fatal(err)
	}
	want := []report.ComparisonMetric{{
		Metric: "durationSeconds", Unit: "s", Values: []report.ComparisonValue{{Parameters: map[string]string{"rowsPerCommit": "16"}, Value: 12}},
	}}
	if diff := cmp.Diff(want, rep.Runs[0].Others); diff != "" {
		t.Errorf("the other metrics (-want +got):\n%s", diff)
	}
}

// What was judged is in the report as it is.
func TestOfComparisonHasWhatWasJudged(t *testing.T) {
	comparison, p, seen := pair(t)
	verdicts := analysis.Verdicts{
		Rounds: 3, Pairs: []stats.Paired{{Variant: "lazy", Baseline: "durable"}}, Claims: []claims.Judgement{{Name: "twice"}},
	}
	comparison.Spec.MaxRounds = 1
	rep, err := report.OfComparison(comparison, p, seen, verdicts, "Failed", "why")
	if err != nil {
		t.Fatal(err)
	}
	if rep.Rounds != 3 || len(rep.Pairs) != 1 || rep.Pairs[0].Variant != "lazy" || len(rep.Claims) != 1 || rep.Claims[0].Name != "twice" ||
		rep.Outcome != "Failed" || rep.Message != "why" || len(rep.Findings) != 1 ||
		rep.Findings[0].Code != finding.TooFewRounds {
		t.Errorf("%+v", rep)
	}
}

// The report of the same runs is the same each time.
func TestOfComparisonIsDeterministic(t *testing.T) {
	var reports []*report.Comparison
	for range 2 {
		comparison, p, seen := pair(t)
		rep, err := report.OfComparison(comparison, p, seen, analysis.Verdicts{}, "Complete", "m")
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, rep)
	}
	if diff := cmp.Diff(reports[0], reports[1]); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}
