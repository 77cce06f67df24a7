// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// pair is a comparison of lazy with durable with that outcome.
func pair(better string, c stats.Comparison, parameters ...string) stats.Paired {
	p := stats.Paired{
		Variant: "lazy", Baseline: "durable", Metric: result.Metric{Better: better}, EquivalencePercent: 5, FirstLook: 4, Comparison: c,
	}
	for _, value := range parameters {
		p.Parameters = map[string]string{"rowsPerCommit": value}
	}
	return p
}

var (
	hardly    = stats.Comparison{Verdict: stats.Faster, Ratio: 1.54, Low: 1.031, High: 2.109}
	threefold = stats.Comparison{Verdict: stats.Faster, Ratio: 3.117, Low: 2.803, High: 3.441}
	third     = stats.Comparison{Verdict: stats.Faster, Ratio: 1 / 3.117, Low: 1 / 3.441, High: 1 / 2.803}
	slightly  = stats.Comparison{Verdict: stats.Faster, Ratio: 1.081, Low: 1.041, High: 1.126}
	slower    = stats.Comparison{Verdict: stats.Slower, Ratio: 0.929, Low: 0.908, High: 0.951}
	equal     = stats.Comparison{Verdict: stats.Equal, Ratio: 1.002, Low: 0.981, High: 1.029}
	none      = stats.Comparison{Verdict: stats.NoDifferenceShown, Ratio: 1.02, Low: 0.96, High: 1.08, Detectable: 0.061}
	noisy     = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Rounds: 20, RoundsNeeded: 60, Detectable: 0.21}
	wide      = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Ratio: 1.08, Low: 0.95, High: 1.23}
	few       = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 3}
)

// inUnit is a comparison of a metric of which less is better. Its verdict follows from the ratio.
func inUnit(unit string, c stats.Comparison) stats.Paired {
	c.Verdict = stats.Faster
	if c.Ratio > 1 {
		c.Verdict = stats.Slower
	}
	p := pair("lower", c)
	p.Metric.Name, p.Metric.Unit = "cost", unit
	return p
}

func TestVerdictsInWords(t *testing.T) {
	for _, tc := range []struct {
		paired stats.Paired
		want   string
	}{
		{pair("higher", threefold), "lazy is 3.1× as fast as durable (2.8–3.4×)"},
		{pair("higher", hardly), "lazy is 1.5× as fast as durable (1.03–2.11×)"},
		{inUnit("s", third), "lazy is 3.1× as fast as durable (2.8–3.4×)"},
		{inUnit("s", slower), "lazy takes 7.1% less time than durable (4.9–9.2%)"},
		{inUnit("µs", slightly), "lazy takes 8.1% more time than durable (4.1–13%)"},
		{inUnit("s", threefold), "lazy takes 3.1× as long as durable (2.8–3.4×)"},
		{inUnit("fsyncs/row", third), "cost is 68% lower with lazy than with durable (64–71%)"},
		{pair("higher", slightly), "lazy is 8.1% faster than durable (4.1–13%)"},
		{pair("higher", slower), "lazy is 7.1% slower than durable (4.9–9.2%)"},
		{pair("higher", equal), "lazy and durable are equal within 5% (ratio 0.98–1.03)"},
		{pair("higher", none), "no difference shown between lazy and durable (ratio 0.96–1.08); a difference of 6.1% would probably have been detected"},
		{pair("higher", few), "cannot say whether lazy differs from durable: too few rounds (3): an answer takes at least 4"},
		{pair("higher", wide), "1.08× (0.95–1.23) from durable to lazy: not decided: the ratios vary too much between rounds"},
		{pair("higher", noisy), "cannot say whether lazy differs from durable: the ratios vary too much between rounds; " +
			"a difference of 5% would take about 60 rounds to show; a difference of 21% would probably have been detected"},
	} {
		must.Same(t, "text", tc.want, tc.paired.String())
	}
}

// One stalled round of six moves neither median, and shows in the worst value of its side.
func TestWorst(t *testing.T) {
	for better, want := range map[string][2]float64{"higher": {0.9, 0.5}, "lower": {1.1, 1.2}} {
		p := pair(better, slightly)
		p.BaselineValues, p.Values = []float64{10, 9, 10, 11, 10, 10}, []float64{20, 20, 10, 20, 20, 24}
		baseline, variant := p.Worst()
		must.Same(t, better, want, [2]float64{baseline, variant})
	}
}

func TestAnswer(t *testing.T) {
	other := pair("higher", slightly)
	other.Variant = "eager"
	for name, tc := range map[string]struct {
		list []stats.Paired
		want string
	}{
		"nothing":            {nil, ""},
		"one":                {[]stats.Paired{pair("higher", slower)}, "lazy is 7.1% slower than durable (4.9–9.2%)"},
		"one point":          {[]stats.Paired{pair("higher", threefold, "1")}, "lazy is 3.1× as fast as durable (2.8–3.4×) at rowsPerCommit=1"},
		"points":             {[]stats.Paired{pair("higher", slightly, "16"), pair("higher", threefold, "1"), pair("higher", equal, "1024")}, "lazy is 3.1× as fast as durable (2.8–3.4×) at rowsPerCommit=1; 2 of 3 points differ"},
		"variants":           {[]stats.Paired{pair("higher", threefold), other}, "lazy is 3.1× as fast as durable (2.8–3.4×); 2 of 2 pairs differ"},
		"all equal":          {[]stats.Paired{pair("higher", equal, "1"), pair("higher", equal, "2")}, "equal within 5% for all 2 points"},
		"some equal":         {[]stats.Paired{pair("higher", equal, "1"), pair("higher", none, "2")}, "equal within 5% for 1 of 2 points; no difference shown for the others"},
		"none":               {[]stats.Paired{pair("higher", none, "1"), pair("higher", none, "2")}, "no difference shown for any of 2 points"},
		"few of both":        {[]stats.Paired{pair("higher", none, "1"), pair("higher", few, "2")}, "no difference shown for 1 of 2 points; cannot say for the others"},
		"for several causes": {[]stats.Paired{pair("higher", noisy, "1"), pair("higher", few, "2")}, "cannot say for any of 2 points"},
		"equal or unknown":   {[]stats.Paired{pair("higher", equal, "1"), pair("higher", none, "2"), pair("higher", few, "3")}, "equal within 5% for 1 of 3 points; cannot say for the others"},
		"too few":            {[]stats.Paired{pair("higher", few, "1"), pair("higher", few, "2")}, "cannot say: too few rounds (3): an answer takes at least 4"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "text", tc.want, stats.AnswerOf(nil, tc.list).Text)
		})
	}
}

// A variant whose metric is another one than the baseline's is not compared.
func TestMetricsDiffer(t *testing.T) {
	p := pair("higher", stats.Comparison{})
	p.Values, p.BaselineValues = []float64{1, 2}, []float64{1, 2}
	p.Measures(result.Metric{Name: "rowsPerSecond", Unit: "rows/s"}, result.Metric{Name: "totalSeconds", Unit: "s"})
	p.Judge(stats.Design{MaxRounds: 2, Comparisons: 1})
	if p.Verdict != stats.CannotSay || p.Cause != stats.MetricsDiffer || p.Answered() || p.String() != "cannot say whether lazy differs from durable: different metrics: totalSeconds in s and rowsPerSecond in rows/s" {
		t.Errorf("%+v: %s", p.Comparison, &p)
	}
}

func measured(better string, values ...[]float64) []stats.Point {
	var points []stats.Point
	for _, v := range values {
		points = append(points, stats.Point{Metric: result.Metric{Better: better}, Values: v, Summary: stats.Summarize(v)})
	}
	return points
}

func TestStand(t *testing.T) {
	cases := map[string]struct {
		points []stats.Point
		want   stats.Standing
	}{
		"nothing":                    {measured("higher", nil, nil), stats.Standing{Best: -1}},
		"one point":                  {measured("higher", []float64{1, 2, 3}), stats.Standing{Best: 0}},
		"far apart":                  {measured("higher", []float64{100, 101, 99}, []float64{200, 203, 197}, nil), stats.Standing{Best: 1}},
		"far apart, lower is better": {measured("lower", []float64{100, 101, 99}, []float64{200, 203, 197}), stats.Standing{Best: 0}},
		// What the sample tproch-load once announced as the best of two.
		"cannot be told apart": {measured("lower", []float64{7.118, 6.63, 8.842}, []float64{7.36, 6.329, 8.584}), stats.Standing{Best: 0, Rivals: []int{1}}},
		"two trials":           {measured("higher", []float64{100, 100}, []float64{200, 200}), stats.Standing{Best: 1, Rivals: []int{0}}},
		"one of three":         {measured("higher", []float64{100, 101, 99}, []float64{200, 203, 197}, []float64{199, 204, 198}), stats.Standing{Best: 1, Rivals: []int{2}}},
		// The machine halves its rate in every second round, which hits both points.
		"paired":          {measured("higher", []float64{100, 50, 101, 49}, []float64{110, 55, 111, 54}), stats.Standing{Best: 1}},
		"a value of zero": {measured("higher", []float64{0, 0, 0}, []float64{200, 203, 197}), stats.Standing{Best: 1, Rivals: []int{0}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "standing", tc.want, stats.Stand(tc.points))
		})
	}
}

// The truly best point is among those that are named, however many others there are.
func TestTheBestIsAmongThoseThatMayBe(t *testing.T) {
	const runs = 1500
	noises := map[string]func(*rand.Rand) float64{
		"normal": func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() },
		"skewed": func(r *rand.Rand) float64 { return -0.05 * r.ExpFloat64() },
	}
	for name, noise := range noises {
		for _, trials := range []int{3, 6} {
			missed := 0
			for run := range uint64(runs) {
				r := rand.New(rand.NewPCG(run, 1))
				values := make([][]float64, 11)
				for p := range values {
					for range trials {
						values[p] = append(values[p], math.Exp(noise(r)))
					}
				}
				// All are equally good, so that missing the first one is missing the best.
				s := stats.Stand(measured("higher", values...))
				named := s.Best == 0
				for _, i := range s.Rivals {
					named = named || i == 0
				}
				if !named {
					missed++
				}
			}
			if limit := 0.05*runs + 3*math.Sqrt(0.05*0.95*runs); float64(missed) > limit {
				t.Errorf("%s, %d trials: missed in %d of %d runs", name, trials, missed, runs)
			}
		}
	}
}

func TestRatioTo(t *testing.T) {
	points := measured("higher", []float64{100, 100, 100, 100}, []float64{110, 110, 110, 110}, nil, []float64{300, 310, 290, 300})
	got := stats.RatioTo(points, 0)
	if got[0] != (stats.Ratio{Value: 1, Low: 1, High: 1}) || math.Abs(got[1].Value-1.1) > 1e-9 || got[1].High-got[1].Low > 1e-9 {
		t.Errorf("ratios %+v", got)
	}
	if got[2].Bounded() || !math.IsNaN(got[2].Value) {
		t.Errorf("of nothing: %+v", got[2])
	}
	// A mean logarithm of log(300) - 0.00056, a standard deviation of 0.0273, and 4.857 standard errors at 0.05/2.
	if r := got[3]; math.Abs(r.Value-2.999) > 0.001 || math.Abs(r.Low-2.999/math.Exp(0.0663)) > 0.03 || !r.ExcludesOne() {
		t.Errorf("of three times as much: %+v", r)
	}
}

func TestOthers(t *testing.T) {
	points := func(n int, names ...string) []stats.Point {
		var list []stats.Point
		for i := range n {
			parameters := map[string]string{}
			for _, name := range names {
				parameters[name] = string(rune('a' + i))
			}
			list = append(list, stats.Point{Parameters: parameters, Summary: stats.Summary{N: 3}})
		}
		return list
	}
	few := points(3, "x")
	for i := range few {
		few[i].Summary.N = 2
	}
	cases := map[string]struct {
		points   []stats.Point
		standing stats.Standing
		want     string
	}{
		"nothing measured":     {nil, stats.Standing{Best: -1}, ""},
		"one point":            {points(1), stats.Standing{Best: 0}, ""},
		"too few trials":       {few, stats.Standing{Best: 1, Rivals: []int{0, 2}}, "not ranked: fewer than 3 trials each"},
		"alone":                {points(3, "x"), stats.Standing{Best: 1}, ""},
		"one of two":           {points(2, "x"), stats.Standing{Best: 1, Rivals: []int{0}}, "a may be as good"},
		"some":                 {points(9, "x"), stats.Standing{Best: 1, Rivals: []int{0, 2, 5}}, "a, c, f may be as good"},
		"neighbours":           {points(9, "x"), stats.Standing{Best: 8, Rivals: []int{2, 3, 4, 5}}, "c to f may be as good"},
		"around the best":      {points(9, "x"), stats.Standing{Best: 3, Rivals: []int{1, 2, 4, 5}}, "b to f may be as good"},
		"all":                  {points(9, "x"), stats.Standing{Best: 0, Rivals: []int{1, 2, 3, 4, 5, 6, 7, 8}}, "all others may be as good"},
		"many, here and there": {points(9, "x"), stats.Standing{Best: 0, Rivals: []int{1, 2, 4, 5}}, "4 other points may be as good"},
		"two parameters":       {points(9, "x", "y"), stats.Standing{Best: 0, Rivals: []int{1}}, "x=b, y=b may be as good"},
		"two parameters, many": {points(9, "x", "y"), stats.Standing{Best: 0, Rivals: []int{1, 2, 3, 4}}, "4 other points may be as good"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "others", tc.want, tc.standing.Others(tc.points))
		})
	}
}
