// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func separate(comparisons int) stats.Design {
	return stats.Design{EquivalencePercent: 5, Comparisons: comparisons}
}

// around n values scatter around a center.
func around(r *rand.Rand, center, cv float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = center * math.Exp(cv*r.NormFloat64())
	}
	return values
}

func TestCompareSeparate(t *testing.T) {
	for name, test := range map[string]struct {
		better            string
		baseline, variant []float64
		verdict           stats.Verdict
		cause             stats.Cause
		ratio, low, high  float64
	}{
		"slower":         {"higher", []float64{100, 101, 99, 102}, []float64{90, 91, 92, 89}, stats.Slower, "", 0.9005, 89.0 / 102, 92.0 / 99},
		"more is slower": {"lower", []float64{100, 101, 99, 102}, []float64{110, 111, 112, 109}, stats.Slower, "", 1.0995, 109.0 / 102, 112.0 / 99},
		"faster":         {"higher", []float64{100, 101, 99, 102}, []float64{300, 301, 302, 299}, stats.Faster, "", 2.99, 299.0 / 102, 302.0 / 99},
		"equal":          {"higher", []float64{100, 101, 99, 100}, []float64{100, 100, 101, 99}, stats.Equal, "", 1, 99.0 / 101, 101.0 / 99},
		"noise":          {"higher", []float64{100, 120, 90, 130}, []float64{100, 120, 90, 130}, stats.CannotSay, stats.Noise, 1, 90.0 / 130, 130.0 / 90},
		"too few":        {"higher", []float64{100, 101, 99}, []float64{50, 51, 49}, stats.CannotSay, stats.TooFewRounds, 0.5, 0, math.Inf(1)},
		"none":           {"higher", nil, []float64{50, 51, 49}, stats.CannotSay, stats.TooFewRounds, 0, 0, math.Inf(1)},
		"zero":           {"higher", []float64{0, 1, 2, 3}, []float64{1, 2, 3, 4}, stats.CannotSay, stats.NoRatio, 0, 0, math.Inf(1)},
		"missing":        {"higher", []float64{1, 2, 3, 4}, []float64{1, 2, math.NaN(), 4}, stats.CannotSay, stats.NoRatio, 0, 0, math.Inf(1)},
	} {
		c := separate(1).CompareSeparate(test.better, test.baseline, test.variant)
		if c.Verdict != test.verdict || c.Cause != test.cause || !c.Decided {
			t.Errorf("%s: %+v", name, c)
		}
		for _, pair := range [][2]float64{{test.ratio, c.Ratio}, {test.low, c.Low}, {test.high, c.High}} {
			if math.Abs(pair[0]-pair[1]) > 1e-3 {
				t.Errorf("%s: %g instead of %g: %+v", name, pair[1], pair[0], c)
			}
		}
	}
}

// With one comparison, a difference is said if and only if the Mann-Whitney test of benchstat finds one at 5%: with any
// numbers of values, and with ties. Where ties are left out of the exact test's distribution, the interval is the more
// careful of the two.
func TestCompareSeparateAgreesWithMannWhitney(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	differ := 0
	for i := range 3000 {
		more := 0
		if i%10 == 0 {
			more = 35
		}
		a, b := around(r, 100, 0.02, 3+r.IntN(10)+more), around(r, 100+4*r.Float64(), 0.02, 3+r.IntN(10)+more)
		p := benchmath.AssumeNothing.Compare(benchmath.NewSample(a, &benchmath.DefaultThresholds),
			benchmath.NewSample(b, &benchmath.DefaultThresholds)).P
		c := separate(1).CompareSeparate("higher", a, b)
		shown := c.Verdict == stats.Faster || c.Verdict == stats.Slower
		if shown != (p <= 0.05) {
			t.Fatalf("%v\n%v\np = %g, but %+v", a, b, p, c)
		}
		if shown {
			differ++
		}
	}
	if differ < 500 || differ > 2500 {
		t.Errorf("%d of 3000 differ: the test tests nothing", differ)
	}
}

func TestFirstSeparate(t *testing.T) {
	for comparisons, want := range map[int]int{0: 4, 1: 4, 3: 5, 10: 6, 30: 7, 1000: 9} {
		must.Same(t, fmt.Sprintf("trials of %d comparisons", comparisons), want, separate(comparisons).FirstSeparate())
	}
}

// The approximation for many values goes on where the exact ranks end.
func TestCompareSeparateOfManyValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	width := func(n int) float64 {
		sum := 0.0
		for range 50 {
			c := separate(1).CompareSeparate("higher", around(r, 100, 0.05, n), around(r, 100, 0.05, n))
			sum += math.Log(c.High / c.Low)
		}
		return sum / 50 * math.Sqrt(float64(n))
	}
	exact, approximate := width(100), width(101)
	if math.Abs(exact/approximate-1) > 0.05 {
		t.Errorf("width·√n is %g with 100 values and %g with 101", exact, approximate)
	}
}

// The noise that was seen says about how many trials would do.
func TestCompareSeparateNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := separate(1).CompareSeparate("higher", around(r, 100, 0.10, 8), around(r, 100, 0.10, 8))
	if c.Cause != stats.Noise || c.RoundsNeeded < 30 || c.RoundsNeeded > 300 {
		t.Fatalf("%+v", c)
	}
	found, needed := 0, c.RoundsNeeded
	for range 200 {
		c := separate(1).CompareSeparate("higher", around(r, 105, 0.10, needed), around(r, 100, 0.10, needed))
		if c.Verdict == stats.Slower {
			found++
		}
	}
	if found < 100 {
		t.Errorf("with %d trials %d of 200 differences of 5%% are found", needed, found)
	}
}

func TestSeparateInWords(t *testing.T) {
	rows := result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}
	for want, p := range map[string]*stats.Paired{
		"new is 10% slower than old (7.1–13%)": {BaselineValues: []float64{100, 101, 99, 102}, Values: []float64{90, 91, 92, 89}},
		"cannot say whether new differs from old: too few trials (4 and 3): an answer takes at least 4 on each side": {
			BaselineValues: []float64{100, 101, 99, 102}, Values: []float64{90, 91, 92},
		},
		"the values vary too much between trials; a difference of 5% would take about": {
			BaselineValues: []float64{100, 120, 90, 130}, Values: []float64{100, 120, 90, 130},
		},
	} {
		p.Variant, p.Baseline, p.Metric, p.Separate = "new", "old", rows, true
		p.Judge(separate(1))
		must.Has(t, p.String(), want)
	}
}

// What differs from run to run widens an interval however many trials there are, and is not made up for by more of them.
func TestCompareSeparateBetweenRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for name, tc := range map[string]struct {
		between, center, cv float64
		trials              int
		verdict             stats.Verdict
		cause               stats.Cause
	}{
		"7%, nothing assumed":      {0, 107, 0.001, 12, stats.Faster, ""},
		"7%, the default":          {stats.DefaultBetweenRuns, 107, 0.001, 12, stats.CannotSay, stats.BetweenRuns},
		"7%, of many trials":       {stats.DefaultBetweenRuns, 107, 0.001, 100, stats.CannotSay, stats.BetweenRuns},
		"12%, the default":         {stats.DefaultBetweenRuns, 112, 0.001, 12, stats.Faster, ""},
		"the same, the default":    {stats.DefaultBetweenRuns, 100, 0.001, 12, stats.CannotSay, stats.BetweenRuns},
		"the same, little assumed": {0.01, 100, 0.001, 12, stats.Equal, ""},
		"scatter, little assumed":  {0.01, 100, 0.1, 6, stats.CannotSay, stats.Noise},
	} {
		design := stats.Design{EquivalencePercent: 5, Comparisons: 1, BetweenRuns: tc.between}
		c := design.CompareSeparate("higher", around(random, 100, tc.cv, tc.trials), around(random, tc.center, tc.cv, tc.trials))
		if c.Verdict != tc.verdict || c.Cause != tc.cause || c.Low > c.Ratio || c.Ratio > c.High {
			t.Errorf("%s: %+v", name, c)
		}
		must.Same(t, fmt.Sprintf("%s: more trials are needed, %d", name, c.RoundsNeeded), tc.cause == stats.Noise, c.RoundsNeeded > 0)
		least := math.Exp(1.95 * math.Sqrt2 * math.Log1p(tc.between))
		if c.High/c.Ratio < least || c.Ratio/c.Low < least {
			t.Errorf("%s: %g–%g is narrower than runs differ, %g", name, c.Low, c.High, least)
		}
	}
	p := stats.Paired{
		Variant: "new", Baseline: "old", Separate: true, Metric: result.Metric{Better: "higher"},
		BaselineValues: around(random, 100, 0.001, 12), Values: around(random, 100, 0.001, 12),
	}
	p.Judge(stats.Design{EquivalencePercent: 5, BetweenRuns: stats.DefaultBetweenRuns})
	if text := p.Why(); !strings.HasPrefix(text, "equal runs may differ by 5%, however many trials they have; a difference of 12%") {
		t.Error(text)
	}
}
