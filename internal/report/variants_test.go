// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// reportOfComparison has three points, of which two differ, and a round in which only one variant was measured.
func reportOfComparison() *report.Report {
	rows := result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}
	s := &report.Report{Variation: report.Variation{Rounds: 2, Alternation: v1alpha1.AlternateRuns, TrialsPerRound: 1}, Run: report.Run{
		Namespace: "bench", Name: "durable-or-not", UID: "uid", Workload: "CommitSize", Seed: 1,
		Outcome: "Complete", Message: "every pair has its answer after 2 rounds", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Planned: 20, Spec: json.RawMessage(specOfComparison),
		Findings: []finding.Finding{finding.Differ(finding.EnvironmentsDiffer, "the runs", "loader nodes", []string{"a", "b"})},
	}}
	s.Variants = []report.Variant{
		{Name: "durable", Title: "every commit on disk", Baseline: true, SpecDigest: "v1:sha256:01"},
		{
			Name: "lazy", Title: "flushed once a second", SpecDigest: "v1:sha256:02",
			Differences: []plan.Difference{{Name: "innodb_flush_log_at_trx_commit", From: "1", To: "2"}}, OtherVariables: &judge.OtherVariables{Same: 214},
		},
		{
			Name: "same", SpecDigest: "v1:sha256:01",
			Volume: "xfs (rw,relatime), I/O scheduler none, fdatasync takes 0.131 ms (median)",
		},
	}
	s.Variables = []judge.ServerVariable{
		{Name: "character_set_server", Values: []*string{new("latin1"), new("utf8mb4"), nil}},
		{Name: "optimizer_switch", Values: []*string{
			new(strings.Repeat("index_merge=on,", 3) + "cset_narrowing=off"), new("index_merge=on,cset_narrowing=on"),
			new("index_merge=on,b=1,sort_union=on,semijoin=on,materialization=on,derived=on"),
		}},
		{Name: "sql_mode", Values: []*string{new(""), new("=x"), new(strings.Repeat("NO_ENGINE_SUBSTITUTION", 3))}},
		{Name: "binlog_gtid_index", Values: []*string{new("unset"), new("ON"), new("unset")}},
	}
	number := planned()
	factor := map[string]map[string]float64{"durable": {"1": 1, "1024": 1}, "lazy": {"1": 3, "1024": 1.01}, "same": {"1": 1, "1024": 1}}
	base := map[string]float64{"1": 3400, "1024": 12500}
	for round := 1; round <= 2; round++ {
		for _, variant := range []string{"durable", "lazy", "same"} {
			for _, value := range []string{"1", "1024"} {
				record := testutil.Record(number(variant, round, value), 1, map[string]string{"rowsPerCommit": value},
					base[value]*factor[variant][value]*float64(100+round)/100)
				pagetest.Add(s, record, variant, round)
			}
		}
	}
	s.Claims = []claims.Judgement{{
		Name: "threefold", Metric: rows.Name, Verdict: claims.DoesNotHold, Detail: "3× (2.80–3.21×; claimed: at least 8×)",
	}}
	disturbed := *s.Records[3]
	disturbed.Outcome, disturbed.Cause, disturbed.Message, disturbed.Summary = result.OutcomeInvalidated, result.CauseEvicted, "evicted", nil
	s.Records = append(s.Records, &disturbed)
	pagetest.Add(s, testutil.Record(number("same", 3, "1"), 1, map[string]string{"rowsPerCommit": "1"}, 9999), "same", 3)
	for _, pair := range []struct {
		variant, value string
		stats.Comparison
	}{
		{"lazy", "1", stats.Comparison{Verdict: stats.Faster, Ratio: 3, Low: 2.8, High: 3.21}},
		{"lazy", "1024", stats.Comparison{Verdict: stats.Equal, Ratio: 1.01, Low: 0.98, High: 1.03}},
		{"same", "1", stats.Comparison{Verdict: stats.NoDifferenceShown, Ratio: 1, Low: 0.9, High: 1.11, Detectable: 0.11}},
		{"same", "1024", stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, RoundsNeeded: 40}},
	} {
		p := stats.Paired{
			Variant: pair.variant, Baseline: "durable", Parameters: map[string]string{"rowsPerCommit": pair.value}, Metric: rows,
			EquivalencePercent: 5, Comparison: pair.Comparison,
		}
		p.Rounds, p.Costs = 2, []stats.Cost{
			{Name: "innodbFsyncsPerTransaction", Unit: "fsyncs/transaction", Baseline: 1.01, Variant: 0.001},
			{Name: "clientMicrosPerRow", Unit: "µs/row", Baseline: 61, Variant: 60},
		}
		for _, n := range []float64{1.01, 1.02} {
			p.BaselineValues = append(p.BaselineValues, base[pair.value]*n)
			p.Values = append(p.Values, base[pair.value]*factor[pair.variant][pair.value]*n)
		}
		s.Pairs = append(s.Pairs, p)
	}
	for i, c := range []stats.Comparison{
		{Verdict: stats.Faster, Ratio: 1.74, Low: 1.68, High: 1.8, Detectable: 0.03},
		{Verdict: stats.CannotSay, Cause: stats.Noise, High: math.Inf(1), Detectable: 0.1, RoundsNeeded: 30},
	} {
		all := s.Pairs[2*i]
		all.Parameters, all.Costs, all.Points, all.Comparison, all.Rounds = nil, nil, 2, c, 2
		s.Overall = append(s.Overall, all)
	}
	return s
}

const specOfComparison = `{"seed":1,"variants":[{"name":"durable"},{"name":"lazy"},{"name":"same"}],` +
	`"rounds":{"atMost":20,"atLeast":6,"until":"Decided"},"workload":{"type":"CommitSize","commitSize":{"sweep":{"rowsPerCommit":[1,1024]}}}}`

// planned is the number that the plan of the comparison gives a trial.
func planned() func(variant string, round int, value string) int {
	run := new(v1alpha1.BenchmarkRun)
	err := json.Unmarshal([]byte(specOfComparison), &run.Spec)
	p, planErr := plan.New(run, v1alpha1.AlternateRuns)
	if err != nil || planErr != nil {
		panic(fmt.Sprint(err, planErr))
	}
	return func(variant string, round int, value string) int {
		return 1 + slices.IndexFunc(p.Trials, func(t plan.Trial) bool {
			return t.Round == round && p.Variants[t.Sides[0]] == variant && p.Points[t.Point].Parameters["rowsPerCommit"] == value
		})
	}
}

// addSide has a variant measured at a point in a round.
func addSide(s *report.Report, variant string, round int, parameters map[string]string, value float64) {
	pagetest.Add(s, testutil.Record(len(s.Records)+1, 1, parameters, value), variant, round)
}

func TestComparisonFilesGolden(t *testing.T) {
	files := must.Get(report.Files(reportOfComparison()))(t)
	for _, f := range files {
		testutil.Golden(t, "comparison."+f.Name, f.Data)
	}
}

// A comparison that failed before a round was whole has a summary as well.
func TestComparisonSummaryWithoutAnAnswer(t *testing.T) {
	s := reportOfComparison()
	s.Outcome, s.Message, s.Rounds, s.Pairs = "Failed", "MemberFailed: run x of round 1 failed: LoaderFailed: no", 0, nil
	var b strings.Builder
	must.Do(t, report.Summary(&b, s))
	for _, want := range []string{"# durable-or-not (failed): cannot say\n", "0 of at most 20 rounds", "LoaderFailed: no", "not every variant was measured"} {
		must.Has(t, b.String(), want)
	}
}

// Few rounds exclude no stalls: beside a difference that stalls would undo, and only there, the report says so.
func TestReadingOfUsualRounds(t *testing.T) {
	for _, tc := range []struct {
		verdict stats.Verdict
		ratio   float64
		rounds  int
		want    bool
	}{
		{stats.Faster, 1.2, 6, true},
		{stats.Faster, 1.3, 6, false},
		{stats.Slower, 0.77, 6, true},
		{stats.Slower, 0.7, 6, false},
		{stats.Faster, 1.06, 24, true},
		{stats.Faster, 1.07, 24, false},
		{stats.Equal, 1.01, 10, false},
		{stats.CannotSay, 1.01, 6, false},
	} {
		s := &report.Report{Pairs: []stats.Paired{{Comparison: stats.Comparison{Verdict: tc.verdict, Ratio: tc.ratio, Rounds: tc.rounds}}}}
		s.Overall = []stats.Paired{{Comparison: stats.Comparison{Verdict: stats.Faster, Ratio: 1.01, Rounds: 60}}}
		if got := strings.Contains(s.Reading(), fmt.Sprintf("%d rounds do not exclude stalls in up to %d%% of", tc.rounds, 300/tc.rounds)); got != tc.want {
			t.Errorf("%+v: %q", tc, s.Reading())
		}
	}
}

// Points without an answer for the same reason are one sentence, with what it would have taken at each.
func TestUndecidedPoints(t *testing.T) {
	undecided := func(variant, value string, rounds int, detectable float64) stats.Paired {
		return stats.Paired{
			Variant: variant, Baseline: "durable", Parameters: map[string]string{"rowsPerCommit": value}, EquivalencePercent: 5,
			Comparison: stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, RoundsNeeded: rounds, Detectable: detectable},
		}
	}
	s := &report.Report{Pairs: []stats.Paired{
		undecided("lazy", "1", 323, 0.58), undecided("lazy", "32", 189, 0.41),
		{Variant: "lazy", Baseline: "durable", Comparison: stats.Comparison{Verdict: stats.Equal, Ratio: 1}},
		undecided("same", "1", 116, 0.31), undecided("same", "32", 122, 0.31), undecided("same", "1024", 392, 0.65),
	}}
	const because = "the ratios vary too much between rounds; a difference of 5% would take about"
	want := []string{
		"rowsPerCommit=1, 32: cannot say whether lazy differs from durable: " + because +
			" 323 rounds to show; a difference of 58% would probably have been detected",
		"everywhere: cannot say whether same differs from durable: " + because +
			" 392 rounds to show; a difference of 65% would probably have been detected",
	}
	must.Same(t, "what is got", want, s.Undecided())
}

// pair is a run with variants of which one side is measured.
func pair(t *testing.T) *judge.Compared {
	t.Helper()
	run := testutil.MakeVariants("pair", "bench", "durable", "lazy").Sweep(1, 16).With(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Variants[1].Title = "once a second"
		s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Image: "mariadb:10.11"}
		s.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))}
	}).Obj()
	c := must.Get(judge.PlanVariants(run, func(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&run.Spec) }))(t)
	c.Alternation = v1alpha1.AlternateRuns
	c.Variants[0].Variables, c.Variants[1].Variables = map[string]string{"sort_buffer_size": "1"}, map[string]string{"sort_buffer_size": "2"}
	points := c.Variants[0].Plan.Points
	c.Sides[0].Points = []stats.Point{
		stats.Looks{}.Summarized(stats.Point{Parameters: points[0].Parameters}),
		stats.Looks{}.Summarized(stats.Point{Parameters: points[1].Parameters, Records: []*result.Record{testutil.Record(1, 1, points[1].Parameters, 4000)}}),
	}
	c.Judge(nil)
	return c
}

func reportOfPair(t *testing.T, c *judge.Compared, outcome, message string) *report.Report {
	t.Helper()
	p := must.Get(plan.New(c.Run, c.Alternation))(t)
	rep := must.Get(report.Of(c.Run, p, nil, c, outcome, message))(t)
	return rep
}

func TestOfVariants(t *testing.T) {
	c := pair(t)
	rep := reportOfPair(t, c, report.Unfinished, "so far")
	if rep.Name != "pair" || rep.Namespace != "bench" || rep.UID != string(c.Run.UID) || rep.Workload != "CommitSize" ||
		rep.Outcome != "Unfinished" || rep.Message != "so far" || rep.Planned != 20 || rep.Seed != 1 ||
		!rep.Started.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v", rep)
	}
	var points []string
	for _, p := range rep.Points {
		points = append(points, p.Name())
	}
	must.Same(t, "points", []string{
		"durable at rowsPerCommit=1", "durable at rowsPerCommit=16", "lazy at rowsPerCommit=1", "lazy at rowsPerCommit=16",
	}, points)
	baseline, lazy := rep.Variants[0], rep.Variants[1]
	if !baseline.Baseline || baseline.OtherVariables != nil || lazy.Baseline || lazy.Title != "once a second" ||
		lazy.OtherVariables.Differing != 1 || lazy.OtherVariables.Differ[0].Name == "" || len(lazy.Differences) != 1 || lazy.SpecDigest == baseline.SpecDigest {
		t.Errorf("variants %+v", rep.Variants)
	}
}

// How often a round measures each point is said where trials alternate, and only there.
func TestOfVariantsOfAlternatingTrials(t *testing.T) {
	c := pair(t)
	c.Run.Spec.Trials.Repetitions = ptr.To[int32](6)
	for alternation, want := range map[v1alpha1.Alternation]string{
		v1alpha1.AlternateRuns: "paired", v1alpha1.AlternateTrials: "paired, alternating trials (6 per round)",
	} {
		c.Alternation = alternation
		if text := printed(t, report.Summary, reportOfPair(t, c, report.Unfinished, "so far")); !strings.Contains(text, " of at most 20 rounds, "+want+", seed 1: so far") {
			t.Errorf("%s:\n%s", alternation, text)
		}
	}
}

// What was judged is in the report as it is.
func TestOfVariantsHasWhatWasJudged(t *testing.T) {
	c := pair(t)
	c.Run.Spec.Rounds.AtMost = 1
	c.Judge(nil)
	c.Rounds, c.Pairs, c.Claims = 3, []stats.Paired{{Variant: "lazy", Baseline: "durable"}}, []claims.Judgement{{Name: "twice"}}
	rep := reportOfPair(t, c, "Failed", "why")
	if rep.Rounds != 3 || len(rep.Pairs) != 1 || rep.Pairs[0].Variant != "lazy" || len(rep.Claims) != 1 || rep.Claims[0].Name != "twice" ||
		rep.Outcome != "Failed" || rep.Message != "why" || len(rep.Findings) != 1 ||
		rep.Findings[0].Code != finding.TooFewRounds {
		t.Errorf("%+v", rep)
	}
}
