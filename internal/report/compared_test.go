// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// values of six trials that scatter by 2% around 100.
var around100 = []float64{99, 101, 100, 98, 102, 100.5}

// times are values multiplied by a factor.
func times(factor float64, values []float64) []float64 {
	var list []float64
	for _, v := range values {
		list = append(list, factor*v)
	}
	return list
}

// runOf has a point of rowsPerCommit for each list of values, 1, 2 and so on.
func runOf(name string, points ...[]float64) *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	r.Name, r.UID, r.Planned = name, "uid of "+name, 0
	r.Spec = json.RawMessage(`{"workload":{"type":"CommitSize","commitSize":{"rows":100}},"database":{"image":"mariadb:11.8"}}`)
	for i, values := range points {
		parameters := map[string]string{"rowsPerCommit": fmt.Sprint(i + 1)}
		var records []*result.Record
		for _, v := range values {
			r.Planned++
			records = append(records, testutil.Record(r.Planned, 1, parameters, v))
		}
		r.Records = append(r.Records, records...)
		r.Points = append(r.Points, stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: records}))
	}
	return r
}

func compared(t *testing.T, a, b *report.Report, threshold float64) *report.Compared {
	t.Helper()
	var sides []*report.Side
	for _, r := range []*report.Report{a, b} {
		side := must.Get(report.SideOf(r, "", "", "ref of "+r.Name))(t)
		sides = append(sides, side)
	}
	c := must.Get(report.CompareSides(sides[0], sides[1], 0))(t)
	c.Threshold = threshold
	return c
}

func printedCompared(t *testing.T, printer func(io.Writer, *report.Compared) error, c *report.Compared) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, printer(&b, c))
	return b.String()
}

// everyKind has a regression, a point that became faster, one that is equal, one that cannot be told, and points of one
// side only.
func everyKind() (before, after *report.Report) {
	noisy := []float64{60, 140, 100, 180, 50, 100}
	before = runOf("main", around100, around100, around100, noisy, around100)
	after = runOf("pr-1234", times(0.93, around100), times(2, around100), times(1.001, around100), noisy)
	parameters := map[string]string{"rowsPerCommit": "1024"}
	record := testutil.Record(25, 1, parameters, 100)
	after.Points = append(after.Points, stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: []*result.Record{record}}))
	after.Records = append(after.Records, record)
	after.Started = before.Started.Add(90 * time.Minute)
	// Claims, and which points there are, say nothing about what a trial measures.
	after.Spec = json.RawMessage(`{"workload":{"type":"CommitSize","commitSize":{"rows":200,"sweep":{"rowsPerCommit":[1]}}},
		"database":{"image":"mariadb:12.0"},"claims":[{"name":"c"}],"trials":{"repetitions":6}}`)
	after.Findings = []finding.Finding{finding.OfProgram("the disk was not the same for all trials")}
	for _, r := range after.Records {
		r.Summary.Totals.Rows, r.Place.DatabaseNode = 200, "other"
		fingerprint := *r.Fingerprint
		fingerprint.Kernel = "6.2.0"
		r.Fingerprint = &fingerprint
	}
	for _, r := range append(before.Records, after.Records...) {
		r.Summary.Observed = &result.ObservedSummary{Probe: &result.NodeProbe{}}
		r.Summary.Observed.Probe.Fdatasync = result.FsyncLatency{Calls: 75, Median: 100, P95: 150, Max: 200}
		r.Summary.Observed.Probe.CPU.Median = 10_000
		if r.Place.DatabaseNode == "other" {
			r.Summary.Observed.Probe.Fdatasync.Median, r.Summary.Observed.Probe.CPU.Median = 500, 20_000
		}
	}
	return before, after
}

func TestComparedGolden(t *testing.T) {
	before, after := everyKind()
	comparison := must.Get(report.CompareBaseline(reportOfComparison(), ""))(t)
	suffix := map[string]string{"text": "txt", "markdown": "md", "json": "json", "junit": "junit.xml"}
	for _, f := range report.ComparedFormats() {
		for name, c := range map[string]*report.Compared{"compared": compared(t, before, after, 0.05), "compared-variants": comparison} {
			text := printedCompared(t, f.Print, c)
			if f.Name == "junit" {
				parseJUnit(t, text)
			}
			testutil.Golden(t, name+"."+suffix[f.Name], []byte(text))
			if f.Print(brokenWriter{}, c) == nil {
				t.Errorf("%s: the writer's error is lost", f.Name)
			}
		}
	}
}

// Each error is said, and none of them is an answer.
func TestWhatCannotBeCompared(t *testing.T) {
	good := runOf("main", around100)
	if _, err := report.SideOf(runOf("b"), "", "", ""); err == nil {
		t.Error("a run without points is compared")
	}
	for outcome, r := range map[string]*report.Report{"Failed": runOf("b", around100), report.Unfinished: runOf("b", around100), "": runOf("b")} {
		r.Outcome = outcome
		must.Refused(report.SideOf(r, "", "", ""))(t, "has not completed")
	}
	cut := runOf("b", around100)
	cut.Records = cut.Records[:5]
	must.Refused(report.SideOf(cut, "", "", ""))(t, "5 of 6 trials")
	must.Refused(report.SideOf(good, "", "nothing", ""))(t, "rowsPerSecond, clientCPUPerRow")
	side := func(r *report.Report) *report.Side {
		s := must.Get(report.SideOf(r, "", "", ""))(t)
		return s
	}
	must.Refused(report.CompareSides(side(good), side(good), 0))(t, "both are main")
	other := single()
	other.UID, other.Planned = "other", 1
	must.Refused(report.CompareSides(side(good), side(other), 0))(t, "no point in common")
}

// Two runs of one name are told apart by what the user calls them.
func TestComparedNames(t *testing.T) {
	after := runOf("main", around100)
	after.UID = "another"
	before := runOf("main", around100)
	a, errA := report.SideOf(before, "", "", "./old/")
	b, errB := report.SideOf(after, "", "", "./new/")
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if c, err := report.CompareSides(a, b, 0); err != nil || c.Baseline != "./old/" || c.Variant != "./new/" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Another metric than the first is compared if it is asked for; other units do not compare.
func TestComparedMetric(t *testing.T) {
	before, after := runOf("main", around100), runOf("b", around100)
	for _, r := range after.Records {
		r.Summary.Metrics[1].Value *= 2
	}
	sides := func(metric string) *report.Compared {
		a, errA := report.SideOf(before, "", metric, "")
		b, errB := report.SideOf(after, "", metric, "")
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		c := must.Get(report.CompareSides(a, b, 0))(t)
		return c
	}
	if p := sides("clientCPUPerRow").Pairs[0]; p.Verdict != stats.Slower || p.Ratio != 2 {
		t.Errorf("%+v", p)
	}
	for _, r := range after.Records {
		r.Summary.Metrics[1].Unit = "ns"
	}
	if p := sides("clientCPUPerRow").Pairs[0]; p.Verdict != stats.CannotSay || !strings.Contains(p.String(), "in µs and") {
		t.Errorf("%s", &p)
	}
}

// comparisonToCompare has six whole rounds at one point, of which the comparison has compared lazy with durable.
func comparisonToCompare() *report.Report {
	s := reportOfComparison()
	s.Spec = json.RawMessage(`{"maxRounds":20,"equivalentWithinPercent":5,"earlyStop":{"policy":"WhenDecided","minRounds":6}}`)
	s.Rounds = 6
	s.Points, s.Records = nil, nil
	for round := range s.Rounds {
		for v, variant := range []string{"durable", "lazy", "same"} {
			addSide(s, variant, round+1, map[string]string{"rowsPerCommit": "1"}, []float64{1, 3, 0.8}[v]*around100[round])
		}
	}
	// A round that is not whole does not count.
	addSide(s, "durable", 7, map[string]string{"rowsPerCommit": "1"}, 1)
	s.Pairs, s.Overall = s.Pairs[:1], nil
	s.Pairs[0].BaselineValues, s.Pairs[0].Values, s.Pairs[0].Rounds = around100, times(3, around100), len(around100)
	return s
}

// Two variants are compared round by round, by the comparison's own verdict if it has one.
func TestCompareVariants(t *testing.T) {
	s := comparisonToCompare()
	own, err := report.CompareVariants(s, "durable", "lazy", "")
	if err != nil || len(own.Pairs) != 1 || cmp.Diff(s.Pairs[0], own.Pairs[0]) != "" {
		t.Errorf("not the comparison's own: %v, %+v", err, own)
	}
	c := must.Get(report.CompareVariants(s, "lazy", "same", "rowsPerSecond"))(t)
	// 3 and 0.8 times values that go up and down: paired, their ratio does not scatter at all. They have one decimal.
	if p := c.Pairs[0]; p.Verdict != stats.Slower || p.Separate || p.Rounds != 6 || p.High-p.Low > 0.01 {
		t.Errorf("%+v", p)
	}
	// A metric that the run has not compared.
	for i, record := range s.Records {
		record.Summary.Metrics[1].Value = 50 + 10*float64(i%3) + 0.1*float64(i%2)
	}
	besides := must.Get(report.CompareBaseline(s, "clientCPUPerRow"))(t)
	if len(besides.Pairs) != 2 || besides.Pairs[0].Variant != "lazy" || besides.Pairs[1].Ratio < 1.39 || besides.Pairs[1].Ratio > 1.41 ||
		besides.Pairs[1].Verdict != stats.Slower || len(besides.Overall) != 0 {
		t.Errorf("%+v", besides.Pairs)
	}
	// A variant that was not measured on: its pair has the rounds that both have.
	dropped := comparisonToCompare()
	for i := range dropped.Points {
		if p := &dropped.Points[i]; p.Variant == "lazy" {
			p.Records, p.Rounds = p.Records[:5], p.Rounds[:5]
		}
	}
	p := &dropped.Pairs[0]
	p.Values, p.BaselineValues, p.Rounds = p.Values[:5], p.BaselineValues[:5], 5
	for _, metric := range []string{"", "clientCPUPerRow"} {
		if c := must.Get(report.CompareBaseline(dropped, metric))(t); len(c.Pairs[0].Values) != 5 || len(c.Pairs[0].BaselineValues) != 5 {
			t.Errorf("%q: %+v", metric, c.Pairs[0])
		}
	}
	s.Records[4].Summary.Metrics[1].Name = "renamed"
	const lacks = "run durable-or-not has clientCPUPerRow of lazy at rowsPerCommit=1 in 5 of 6 rounds: only what every round has can be compared"
	must.Same(t, "error", lacks, must.Text(must.Err(report.CompareBaseline(s, "clientCPUPerRow"))))
	s.Pairs = append(s.Pairs, s.Pairs[0])
	s.Pairs[1].Rounds = 5
	if all := s.PairsTable().Head; !slices.ContainsFunc(all, func(c report.Column) bool { return c.Text == "rounds" && !c.Wide }) {
		t.Errorf("rounds that differ are not shown: %+v", all)
	}
	for _, test := range map[string]struct {
		baseline, variant, metric, says string
		change                          func(*report.Report)
	}{
		"unknown":    {"durable", "nothing", "", `no variant "nothing"; it has durable, lazy, same`, nil},
		"itself":     {"durable", "durable", "", "both are variant durable", nil},
		"metric":     {"durable", "lazy", "other", "run durable-or-not has measured no other; it has rowsPerSecond, clientCPUPerRow, commitP50Micros, commitP99Micros", nil},
		"unfinished": {"durable", "lazy", "", "has not completed: Unfinished", func(s *report.Report) { s.Outcome = report.Unfinished }},
		"no outcome": {"durable", "lazy", "", "has not completed: Unfinished", func(s *report.Report) { s.Outcome = "" }},
		"failed":     {"durable", "lazy", "", "has not completed", func(s *report.Report) { s.Outcome = "Failed" }},
		"empty":      {"durable", "lazy", "", "no pairs", func(s *report.Report) { s.Pairs = nil }},
		"verdict":    {"durable", "lazy", "", "contradicts itself", func(s *report.Report) { s.Pairs[0].Verdict = stats.Slower }},
		"unknown v":  {"durable", "lazy", "", "contradicts itself", func(s *report.Report) { s.Pairs[0].Verdict = "Splendid" }},
		"cut":        {"durable", "lazy", "", "contradicts itself", func(s *report.Report) { s.Pairs[0].Values = s.Pairs[0].Values[:5] }},
		"altered":    {"durable", "lazy", "", "other values than its attempts", func(s *report.Report) { s.Pairs[0].Values[0]++ }},
		"forgotten":  {"durable", "lazy", "", "other values than its attempts", func(s *report.Report) { s.Points = nil }},
		"all points": {"durable", "lazy", "", "contradicts itself", func(s *report.Report) {
			s.Overall = slices.Clone(s.Pairs)
			s.Overall[0].Verdict = stats.Slower
		}},
		"spec": {"lazy", "same", "", "reading the specification", func(s *report.Report) { s.Spec = json.RawMessage(`{`) }},
	} {
		s := comparisonToCompare()
		if test.change != nil {
			test.change(s)
		}
		must.Refused(report.CompareVariants(s, test.baseline, test.variant, test.metric))(t, test.says)
	}
}

// Variants of two comparisons were not measured in the same rounds, even if the comparisons have one name.
func TestCompareVariantsOfTwoComparisons(t *testing.T) {
	for _, name := range []string{"other", "durable-or-not"} {
		other := comparisonToCompare()
		other.Name, other.UID = name, "other"
		a := must.Get(report.SideOf(comparisonToCompare(), "durable", "", ""))(t)
		b := must.Get(report.SideOf(other, "same", "", ""))(t)
		c := must.Get(report.CompareSides(a, b, 0))(t)
		if p := c.Pairs[0]; !p.Separate || p.Verdict != stats.Slower || len(p.BaselineValues) != 6 ||
			c.Baseline != "durable-or-not:durable" || c.Variant != name+":same" {
			t.Errorf("%+v", c)
		}
	}
}

// What a comparison means is decided by its verdict, by its ratio, and by the worse end of its interval.
func TestRulingOfAPair(t *testing.T) {
	slower := stats.Comparison{Verdict: stats.Slower, Ratio: 0.75, Low: 0.5, High: 0.9}
	noise := stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Ratio: 1, Low: 0.75, High: 1.3}
	contradiction := noise
	contradiction.Cause = stats.Contradiction
	shown := noise
	shown.Verdict, shown.Cause = stats.NoDifferenceShown, ""
	for name, tc := range map[string]struct {
		comparison stats.Comparison
		better     string
		threshold  float64
		want       report.Ruling
	}{
		"the ratio is beyond the limit":                    {slower, "higher", 0.2, report.Regression},
		"the ratio is the limit":                           {slower, "higher", 0.25, report.Fine},
		"only the end of the interval is beyond the limit": {slower, "higher", 0.3, report.Fine},
		"the end of the interval is the limit":             {noise, "higher", 0.25, report.Fine},
		"the end of the interval is beyond the limit":      {noise, "higher", 0.24, report.Undecided},
		"no difference is shown":                           {shown, "higher", 0.24, report.Undecided},
		"no difference is shown, and none beyond":          {shown, "higher", 0.25, report.Fine},
		"nothing is a regression":                          {noise, "higher", -1, report.Undecided},
		// 1 / 1.3 is a loss of 23%.
		"lower is better, within the limit":      {noise, "lower", 0.24, report.Fine},
		"lower is better, beyond the limit":      {noise, "lower", 0.22, report.Undecided},
		"the rounds contradict each other":       {contradiction, "higher", 0.9, report.Undecided},
		"no values":                              {stats.Comparison{Verdict: stats.CannotSay}, "higher", 0.9, report.Undecided},
		"no values, lower is better":             {stats.Comparison{Verdict: stats.CannotSay}, "lower", 0.9, report.Undecided},
		"before the first look":                  {stats.Comparison{Verdict: stats.CannotSay, High: math.Inf(1)}, "higher", 0.9, report.Undecided},
		"before the first look, lower is better": {stats.Comparison{Verdict: stats.CannotSay, High: math.Inf(1)}, "lower", 0.9, report.Undecided},
	} {
		p := stats.Paired{Comparison: tc.comparison, Metric: result.Metric{Better: tc.better}}
		must.Same(t, name, tc.want, (&report.Compared{Threshold: tc.threshold}).Of(&p))
	}
}

// How sure a loss must be. Of 4.9% (1 to 9%), which is slower for sure, 5% is possible and 1% is probable.
func TestCertainty(t *testing.T) {
	slower := stats.Comparison{Verdict: stats.Slower, Ratio: 0.951, Low: 0.91, High: 0.99}
	noise := stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Ratio: 0.9, Low: 0.7, High: 1.1}
	equal := stats.Comparison{Verdict: stats.Equal, Ratio: 0.99, Low: 0.97, High: 1.02}
	for name, tc := range map[string]struct {
		comparison stats.Comparison
		threshold  float64
		possible   report.Ruling
		probable   report.Ruling
	}{
		"any loss":                    {slower, 0, report.Regression, report.Regression},
		"below all of it":             {slower, 0.005, report.Regression, report.Regression},
		"below the ratio":             {slower, 0.04, report.Regression, report.Regression},
		"above the ratio":             {slower, 0.05, report.Regression, report.Fine},
		"above all of it":             {slower, 0.10, report.Fine, report.Fine},
		"noise":                       {noise, 0.05, report.Undecided, report.Undecided},
		"equal, within the threshold": {equal, 0.04, report.Fine, report.Fine},
		"equal within 5%, above 1%":   {equal, 0.01, report.Undecided, report.Fine},
		"nothing is one":              {slower, -1, report.Fine, report.Fine},
	} {
		for certainty, want := range map[report.Certainty]report.Ruling{
			report.Possible: tc.possible, report.Probable: tc.probable, "": tc.probable,
		} {
			p := stats.Paired{Comparison: tc.comparison, Metric: result.Metric{Better: "higher"}}
			must.Same(t, fmt.Sprintf("%s, %s", name, certainty), want, (&report.Compared{Threshold: tc.threshold, FailOn: certainty}).Of(&p))
		}
	}
}

// What a pipeline is told of all points together.
func TestRuling(t *testing.T) {
	base := runOf("main", around100, around100)
	for name, test := range map[string]struct {
		after *report.Report
		want  report.Ruling
	}{
		"the same":                             {runOf("b", around100, around100), report.Fine},
		"slower by more":                       {runOf("b", around100, times(0.9, around100)), report.Regression},
		"too few trials":                       {runOf("b", around100, around100[:2]), report.Undecided},
		"too few trials, but a regression too": {runOf("b", times(0.5, around100), around100[:2]), report.Regression},
		"a point is missing":                   {runOf("b", around100), report.Undecided},
	} {
		if got := compared(t, base, test.after, 0.05).Ruling(); got != test.want {
			t.Errorf("%s: %s instead of %s\n%s", name, got, test.want,
				printedCompared(t, report.ComparedText, compared(t, base, test.after, 0.05)))
		}
	}
}

// More is worse where lower is better, and the percentage is that of the sentence.
func TestRulingWhereLowerIsBetter(t *testing.T) {
	lower := func(r *report.Report) *report.Report {
		for i := range r.Points {
			for _, record := range r.Points[i].Records {
				record.Summary.Metrics[0] = result.Metric{Name: "seconds", Unit: "s", Better: "lower", Value: record.Summary.Metrics[0].Value}
			}
			r.Points[i] = stats.Looks{}.Summarized(stats.Point{Parameters: r.Points[i].Parameters, Records: r.Points[i].Records})
		}
		return r
	}
	base := lower(runOf("main", around100))
	c := compared(t, base, lower(runOf("b", times(1.1, around100))), 0.09)
	if c.Ruling() != report.Regression || !strings.Contains(printedCompared(t, report.ComparedText, c), "b takes 10% more time than main") {
		t.Errorf("%s", printedCompared(t, report.ComparedText, c))
	}
	if c.Threshold = 0.095; c.Ruling() != report.Fine {
		t.Error("a loss of 9.1% is a regression beyond 9.5%")
	}
	must.Same(t, "what is faster is a regression", report.Fine, compared(t, base, lower(runOf("b", times(0.9, around100))), 0).Ruling())
}
