// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
			"b is 16% faster than a (16–16%) over all 3 points; 2 of 3 points differ, most at size=3: 30% faster",
		},
		"differs, and no single point is shown to": {
			points("b", 5, 0.07, 1.07, 1.07, 1.07, 1.07, 1.07, 1.07),
			"b is 6.5% faster than a (4.2–8.9%) over all 6 points; no single point is shown to differ",
		},
		"equal, though points differ": {
			points("b", 1, 0.001, 1.25, 0.8),
			"b and a are equal within 5% (ratio 1.00–1.00) over all 2 points; 2 of 2 points differ, most at size=2: 20% slower",
		},
		"equal at every point": {points("b", 1, 0.001, 1, 1), "equal within 5% for all 2 points"},
		"no answer":            {points("b", 1, 0.5, 1, 1), "no answer for any of 2 points"},
		"two variants": {
			append(points("b", 1, 0.001, 1.1, 1.1), points("c", 2, 0.001, 1, 1.5)...),
			"c is 22% faster than a (22–23%) over all 2 points; 3 of 4 pairs differ, most c at size=2: 50% faster",
		},
		"two variants, all equal over all points": {
			append(points("b", 6, 0.003, 1.11, 1/1.11), points("c", 2, 0.003, 1, 1)...),
			"all variants are equal to a within 5% over all points; 2 of 4 pairs differ, most b at size=1: 11% faster",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := stats.AnswerOf(overallDesign.Overall(tc.pairs), tc.pairs).Text
			must.Same(t, "answer", tc.want, got)
		})
	}
}
