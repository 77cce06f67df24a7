// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// said is a pair with a verdict and the interval of a ratio.
func said(verdict stats.Verdict, ratio, low, high float64) stats.Paired {
	p := stats.Paired{Variant: "lazy", Baseline: "durable", Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}}
	p.Verdict, p.Ratio, p.Low, p.High, p.EquivalencePercent = verdict, ratio, low, high, 5
	return p
}

// A column of a terminal has the answer in the most words that fit.
func TestBriefAnswer(t *testing.T) {
	faster, equal, none := said(stats.Faster, 1.74, 1.6, 1.89), said(stats.Equal, 1, 0.97, 1.03), said(stats.NoDifferenceShown, 1, 0.94, 1.06)
	time := said(stats.Faster, 0.79, 0.7, 0.9)
	time.Metric = result.Metric{Name: "totalSeconds", Unit: "s", Better: "lower"}
	size := said(stats.Slower, 1.2, 1.1, 1.3)
	size.Metric = result.Metric{Name: "sizeBytes", Unit: "bytes", Better: "lower"}
	long := said(stats.Slower, 0.881, 0.7, 0.996)
	long.Variant = strings.Repeat("v", 20)
	early := said(stats.CannotSay, 0, 0, 0)
	early.Cause, early.Rounds, early.FirstLook = stats.TooFewRounds, 2, 6
	noisy := said(stats.CannotSay, 1, 0.5, 2)
	noisy.Cause = stats.Noise
	missed := said(stats.CannotSay, 1, 0.5, 2)
	missed.Cause = stats.RateMissed
	for _, tc := range []struct {
		overall, list []stats.Paired
		want          string
	}{
		{nil, nil, ""},
		{nil, []stats.Paired{faster}, "lazy 1.7× as fast (1.6–1.9×)"},
		{nil, []stats.Paired{time}, "lazy 21% less time (10–30%)"},
		{nil, []stats.Paired{size}, "sizeBytes 20% higher (10–30%)"},
		{nil, []stats.Paired{long}, strings.Repeat("v", 20) + " 12% slower"},
		{nil, []stats.Paired{equal}, "equal within 5% (0.97–1.03)"},
		{nil, []stats.Paired{none}, "no difference shown (0.94–1.06)"},
		{nil, []stats.Paired{early}, "too few rounds for an answer (2 of 6)"},
		{nil, []stats.Paired{noisy}, "no answer: too much noise"},
		{nil, []stats.Paired{missed}, "no answer: offered rate not reached"},
		{[]stats.Paired{faster}, []stats.Paired{faster, equal}, "lazy 1.7× as fast (1.6–1.9×) overall"},
		{nil, []stats.Paired{equal, faster, noisy}, "lazy 1.7× as fast; 1 of 3 differs"},
		{[]stats.Paired{noisy}, []stats.Paired{equal, equal}, "equal within 5%"},
		{nil, []stats.Paired{equal, noisy}, "1 of 2 equal within 5%"},
		{nil, []stats.Paired{none, none}, "no difference shown"},
		{nil, []stats.Paired{none, noisy}, "no difference shown for 1 of 2"},
		{nil, []stats.Paired{noisy, noisy}, "no answer: too much noise"},
		{nil, []stats.Paired{noisy, missed}, "no answer for 2 points"},
	} {
		got := stats.BriefAnswer(tc.overall, tc.list)
		if got != tc.want || utf8.RuneCountInString(got) > 40 {
			t.Errorf("answer %q, want %q", got, tc.want)
		}
	}
}
