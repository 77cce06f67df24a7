// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var early = stats.Design{MinRounds: 6, MaxRounds: 20, EarlyStop: true, EquivalencePercent: 5, Comparisons: 1}

// times multiplies a baseline, round by round.
func times(baseline []float64, factors ...float64) []float64 {
	var variant []float64
	for i, f := range factors {
		variant = append(variant, baseline[i]*f)
	}
	return variant
}

func TestCompare(t *testing.T) {
	// A baseline that changes by a half from round to round: pairs do not mind.
	baseline := []float64{1000, 1500, 900, 1200, 1400, 1000, 1100, 1300, 950, 1250, 1050, 1350}
	fixed := early
	fixed.EarlyStop, fixed.MaxRounds = false, 6
	short := early
	short.MaxRounds = 6
	tight := short
	tight.EquivalencePercent = 20
	few := fixed
	few.MaxRounds = 4
	many := early
	many.Comparisons = 1000
	cases := map[string]struct {
		design   stats.Design
		better   string
		baseline []float64
		variant  []float64
		want     stats.Comparison
	}{
		"three times as fast": {
			early, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3, 3.05, 2.95),
			stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 6},
		},
		"three times as slow": {
			early, "higher", baseline, times(baseline, 0.33, 0.34, 0.33, 0.32, 0.33, 0.33),
			stats.Comparison{Verdict: stats.Slower, Decided: true, Rounds: 6},
		},
		"three times as long": {
			early, "lower", baseline, times(baseline, 3, 3.1, 2.9, 3, 3.05, 2.95),
			stats.Comparison{Verdict: stats.Slower, Decided: true, Rounds: 6},
		},
		"a third of the time": {
			early, "lower", baseline, times(baseline, 0.33, 0.34, 0.33, 0.32, 0.33, 0.33),
			stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 6},
		},
		"the same": {
			early, "higher", baseline, times(baseline, 1.001, 0.999, 1.002, 0.998, 1, 1.001, 0.999, 1.001, 0.999, 1.001),
			stats.Comparison{Verdict: stats.Equal, Decided: true, Rounds: 10},
		},
		"the same, too early to say so": {
			early, "higher", baseline, times(baseline, 1.001, 0.999, 1.002, 0.998, 1, 1.001, 0.999, 1.001, 0.999),
			stats.Comparison{Verdict: stats.NoDifferenceShown, Rounds: 9},
		},
		"not enough rounds": {
			early, "higher", baseline, times(baseline, 3, 3, 3, 3, 3),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 5},
		},
		"no rounds": {
			early, "higher", nil, nil,
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds},
		},
		"the noise of six rounds": {
			early, "higher", baseline, times(baseline, 1.2, 0.9, 1.3, 0.95, 0.8, 1.1),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Rounds: 6, RoundsNeeded: 115},
		},
		"the noise of all rounds": {
			short, "higher", baseline, times(baseline, 1.2, 0.9, 1.3, 0.95, 0.8, 1.1),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Decided: true, Rounds: 6, RoundsNeeded: 115},
		},
		"it would have been seen": {
			tight, "higher", baseline, times(baseline, 1.12, 0.95, 1.12, 0.96, 1.1, 1),
			stats.Comparison{Verdict: stats.NoDifferenceShown, Decided: true, Rounds: 6},
		},
		"too early for a thousand": {
			many, "higher", baseline, times(baseline, 3, 3, 3, 3, 3, 3, 3, 3),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 8},
		},
		"a look too early": {
			fixed, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3, 3),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 5},
		},
		"the one look": {
			fixed, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3, 3, 3),
			stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 6},
		},
		"fewer rounds than any answer takes": {
			few, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Decided: true, Rounds: 4},
		},
		"a zero": {
			early, "higher", baseline, times(baseline, 1, 1, 0, 1),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.NoRatio, Rounds: 4},
		},
		"rounds that only one has": {
			early, "higher", baseline[:6], times(baseline, 3, 3.1, 2.9, 3, 3, 3, 3),
			stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 6},
		},
		"what was excluded stays": {
			early, "higher", baseline, times(baseline, 1.3, 1.301, 1.299, 1.3, 1.301, 1.299, 1.2, 1.4),
			stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 8},
		},
		"it changed on the way": {
			early, "higher", baseline, times(baseline, 1.1, 1.101, 1.099, 1.1, 1.101, 1.099, 0.8, 0.8, 0.8),
			stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Contradiction, Rounds: 9},
		},
		"all values are exactly the same": {
			early, "higher", baseline, times(baseline, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
			stats.Comparison{Verdict: stats.Equal, Decided: true, Rounds: 10},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.design.Compare(tc.better, tc.baseline, tc.variant)
			ignore := cmpopts.IgnoreFields(stats.Comparison{}, "Ratio", "Low", "High", "Detectable")
			must.Same(t, fmt.Sprintf("comparison %+v", got), tc.want, got, ignore)
			if got.Rounds > 0 && got.Cause != stats.NoRatio && got.Cause != stats.Contradiction && !(got.Low <= got.Ratio && got.Ratio <= got.High) {
				t.Errorf("the interval %g to %g is not one of %g", got.Low, got.High, got.Ratio)
			}
		})
	}
}

// One round of six says the opposite, as it did of publication 002 without a binary log: whenever it comes, there is no "faster", and
// what is printed is one look's: the interval is the mean of all rounds and as much to each side, and it has 1.
func TestOneRoundSaysTheOpposite(t *testing.T) {
	ratios := []float64{1.15, 1.15, 1.13, 1.07, 1.07, 0.81}
	four := early // pairs of five variants
	four.MaxRounds, four.Comparisons = 6, 4
	baseline := []float64{130, 131, 129, 128, 132, 130, 130}
	for at := range ratios {
		turned := slices.Concat(ratios[at:], ratios[:at])
		got := four.Compare("higher", baseline, times(baseline, turned...))
		if got.Verdict != stats.CannotSay || got.Cause != stats.Noise || !got.Decided {
			t.Errorf("%v: %+v", turned, got)
		}
		mean := math.Pow(1.15*1.15*1.13*1.07*1.07*0.81, 1.0/6)
		for what, have := range map[string]float64{"ratio": got.Ratio, "middle of the interval": math.Sqrt(got.Low * got.High)} {
			if math.Abs(have-mean) > 1e-9 {
				t.Errorf("%v: the %s is %g, and the mean of the rounds %g", turned, what, have, mean)
			}
		}
		if got.Low >= 1 || got.High <= 1 {
			t.Errorf("%v: the interval is %g to %g", turned, got.Low, got.High)
		}
	}
	// After a look at six rounds that agree, the outlier leaves the printed mean inside of the printed interval, or there is none.
	four.MaxRounds = 7
	for _, outlier := range []float64{1.3, 1.1, 1, 0.9, 0.81, 0.5} {
		variant := times(baseline, 1.15, 1.15, 1.13, 1.07, 1.07, 1.1, outlier)
		got := four.Compare("higher", baseline, variant)
		if within := got.Low <= got.Ratio && got.Ratio <= got.High; !within && (got.Verdict != stats.CannotSay || got.Cause != stats.Contradiction) {
			t.Errorf("outlier %g: %+v", outlier, got)
		}
		if _, why := four.Interval(variant, baseline, 0.05); (why == "") != (got.Cause != stats.Contradiction) {
			t.Errorf("outlier %g: claims are told %q of %+v", outlier, why, got)
		}
	}
}

// What is printed for values that a reader can follow with a pocket calculator: six ratios with a mean logarithm of 0.0953 and a
// standard deviation of 0.02, looked at once: the interval reaches 2.571 standard errors of 0.00816 to each side.
func TestComparisonByHand(t *testing.T) {
	once := early
	once.EarlyStop, once.MaxRounds = false, 6
	h := 0.02 * math.Sqrt(5.0/6)
	var baseline, variant []float64
	for _, off := range []float64{h, -h, h, -h, h, -h} {
		baseline, variant = append(baseline, 100), append(variant, 100*math.Exp(0.0953+off))
	}
	got := once.Compare("higher", baseline, variant)
	want := stats.Comparison{
		Verdict: stats.Faster, Decided: true, Rounds: 6,
		Ratio: 1.1, Low: math.Exp(0.0953 - 0.0210), High: math.Exp(0.0953 + 0.0210), Detectable: math.Expm1(0.0210 + 0.00687),
	}
	must.Same(t, "comparison", want, got, cmpopts.EquateApprox(0.001, 0))
}

// Whole numbers that do not scatter are not exact: 20.4 and 20.6 look like 20 and 21.
func TestRoundedValues(t *testing.T) {
	once := early
	once.EarlyStop, once.MaxRounds = false, 12
	repeated := func(values ...float64) []float64 {
		var list []float64
		for len(list) < 12 {
			list = append(list, values...)
		}
		return list
	}
	for name, tc := range map[string]struct {
		baseline, variant []float64
		width             float64 // of the interval: 2.201 · 2 · step · √((1/a² + 1/b²)/12)
	}{
		"whole numbers":        {repeated(20), repeated(21), 0.0877},
		"that swing alike":     {repeated(20, 40), repeated(21, 42), 0.0585},
		"tenths":               {repeated(20.1), repeated(21.1), 0.00873},
		"ordinary numbers":     {repeated(20.123456789123), repeated(21.2223334445556), 0},
		"numbers without end":  {repeated(20.0/3, 22.0/3), repeated(21.0/3, 23.1/3), 0},
		"many rows per second": {repeated(200_000), repeated(210_000), 0.00000877},
	} {
		got := once.Compare("higher", tc.baseline, tc.variant)
		if width := math.Log(got.High / got.Low); math.Abs(width-tc.width) > 0.01*tc.width+1e-9 {
			t.Errorf("%s: the interval is %g wide, want %g", name, width, tc.width)
		}
	}
}

// Between looks the answer is that of the last one.
func TestBetweenLooks(t *testing.T) {
	d := early
	d.MaxRounds = 60
	var baseline, variant []float64
	for i := range 24 {
		baseline, variant = append(baseline, 100), append(variant, 100*(1+0.02*float64(i%3)))
	}
	at := d.Compare("higher", baseline[:20], variant[:20])
	after := d.Compare("higher", baseline, variant)
	at.Rounds = after.Rounds
	if diff := cmp.Diff(at, after); diff != "" || after.Rounds != 24 {
		t.Errorf("after 20 and 24 rounds (-want +got):\n%s", diff)
	}
}

func TestFirstLook(t *testing.T) {
	for comparisons, want := range map[int]int{0: 6, 1: 6, 2: 6, 3: 6, 10: 6, 30: 7, 1000: 9, 15_000: 11} {
		d := early
		d.Comparisons = comparisons
		must.Same(t, fmt.Sprintf("rounds after which %d comparisons are looked at", comparisons), want, d.FirstLook())
		d.EarlyStop = false
		must.Same(t, fmt.Sprintf("rounds after which %d comparisons are looked at once", comparisons), 20, d.FirstLook())
	}
	d := early
	d.MaxRounds, d.Comparisons = 6, 30
	got := d.Compare("higher", []float64{1, 1, 1, 1, 1, 1}, []float64{3, 3, 3, 3, 3, 3})
	if got.Verdict != stats.CannotSay || got.Cause != stats.TooFewRounds || !got.Decided {
		t.Errorf("six rounds of thirty points: %+v", got)
	}
}

// Neighbours that are alike cost certainty.
func TestCorrelationIsPaidFor(t *testing.T) {
	baseline := []float64{100, 100, 100, 100, 100, 100, 100, 100}
	late := early
	late.MinRounds = 8
	mixed := late.Compare("higher", baseline, []float64{101, 99, 102, 98, 101, 99, 102, 98})
	waves := late.Compare("higher", baseline, []float64{102, 102, 101, 101, 99, 99, 98, 98})
	if math.Abs(mixed.Ratio-waves.Ratio) > 1e-9 {
		t.Fatalf("the ratios are %g and %g", mixed.Ratio, waves.Ratio)
	}
	if width, alike := mixed.High-mixed.Low, waves.High-waves.Low; alike < 1.3*width {
		t.Errorf("the interval is %g wide, and %g if the same values come in waves", width, alike)
	}
}
