// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// measuredRun is a report of a point with these values.
func measuredRun(better string, values ...float64) *report.Report {
	parameters := map[string]string{"rowsPerCommit": "16"}
	var records []*result.Record
	for i, v := range values {
		record := testutil.Record(i+1, 1, parameters, v)
		record.Summary.Metrics[0].Better = better
		records = append(records, record)
	}
	return &report.Report{Run: run("Complete", ""), Points: []stats.Point{stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: records})}}
}

func reproduced(t *testing.T, there, here *report.Report, within, betweenRuns float64) *report.Reproduction {
	t.Helper()
	r := must.Get(report.Reproduce(there, here, within, betweenRuns))(t)
	return r
}

// A run with variants has ratios, and one without has values.
func TestReproduceAnotherKind(t *testing.T) {
	if r, err := report.Reproduce(reportOfComparison(), small(), 0, 0); err == nil {
		t.Errorf("%+v", r)
	}
}

func TestReproduce(t *testing.T) {
	there := []float64{1000, 1010, 990, 1005, 995, 1001}
	times := func(factor float64) []float64 {
		var values []float64
		for _, v := range there {
			values = append(values, v*factor)
		}
		return values
	}
	for name, c := range map[string]struct {
		better  string
		here    []float64
		within  float64
		verdict report.ReproductionVerdict
		detail  string
	}{
		"the same":               {"higher", times(1), 0, report.Reproduced, ""},
		"more":                   {"higher", times(1.2), 0, report.FasterHere, ""},
		"less":                   {"higher", times(0.8), 0, report.SlowerHere, ""},
		"more, lower is better":  {"lower", times(1.2), 0, report.SlowerHere, ""},
		"less, lower is better":  {"lower", times(0.8), 0, report.FasterHere, ""},
		"more, within":           {"higher", times(1.05), 0.1, report.Reproduced, ""},
		"less, within":           {"higher", times(0.95), 0.1, report.Reproduced, ""},
		"more than within":       {"higher", times(1.2), 0.1, report.FasterHere, ""},
		"less than within":       {"higher", times(0.8), 0.1, report.SlowerHere, ""},
		"more, by within or not": {"higher", []float64{1050, 1200, 1100, 1190, 1150, 1120}, 0.1, report.NotComparable, "vary too much"},
		"less, by within or not": {"higher", []float64{950, 800, 900, 810, 850, 880}, 0.1, report.NotComparable, "vary too much"},
		"the same, within":       {"higher", times(1), 0.1, report.Reproduced, ""},
		"scatter within 2":       {"higher", []float64{700, 1300, 800, 1200, 1000, 900}, 0, report.Reproduced, ""},
		"scatter up to 2.5":      {"higher", []float64{700, 1300, 800, 2500, 1000, 1500}, 0, report.NotComparable, "vary too much"},
		"scatter down to 0.45":   {"higher", []float64{450, 1100, 700, 1300, 800, 1000}, 0, report.NotComparable, "vary too much"},
		"scatter":                {"higher", []float64{200, 3000, 400, 2500, 1000, 900}, 0, report.NotComparable, "vary too much"},
		"scatter, little within": {"higher", []float64{700, 1300, 800, 1200, 1000, 900}, 0.1, report.NotComparable, "vary too much"},
		"too few":                {"higher", []float64{1000}, 0, report.NotComparable, "too few trials (6 and 1)"},
		"nothing":                {"higher", nil, 0, report.NotComparable, "it was not measured here"},
	} {
		got := reproduced(t, measuredRun(c.better, there...), measuredRun(c.better, c.here...), c.within, 0).Points[0]
		if got.Verdict != c.verdict || !strings.Contains(got.Detail, c.detail) || c.detail == "" && got.Detail != "" {
			t.Errorf("%s: %+v, want %s %q", name, got, c.verdict, c.detail)
		}
	}
	missing := reproduced(t, measuredRun("higher", there...), &report.Report{}, 0, 0)
	if p := missing.Points[0]; p.Verdict != report.NotComparable || p.Detail != "it was not measured here" {
		t.Errorf("%+v", p)
	}
}

// What is printed of a point is there first, then here; the ratio is of here to there.
func TestReproduceDirection(t *testing.T) {
	there, here := []float64{1000, 1010, 990, 1005, 995, 1001}, []float64{2000, 2020, 1980, 2010, 1990, 2002}
	p := reproduced(t, measuredRun("higher", there...), measuredRun("higher", here...), 0, 0).Points[0]
	if p.There != "1000 rows/s" || p.Here != "2001 rows/s" || math.Abs(p.Ratio-2) > 0.02 || p.Low < 1.9 || p.High > 2.1 {
		t.Errorf("%+v", p)
	}
}

// Numbers of different meaning are not compared.
func TestReproduceOtherMetric(t *testing.T) {
	values := []float64{1000, 1010, 990, 1005, 995, 1001}
	for name, change := range map[string]func(*stats.Point){
		"name": func(p *stats.Point) { p.Metric.Name = "transactionsPerSecond" }, "unit": func(p *stats.Point) { p.Metric.Unit = "rows/min" },
	} {
		here := measuredRun("higher", values...)
		change(&here.Points[0])
		p := reproduced(t, measuredRun("higher", values...), here, 0, 0).Points[0]
		if p.Verdict != report.NotComparable || p.Detail != "what was measured is not the same metric" || p.Ratio != 0 {
			t.Errorf("another %s: %+v", name, p)
		}
	}
}

// The intervals of several points hold together: each is wider than it would be alone.
func TestReproducePointsTogether(t *testing.T) {
	values := []float64{1000, 1010, 990, 1005, 995, 1001, 1003, 997}
	there, here := measuredRun("higher", values...), measuredRun("higher", values...)
	alone := reproduced(t, there, here, 0, 0).Points[0]
	for i := range 9 {
		another := there.Points[0]
		another.Parameters = map[string]string{"rowsPerCommit": strconv.Itoa(100 + i)}
		there.Points, here.Points = append(there.Points, another), append(here.Points, another)
	}
	together := reproduced(t, there, here, 0, 0).Points[0]
	if together.Low >= alone.Low || together.High <= alone.High {
		t.Errorf("%+v of ten points, %+v of one", together, alone)
	}
}

// Without a point there is nothing that could be reproduced.
func TestReproduceNothing(t *testing.T) {
	r := reproduced(t, &report.Report{}, measuredRun("higher", 1000), 0, 0)
	if got := r.Answer(); got != "there is nothing to compare" || len(r.Points) > 0 {
		t.Errorf("%s: %+v", got, r.Points)
	}
}

// Both runs say where they were measured, and what they asked for.
func TestReproduceDifferences(t *testing.T) {
	there, here := runOf("there", around100), runOf("here", around100)
	for _, r := range here.Records {
		fingerprint := *r.Fingerprint
		fingerprint.Kernel = "6.6.0"
		r.Fingerprint, r.Summary.Totals.Rows = &fingerprint, 200
	}
	text := strings.Join(reproduced(t, there, here, 0, 0).Differences, "\n")
	if !strings.Contains(text, "kernel: 6.1.0 → 6.6.0") || !strings.Contains(text, "rows per trial: 100 → 200") {
		t.Errorf("the differences are %s", text)
	}
	comparison := reportOfComparison()
	for _, record := range comparison.Records {
		record.Sides[0].Place.DatabaseNode = "elsewhere"
	}
	text = strings.Join(reproduced(t, reportOfComparison(), comparison, 0, 0).Differences, "\n")
	if !strings.Contains(text, "database node: worker → elsewhere") {
		t.Errorf("the differences of the comparisons are %s", text)
	}
	if got := reproduced(t, runOf("there", around100), runOf("there", around100), 0, 0).Differences; len(got) > 0 {
		t.Errorf("the differences of the same are %q", got)
	}
}

// A comparison is reproduced if its ratios are: the machine may be another one.
func TestReproduceComparison(t *testing.T) {
	there := reportOfComparison()
	there.Pairs = there.Pairs[:2]
	for name, c := range map[string]struct {
		ratio, low, high, within float64
		verdict                  report.ReproductionVerdict
		detail                   string
	}{
		"the same":               {3, 2.8, 3.21, 0, report.Reproduced, ""},
		"overlap":                {3.3, 3.1, 3.5, 0, report.Reproduced, ""},
		"more":                   {4, 3.3, 5, 0, report.OtherRatio, ""},
		"less":                   {1.1, 1.05, 1.2, 0, report.OtherRatio, ""},
		"more, within":           {3.3, 3.22, 3.4, 0.25, report.Reproduced, ""},
		"more, by within or not": {4, 3.3, 5, 0.25, report.NotComparable, "vary too much: the ratio is between 1.03 and 1.79"},
		"more than within":       {5, 4.5, 5.5, 0.25, report.OtherRatio, ""},
		"less than within":       {1.1, 1.05, 1.2, 0.25, report.OtherRatio, ""},
		"the same, within":       {3, 2.8, 3.21, 0.15, report.Reproduced, ""},
		"the same, too wide":     {3, 2.8, 3.21, 0.1, report.NotComparable, "vary too much: the ratio is between 0.87 and 1.15"},
		"scatter up to a triple": {3, 2, 9, 0, report.NotComparable, "vary too much: the ratio is between 0.62 and 3.21"},
		"scatter down to half":   {3, 1.4, 4, 0, report.NotComparable, "vary too much"},
		"no answer":              {0, 0, math.Inf(1), 0, report.NotComparable, "cannot say"},
	} {
		here := reportOfComparison()
		here.Pairs[0].Ratio, here.Pairs[0].Low, here.Pairs[0].High = c.ratio, c.low, c.high
		if c.ratio == 0 {
			here.Pairs[0].Verdict = stats.CannotSay
		}
		r := reproduced(t, there, here, c.within, 0)
		if p := r.Points[0]; p.Verdict != c.verdict || !strings.Contains(p.Detail, c.detail) || r.Points[1].Verdict != report.Reproduced {
			t.Errorf("%s: %+v", name, r.Points)
		}
	}
	here := reportOfComparison()
	here.Pairs = here.Pairs[:1]
	must.Same(t, "reproduced", "reproduced at 1, cannot say at 1 of 2 points", reproduced(t, there, here, 0, 0).Answer())
}

// The ratio of ratios is of here to there, and its interval has both of theirs.
func TestReproduceComparisonDirection(t *testing.T) {
	there, here := reportOfComparison(), reportOfComparison()
	here.Pairs[0].Ratio, here.Pairs[0].Low, here.Pairs[0].High = 4.5, 4, 5
	// Its own comparison has the same variant and point, and another baseline.
	other := here.Pairs[0]
	other.Baseline, other.Ratio, other.Low, other.High = "same", 1, 0.9, 1.1
	here.Pairs = append(here.Pairs, other)
	p := reproduced(t, there, here, 0, 0).Points[0]
	if p.There != "3.00 (2.80–3.21)" || p.Here != "4.50 (4.00–5.00)" || p.Ratio != 1.5 || p.Low != 4/3.21 || p.High != 5/2.8 {
		t.Errorf("%+v", p)
	}
	without := reportOfComparison()
	without.Pairs[0].Low, without.Pairs[0].High = 0, math.Inf(1)
	p = reproduced(t, without, here, 0, 0).Points[0]
	if p.Verdict != report.NotComparable || !strings.HasPrefix(p.Detail, "there was no answer there: ") || p.There != "no ratio" {
		t.Errorf("%+v", p)
	}
}

// Somewhere else, a run may be another 3% slower by chance: a difference of 7% is none then.
func TestReproduceBetweenRuns(t *testing.T) {
	there, here := measuredRun("higher", 1000, 1001, 1002, 1003, 1004, 1005), measuredRun("higher", 930, 931, 932, 933, 934, 935)
	if p := reproduced(t, there, here, 0, 0).Points[0]; p.Verdict != report.SlowerHere {
		t.Errorf("nothing assumed: %+v", p)
	}
	r := reproduced(t, there, here, 0, stats.DefaultBetweenRuns)
	if p := r.Points[0]; p.Verdict != report.Reproduced || *r.BetweenRunsPercent != 3 {
		t.Errorf("3%% between runs: %+v", p)
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil || !strings.Contains(b.String(), "standard deviation of 3% from run to run (--between-runs)") {
		t.Errorf("%v: %s", err, &b)
	}
}

func TestReproductionPrinted(t *testing.T) {
	r := reproduced(t, measuredRun("higher", 1000, 1010, 990, 1005, 995, 1001), measuredRun("higher", 1002, 1009, 991, 1004, 996, 1000), 0, 0)
	var b bytes.Buffer
	must.Do(t, r.Print(&b))
	for _, want := range []string{"# commit-size: reproduced\n", "1000 rows/s", "reproduced", "nothing that Benchrun knows of"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &b)
		}
	}
	r.Differences, r.Points[0].Verdict, r.Points[0].Detail = []string{"kernel: 6.1 there, 6.6 here"}, report.NotComparable, "why"
	b.Reset()
	must.Do(t, r.Print(&b))
	for _, want := range []string{"cannot say at 1 of 1 points", "- kernel: 6.1 there, 6.6 here", "- rowsPerCommit=16: why"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &b)
		}
	}
}
