// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
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
		{nil, []stats.Paired{noisy}, "1.00× (0.50–2.00): not decided"},
		{[]stats.Paired{noisy}, []stats.Paired{missed, noisy}, "1.00× (0.50–2.00) overall: not decided"},
		{nil, []stats.Paired{unused}, "cannot say: setting not exercised"},
		{nil, []stats.Paired{missed}, "cannot say: offered rate not reached"},
		{[]stats.Paired{faster}, []stats.Paired{faster, equal}, "lazy 1.7× as fast (1.6–1.9×) overall"},
		{[]stats.Paired{equal}, []stats.Paired{equal, noisy}, "equal within 5% (0.97–1.03) overall"},
		{[]stats.Paired{equal}, []stats.Paired{equal, faster}, "equal overall; 1 of 2 points differs"},
		{[]stats.Paired{equal, equal}, []stats.Paired{equal, noisy}, "all equal within 5% overall"},
		{nil, []stats.Paired{equal, faster, noisy}, "lazy 1.7× as fast; 1 of 3 differs"},
		{[]stats.Paired{noisy}, []stats.Paired{equal, equal}, "equal within 5%"},
		{nil, []stats.Paired{equal, noisy}, "1 of 2 equal within 5%"},
		{nil, []stats.Paired{none, none}, "no difference shown"},
		{nil, []stats.Paired{none, noisy}, "no difference shown for 1 of 2"},
		{nil, []stats.Paired{noisy, noisy}, "cannot say: too much noise"},
		{nil, []stats.Paired{noisy, missed}, "cannot say for 2 points"},
	} {
		got := stats.AnswerOf(tc.overall, tc.list).Brief
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

var overallDesign = stats.Design{MinRounds: 6, MaxRounds: 12, EarlyStop: true, EquivalencePercent: 5, Comparisons: 4}

// points of a variant b beside a: the ratio at each of them, with some noise, over ten rounds.
func points(variant string, seed uint64, noise float64, ratios ...float64) []stats.Paired {
	r := rand.New(rand.NewPCG(seed, 0))
	var list []stats.Paired
	for i, ratio := range ratios {
		p := stats.Paired{
			Variant: variant, Baseline: "a", Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"},
			Parameters: map[string]string{"size": string(rune('1' + i))},
		}
		for range 10 {
			base := math.Pow(10, float64(i+1)) * (1 + 0.2*r.Float64())
			p.BaselineValues = append(p.BaselineValues, base)
			p.Values = append(p.Values, base*ratio*math.Exp(noise*r.NormFloat64()))
		}
		p.Judge(overallDesign)
		list = append(list, p)
	}
	return list
}

// The ratio over all points is the geometric mean of theirs, whatever the sizes of the values.
func TestOverallIsTheGeometricMean(t *testing.T) {
	pairs := points("b", 1, 0, 1.2, 0.9, 2)
	all := overallDesign.Overall(pairs)
	if len(all) != 1 || all[0].Points != 3 || len(all[0].Parameters) != 0 || all[0].Verdict != stats.Faster {
		t.Fatalf("%+v", all)
	}
	if want := math.Cbrt(1.2 * 0.9 * 2); math.Abs(all[0].Ratio/want-1) > 1e-9 {
		t.Errorf("ratio %g, want %g", all[0].Ratio, want)
	}
}

// Pairs and what all of them say together have half of the error each.
func TestOverallHasHalfOfTheError(t *testing.T) {
	half := overallDesign
	half.Together = true
	width := func(p stats.Paired) float64 { return math.Log(p.High / p.Low) }
	alone, shared := points("b", 1, 0.02, 1, 1), points("b", 1, 0.02, 1, 1)
	shared[0].Judge(half)
	eighth := overallDesign // 4 comparisons of half of the error
	eighth.Comparisons = 8
	want := points("b", 1, 0.02, 1, 1)[0]
	if want.Judge(eighth); width(shared[0]) != width(want) || width(shared[0]) <= width(alone[0]) {
		t.Errorf("a pair's interval is %g, want %g; with the whole error it is %g", width(shared[0]), width(want), width(alone[0]))
	}
	if whole, half := overallDesign.Overall(alone)[0], half.Overall(alone)[0]; width(half) <= width(whole) {
		t.Errorf("the interval over all points is %g, with the whole error %g", width(half), width(whole))
	}
}

// Single points may be too noisy for an answer that all of them together have.
func TestOverallSeesWhatSinglePointsDoNot(t *testing.T) {
	pairs := points("b", 5, 0.07, 1.07, 1.07, 1.07, 1.07, 1.07, 1.07)
	for i := range pairs {
		if pairs[i].Answered() {
			t.Fatalf("point %d has an answer: %s", i, pairs[i].String())
		}
	}
	if all := overallDesign.Overall(pairs); all[0].Verdict != stats.Faster {
		t.Errorf("%s", all[0].String())
	}
}

func TestOverallOfWhatCannotBePutTogether(t *testing.T) {
	zero := points("b", 1, 0.01, 1, 1)
	zero[1].Values[2] = 0
	metrics := points("b", 1, 0.01, 1, 1)
	metrics[1].Metric.Name = "queriesPerSecond"
	shorter := points("b", 1, 0.01, 1, 1)
	shorter[1].Values, shorter[1].BaselineValues = shorter[1].Values[:7], shorter[1].BaselineValues[:7]
	cases := map[string]struct {
		pairs []stats.Paired
		want  []stats.Verdict
		cause stats.Cause
	}{
		"nothing":                   {nil, nil, ""},
		"one point":                 {points("b", 1, 0.01, 1), nil, ""},
		"different metrics":         {metrics, nil, ""},
		"a value is zero":           {zero, []stats.Verdict{stats.CannotSay}, stats.NoRatio},
		"a point misses rounds":     {shorter, []stats.Verdict{stats.NoDifferenceShown}, ""},
		"one variant has one point": {append(points("b", 1, 0.01, 1), points("c", 2, 0.01, 1, 1)...), []stats.Verdict{stats.Equal}, ""},
		"two variants, point by point": {
			[]stats.Paired{points("b", 1, 0.01, 1.2)[0], points("c", 2, 0.01, 1)[0], points("b", 3, 0.01, 1.2)[0], points("c", 4, 0.01, 1)[0]},
			[]stats.Verdict{stats.Faster, stats.Equal},
			"",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []stats.Verdict
			for _, p := range overallDesign.Overall(tc.pairs) {
				got = append(got, p.Verdict)
				must.Same(t, "cause", tc.cause, p.Cause)
			}
			must.Same(t, "verdicts", tc.want, got)
		})
	}
}

func TestAnswerOverAllPoints(t *testing.T) {
	cases := map[string]struct {
		pairs []stats.Paired
		want  string
	}{
		"differs, and points do": {
			points("b", 1, 0.001, 1.2, 1, 1.3),
			"Faster of b: b is 16% faster than a (16–16%) over all 3 points; 2 of 3 points differ, most at size=3: 30% faster",
		},
		"differs, and no single point is shown to": {
			points("b", 5, 0.07, 1.07, 1.07, 1.07, 1.07, 1.07, 1.07),
			"Faster of b: b is 6.5% faster than a (4.2–8.9%) over all 6 points; no single point is shown to differ",
		},
		"equal, though points differ": {
			points("b", 1, 0.001, 1.25, 0.8),
			"Equal of b: b and a are equal within 5% (ratio 1.00–1.00) over all 2 points; 2 of 2 points differ, most at size=2: 20% slower",
		},
		"equal at every point": {points("b", 1, 0.001, 1, 1), "Equal of all: equal within 5% for all 2 points"},
		"no answer": {
			points("b", 1, 0.5, 1, 1), "CannotSay of b: 0.96× (0.75–1.18) from a to b: not decided: the ratios vary too much between rounds; " +
				"a difference of 5% would take about 244 rounds to show; a difference of 37% would probably have been detected; cannot say for any of 2 points",
		},
		"no answer of two variants": {
			append(points("b", 1, 0.5, 1, 1), points("c", 2, 0.5, 1, 1)...), "CannotSay of all: cannot say for any of 4 pairs",
		},
		"two variants": {
			append(points("b", 1, 0.001, 1.1, 1.1), points("c", 2, 0.001, 1, 1.5)...),
			"Faster of c: c is 22% faster than a (22–23%) over all 2 points; 3 of 4 pairs differ, most c at size=2: 50% faster",
		},
		"two variants, all equal over all points": {
			append(points("b", 6, 0.003, 1.11, 1/1.11), points("c", 2, 0.003, 1, 1)...),
			"Equal of all: all variants are equal to a within 5% over all points; 2 of 4 pairs differ, most b at size=1: 11% faster",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, of := stats.AnswerOf(overallDesign.Overall(tc.pairs), tc.pairs), "all"
			if a.Pair != nil {
				of = a.Pair.Variant
			}
			must.Same(t, "answer", tc.want, fmt.Sprintf("%s of %s: %s", a.Verdict, of, a.Text))
		})
	}
}
