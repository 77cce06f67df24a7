// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestBrief(t *testing.T) {
	point := func(parameter, value, unit string, values ...float64) stats.Point {
		p := stats.Point{Metric: result.Metric{Unit: unit, Better: "higher"}, Values: values, Summary: stats.Summarize(values)}
		if parameter != "" {
			p.Parameters = map[string]string{parameter: value}
		}
		return p
	}
	for name, tc := range map[string]struct {
		points []stats.Point
		want   string
	}{
		"nothing":   {[]stats.Point{point("", "", "rows/s")}, ""},
		"one point": {[]stats.Point{point("", "", "rows/s", 1000)}, "1000 rows/s"},
		"a sweep": {
			[]stats.Point{point("rowsPerCommit", "1", "rows/s", 1000), point("rowsPerCommit", "1024", "rows/s", 14970)},
			"14970 rows/s at rowsPerCommit=1024",
		},
		"a long point": {
			[]stats.Point{point("secondaryIndexes", strings.Repeat("9", 30), "rows/s", 2), point("secondaryIndexes", "1", "rows/s", 1)},
			"2 rows/s, best of 2 points",
		},
		"a long unit": {[]stats.Point{point("", "", strings.Repeat("µ", 64), 2)}, "2 " + strings.Repeat("µ", 37) + "…"},
	} {
		must.Same(t, name, tc.want, stats.Brief(tc.points))
	}
}

// Comparisons without an answer are said once for each variant and cause, with the numbers of the one that scatters the most.
func TestMergeUnanswered(t *testing.T) {
	noise := func(variant string, needed int, detectable float64) *stats.Paired {
		p := &stats.Paired{Variant: variant, Baseline: "durable", EquivalencePercent: 5}
		p.Verdict, p.Cause, p.Rounds, p.RoundsNeeded, p.Detectable = stats.CannotSay, stats.Noise, 20, needed, detectable
		return p
	}
	few := &stats.Paired{Variant: "lazy", Baseline: "durable", FirstLook: 4}
	few.Verdict, few.Cause, few.Rounds = stats.CannotSay, stats.TooFewRounds, 3
	var got []string
	for _, u := range stats.MergeUnanswered([]*stats.Paired{
		noise("lazy", 189, 0.075), few, noise("lazy", 323, 0.58), noise("eager", 30, 0.2), noise("lazy", 200, 0.2),
	}) {
		got = append(got, fmt.Sprint(u.From, " ", u.String()))
	}
	const scatter = "the ratios vary too much between rounds; a difference of 5% would take about"
	must.Same(t, "unanswered", []string{
		"[0 2 4] cannot say whether lazy differs from durable: " + scatter + " 323 rounds to show; a difference of 58% would probably have been detected",
		"[1] cannot say whether lazy differs from durable: too few rounds (3): an answer takes at least 4",
		"[3] cannot say whether eager differs from durable: " + scatter + " 30 rounds to show; a difference of 20% would probably have been detected",
	}, got)
}

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
	unused := said(stats.CannotSay, 1, 0.99, 1.01)
	unused.Cause = stats.SettingNotExercised
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
		{nil, []stats.Paired{unused}, "no answer: setting not exercised"},
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

// None of the stages of trials is better than another: the first one leads, and nothing is ranked.
func TestStagesAreNotRanked(t *testing.T) {
	points := measured("higher", []float64{100, 101, 99}, []float64{2000, 2003, 1997}, []float64{5, 6, 4})
	for i, name := range []string{"l.i0", "l.x", "qr100"} {
		points[i].Parameters, points[i].Metric.Unit = map[string]string{result.StageParameter: name}, "operations/s"
		points[i].Records = []*result.Record{{Summary: &result.Summary{Stage: name}}}
	}
	must.Same(t, "headline", "100 operations/s (99–101) at stage=l.i0; 2 other stages", stats.Headline(points))
	must.Same(t, "brief", "100 operations/s at stage=l.i0", stats.Brief(points))
	points[0].Parameters[result.StageParameter] = "a-name-that-is-too-long-for-a-column"
	must.Same(t, "brief", "100 operations/s, first of 3 stages", stats.Brief(points))
	if s := stats.Stand(points); s.Best != 0 || s.Rivals != nil || stats.Ranked(points) {
		t.Errorf("%+v", s)
	}
	points[0].Summary = stats.Summary{}
	must.Same(t, "the best without the first stage", 1, stats.Best(points))
}

// A parameter of the user's own program may be called stage: its points are ranked.
func TestAParameterCalledStage(t *testing.T) {
	points := measured("higher", []float64{100, 101, 99}, []float64{2000, 2003, 1997})
	for i := range points {
		points[i].Parameters = map[string]string{result.StageParameter: string(rune('a' + i))}
		points[i].Records = []*result.Record{{Summary: &result.Summary{}}}
	}
	if got := stats.Best(points); got != 1 || !stats.Ranked(points) {
		t.Errorf("point %d is the best", got)
	}
}
