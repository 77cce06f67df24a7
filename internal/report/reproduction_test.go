// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// measuredRun is a report of points with these values.
func measuredRun(better, name string, points ...[]float64) *report.Report {
	r := runOf(name, points...)
	for i := range r.Points {
		r.Points[i].Metric.Better = better
		for _, record := range r.Points[i].Records {
			record.Summary.Metrics[0].Better = better
		}
	}
	return r
}

func reproduced(t *testing.T, there, here *report.Report, within, betweenRuns float64) *report.Compared {
	t.Helper()
	return must.Get(report.Reproduce(there, here, [2]string{"there", "here"}, within, betweenRuns))(t)
}

// What cannot be compared is an error: a run with variants has ratios, and one without has values; a run is not another one than
// itself; one that lacks trials is not whole.
func TestReproduceRefuses(t *testing.T) {
	unfinished := runOf("here", around100)
	unfinished.Planned++
	for want, here := range map[string]*report.Report{
		"the other has none": reportOfComparison(), "is both of them": runOf("there", around100),
		"something is missing from its results": unfinished,
	} {
		must.Refused(report.Reproduce(runOf("there", around100), here, [2]string{"there", "here"}, 0, 0))(t, want)
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
	const tooWide = "cannot say at 1 of 1 points"
	for name, c := range map[string]struct {
		better string
		here   []float64
		within float64
		ruling report.Ruling
		says   string
	}{
		"the same":               {"higher", times(1), 0, report.Reproduced, "there: reproduced, 6 trials each  REPRODUCED"},
		"more":                   {"higher", times(1.2), 0, report.Different, "different at 1 of 1 points"},
		"less":                   {"higher", times(0.8), 0, report.Different, "slower"},
		"more, lower is better":  {"lower", times(1.2), 0, report.Different, "higher"},
		"more, within":           {"higher", times(1.05), 0.1, report.Reproduced, "excludes a difference of 10%"},
		"less, within":           {"higher", times(0.95), 0.1, report.Reproduced, ""},
		"more than within":       {"higher", times(1.2), 0.1, report.Different, ""},
		"less than within":       {"higher", times(0.8), 0.1, report.Different, ""},
		"more, by within or not": {"higher", []float64{1050, 1200, 1100, 1190, 1150, 1120}, 0.1, report.Undecided, tooWide},
		"less, by within or not": {"higher", []float64{950, 800, 900, 810, 850, 880}, 0.1, report.Undecided, tooWide},
		"the same, within":       {"higher", times(1), 0.1, report.Reproduced, ""},
		"scatter within 2":       {"higher", []float64{700, 1300, 800, 1200, 1000, 900}, 0, report.Reproduced, "excludes a factor of two"},
		"scatter up to 2.5":      {"higher", []float64{700, 1300, 800, 2500, 1000, 1500}, 0, report.Undecided, tooWide},
		"scatter down to 0.45":   {"higher", []float64{450, 1100, 700, 1300, 800, 1000}, 0, report.Undecided, tooWide},
		"scatter":                {"higher", []float64{200, 3000, 400, 2500, 1000, 900}, 0, report.Undecided, tooWide},
		"scatter, little within": {"higher", []float64{700, 1300, 800, 1200, 1000, 900}, 0.1, report.Undecided, tooWide},
		"too few":                {"higher", []float64{1000}, 0, report.Undecided, "too few trials (6 and 1)"},
	} {
		got := reproduced(t, measuredRun(c.better, "there", there), measuredRun(c.better, "here", c.here), c.within, 0)
		if text := printedCompared(t, report.ComparedText, got); got.Ruling() != c.ruling || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s, want %s and %q:\n%s", name, got.Ruling(), c.ruling, c.says, text)
		}
	}
}

// One point that differs decides, and then one without an answer or without a value here.
func TestReproducePoints(t *testing.T) {
	same, more, wide := []float64{1000, 1010, 990, 1005, 995, 1001}, []float64{1500, 1510, 1490, 1505, 1495, 1501},
		[]float64{200, 3000, 400, 2500, 1000, 900}
	for want, here := range map[string][][]float64{
		"all 2 points are reproduced":                   {same, same},
		"different at 1, cannot say at 1 of 2 points":   {wide, more},
		"reproduced at 1, cannot say at 1 of 2 points":  {same},
		"different at 1, reproduced at 1 of 2 points":   {more, same},
		"cannot say at 2 of 2 points, 6 trials each  C": {wide, wide},
	} {
		must.Has(t, printedCompared(t, report.ComparedText, reproduced(t, runOf("there", same, same), runOf("here", here...), 0, 0)), want)
	}
}

// What is printed of a point is there first, then here; the ratio is of here to there.
func TestReproduceDirection(t *testing.T) {
	there, here := []float64{1000, 1010, 990, 1005, 995, 1001}, []float64{2000, 2020, 1980, 2010, 1990, 2002}
	c := reproduced(t, runOf("there", there), runOf("again", here), 0, 0)
	p := c.Pairs[0]
	if p.Baseline != "there" || p.BaselineValues[0] != 1000 || math.Abs(p.Ratio-2) > 0.02 || p.Low < 1.9 || p.High > 2.1 {
		t.Errorf("%+v", p)
	}
}

// Numbers of different meaning are not compared.
func TestReproduceOtherMetric(t *testing.T) {
	for name, change := range map[string]func(*result.Metric){
		"name": func(m *result.Metric) { m.Name = "transactionsPerSecond" }, "unit": func(m *result.Metric) { m.Unit = "rows/min" },
	} {
		here := runOf("here", around100)
		change(&here.Points[0].Metric)
		for _, record := range here.Records {
			change(&record.Summary.Metrics[0])
		}
		c := reproduced(t, runOf("there", around100), here, 0, 0)
		if text := printedCompared(t, report.ComparedText, c); c.Ruling() != report.Undecided || !strings.Contains(text, "different metrics: rowsPerSecond") {
			t.Errorf("another %s: %s", name, text)
		}
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
	text := printedCompared(t, report.ComparedText, reproduced(t, there, here, 0, 0))
	must.Has(t, text, "kernel: 6.1.0 → 6.6.0", "rows per trial: 100 → 200")
	comparison := variantsHere()
	for _, record := range comparison.Records {
		record.Sides[0].Place.DatabaseNode = "elsewhere"
	}
	if text = printedCompared(t, report.ComparedText, reproduced(t, reportOfComparison(), comparison, 0, 0)); !strings.Contains(text, "database node: worker → elsewhere") {
		t.Errorf("the differences of runs with variants are missing:\n%s", text)
	}
	c := reproduced(t, runOf("there", around100), runOf("here", around100), 0, 0)
	if len(c.Differences)+len(c.Otherwise) > 0 {
		t.Errorf("the same differs in %q, %q", c.Differences, c.Otherwise)
	}
}

// variantsHere is another run of the same variants.
func variantsHere() *report.Report {
	r := reportOfComparison()
	r.UID = "another"
	return r
}

// A run with variants is reproduced if its ratios are: the machine may be another one.
func TestReproduceVariants(t *testing.T) {
	there := reportOfComparison()
	there.Pairs = there.Pairs[:2]
	for name, c := range map[string]struct {
		ratio, low, high, within float64
		ruling                   report.Ruling
	}{
		"the same":               {3, 2.8, 3.21, 0, report.Reproduced},
		"overlap":                {3.3, 3.1, 3.5, 0, report.Reproduced},
		"more":                   {4, 3.3, 5, 0, report.Different},
		"less":                   {1.1, 1.05, 1.2, 0, report.Different},
		"more, within":           {3.3, 3.22, 3.4, 0.25, report.Reproduced},
		"more, by within or not": {4, 3.3, 5, 0.25, report.Undecided},
		"more than within":       {5, 4.5, 5.5, 0.25, report.Different},
		"less than within":       {1.1, 1.05, 1.2, 0.25, report.Different},
		"the same, within":       {3, 2.8, 3.21, 0.15, report.Reproduced},
		"the same, too wide":     {3, 2.8, 3.21, 0.1, report.Undecided},
		"scatter up to a triple": {3, 2, 9, 0, report.Undecided},
		"scatter down to half":   {3, 1.4, 4, 0, report.Undecided},
		"no answer":              {0, 0, math.Inf(1), 0, report.Undecided},
	} {
		here := variantsHere()
		here.Pairs[0].Ratio, here.Pairs[0].Low, here.Pairs[0].High = c.ratio, c.low, c.high
		if c.ratio == 0 {
			here.Pairs[0].Verdict = stats.CannotSay
		}
		r := reproduced(t, there, here, c.within, 0)
		if got := r.Of(&r.Pairs[0]); got != c.ruling || r.Of(&r.Pairs[1]) != report.Reproduced {
			t.Errorf("%s: %s, and %+v", name, got, r.Pairs)
		}
	}
	here := variantsHere()
	here.Pairs = here.Pairs[:1]
	text := printedCompared(t, report.ComparedText, reproduced(t, there, here, 0, 0))
	must.Has(t, text,
		"durable-or-not: reproduced at 1, cannot say at 1 of 2 points, 2 rounds  CANNOT SAY", "lazy / durable", "only in there", "REPRODUCED",
	)
	here.Pairs[0].Variant, here.Pairs[0].Baseline = "durable", "lazy"
	here.Pairs[0].Values, here.Pairs[0].BaselineValues = here.Pairs[0].BaselineValues, here.Pairs[0].Values
	if c, err := report.Reproduce(there, here, [2]string{"there", "here"}, 0, 0); err == nil {
		t.Errorf("other pairs: %+v", c.Pairs)
	}
}

// The ratio of ratios is of here to there, and its interval has both of theirs.
func TestReproduceVariantsDirection(t *testing.T) {
	there, here := reportOfComparison(), variantsHere()
	here.Pairs[0].Ratio, here.Pairs[0].Low, here.Pairs[0].High = 4.5, 4, 5
	c := reproduced(t, there, here, 0, 0)
	p := c.Pairs[0]
	if p.Ratio != 1.5 || p.Low != 4/3.21 || p.High != 5/2.8 || p.BaselineValues[0] != there.Pairs[0].Values[0]/there.Pairs[0].BaselineValues[0] {
		t.Errorf("%+v", p)
	}
	must.Same(t, "text", "ratio is 50% higher with here than with there (25–79%)", p.String())
	for _, open := range []*report.Report{there, here} {
		open.Pairs[0].Verdict, open.Pairs[0].Low, open.Pairs[0].High, open.Pairs[0].Cause = stats.CannotSay, 0, math.Inf(1), stats.TooFewRounds
		c = reproduced(t, there, here, 0, 0)
		if p := &c.Pairs[0]; c.Of(p) != report.Undecided || !strings.Contains(printedCompared(t, report.ComparedText, c), "too few rounds (2)") {
			t.Errorf("%+v", p)
		}
	}
}

// Somewhere else, a run may be another 3% slower by chance: a difference of 7% is none then.
func TestReproduceBetweenRuns(t *testing.T) {
	there, here := runOf("there", []float64{1000, 1001, 1002, 1003, 1004, 1005}), runOf("here", []float64{930, 931, 932, 933, 934, 935})
	if c := reproduced(t, there, here, 0, 0); c.Ruling() != report.Different {
		t.Errorf("nothing assumed: %s", printedCompared(t, report.ComparedText, c))
	}
	c := reproduced(t, there, here, 0, stats.DefaultBetweenRuns)
	text := printedCompared(t, report.ComparedText, c)
	must.Has(t, printedCompared(t, report.ComparedJSON, c), `"withinPercent": 0`)
	if c.Ruling() != report.Reproduced || !strings.Contains(text, "standard deviation of 3% from run to run (--between-runs)") {
		t.Errorf("3%% between runs: %s", text)
	}
}
