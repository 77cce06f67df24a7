// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

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
		if got := (&report.Compared{Threshold: tc.threshold}).Of(&p); got != tc.want {
			t.Errorf("%s: %s instead of %s", name, got, tc.want)
		}
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
		proven     report.Ruling
	}{
		"any loss":                    {slower, 0, report.Regression, report.Regression, report.Regression},
		"below all of it":             {slower, 0.005, report.Regression, report.Regression, report.Regression},
		"below the ratio":             {slower, 0.04, report.Regression, report.Regression, report.Fine},
		"above the ratio":             {slower, 0.05, report.Regression, report.Fine, report.Fine},
		"above all of it":             {slower, 0.10, report.Fine, report.Fine, report.Fine},
		"noise":                       {noise, 0.05, report.Undecided, report.Undecided, report.Undecided},
		"equal, within the threshold": {equal, 0.04, report.Fine, report.Fine, report.Fine},
		"equal within 5%, above 1%":   {equal, 0.01, report.Undecided, report.Fine, report.Fine},
		"nothing is one":              {slower, -1, report.Fine, report.Fine, report.Fine},
	} {
		for certainty, want := range map[report.Certainty]report.Ruling{
			report.Possible: tc.possible, report.Probable: tc.probable, "": tc.probable, report.Proven: tc.proven,
		} {
			p := stats.Paired{Comparison: tc.comparison, Metric: result.Metric{Better: "higher"}}
			if got := (&report.Compared{Threshold: tc.threshold, FailOn: certainty}).Of(&p); got != want {
				t.Errorf("%s, %s: %s instead of %s", name, certainty, got, want)
			}
		}
	}
}

// What a pipeline is told.
func TestRuling(t *testing.T) {
	base := runOf("main", around100, around100)
	noisy := []float64{90, 110, 95, 105, 100, 97}
	for name, test := range map[string]struct {
		after     *report.Report
		threshold float64
		want      report.Ruling
	}{
		"the same":                             {runOf("b", around100, around100), 0.05, report.Fine},
		"slower by more":                       {runOf("b", around100, times(0.9, around100)), 0.05, report.Regression},
		"slower, nothing is a regression":      {runOf("b", around100, times(0.9, around100)), -1, report.Fine},
		"slower by less":                       {runOf("b", around100, times(0.9, around100)), 0.15, report.Fine},
		"any loss counts":                      {runOf("b", around100, times(0.95, around100)), 0, report.Regression},
		"faster":                               {runOf("b", around100, times(3, around100)), 0, report.Fine},
		"too few trials":                       {runOf("b", around100, around100[:2]), 0.05, report.Undecided},
		"too few trials, but a regression too": {runOf("b", times(0.5, around100), around100[:2]), 0.05, report.Regression},
		"a point is missing":                   {runOf("b", around100), 0.05, report.Undecided},
		// The interval is about ±10%: no answer within 5%, but it excludes a loss of 20%.
		"noise":                         {runOf("b", noisy, around100), 0.05, report.Undecided},
		"noise that excludes the limit": {runOf("b", noisy, around100), 0.20, report.Fine},
		// A point estimate beyond the limit is no regression while the interval has both sides.
		"noise, slower":              {runOf("b", times(0.93, noisy), around100), 0.05, report.Undecided},
		"noise, nothing is excluded": {runOf("b", noisy, around100), -1, report.Undecided},
	} {
		if got := compared(t, base, test.after, test.threshold).Ruling(); got != test.want {
			t.Errorf("%s: %s instead of %s\n%s", name, got, test.want,
				printedCompared(t, report.ComparedText, compared(t, base, test.after, test.threshold)))
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
			r.Points[i] = stats.Summarized(r.Points[i].Parameters, r.Points[i].Records)
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
	if c := compared(t, base, lower(runOf("b", times(0.9, around100))), 0); c.Ruling() != report.Fine {
		t.Error("what is faster is a regression")
	}
}
