// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

var early = stats.Design{MinRounds: 4, MaxRounds: 20, EarlyStop: true, EquivalencePercent: 5, Comparisons: 1}

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
	baseline := []float64{1000, 1500, 900, 1200, 1400, 1000, 1100, 1300}
	fixed := early
	fixed.EarlyStop, fixed.MaxRounds = false, 6
	short := early
	short.MaxRounds = 6
	tight := short
	tight.EquivalencePercent = 20
	many := early
	many.Comparisons = 1000
	cases := map[string]struct {
		design   stats.Design
		better   string
		baseline []float64
		variant  []float64
		want     stats.Comparison
	}{
		"three times as fast":             {early, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3), stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 4}},
		"three times as slow":             {early, "higher", baseline, times(baseline, 0.33, 0.34, 0.33, 0.32), stats.Comparison{Verdict: stats.Slower, Decided: true, Rounds: 4}},
		"three times as long":             {early, "lower", baseline, times(baseline, 3, 3.1, 2.9, 3), stats.Comparison{Verdict: stats.Slower, Decided: true, Rounds: 4}},
		"a third of the time":             {early, "lower", baseline, times(baseline, 0.33, 0.34, 0.33, 0.32), stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 4}},
		"the same":                        {early, "higher", baseline, times(baseline, 1.001, 0.999, 1.002, 0.998), stats.Comparison{Verdict: stats.Equal, Decided: true, Rounds: 4}},
		"not enough rounds":               {early, "higher", baseline, times(baseline, 3, 3, 3), stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 3}},
		"no rounds":                       {early, "higher", nil, nil, stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds}},
		"the noise of four rounds":        {early, "higher", baseline, times(baseline, 1.2, 0.9, 1.3, 0.95), stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Rounds: 4, RoundsNeeded: 107}},
		"the noise of all rounds":         {short, "higher", baseline, times(baseline, 1.2, 0.9, 1.3, 0.95, 0.8, 1.1), stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Decided: true, Rounds: 6, RoundsNeeded: 115}},
		"it would have been seen":         {tight, "higher", baseline, times(baseline, 1.2, 1, 1.17, 1, 1.16, 1.05), stats.Comparison{Verdict: stats.NoDifferenceShown, Decided: true, Rounds: 6}},
		"too early for a thousand":        {many, "higher", baseline, times(baseline, 3, 3, 3, 3, 3, 3, 3, 3), stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 8}},
		"a look too early":                {fixed, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3, 3), stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 5}},
		"the one look":                    {fixed, "higher", baseline, times(baseline, 3, 3.1, 2.9, 3, 3, 3), stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 6}},
		"a zero":                          {early, "higher", baseline, times(baseline, 1, 1, 0, 1), stats.Comparison{Verdict: stats.CannotSay, Cause: stats.NoRatio, Rounds: 4}},
		"rounds that only one has":        {early, "higher", baseline[:4], times(baseline, 3, 3.1, 2.9, 3, 3), stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 4}},
		"what was excluded stays":         {early, "higher", baseline, times(baseline, 1.1, 1.101, 1.099, 1.1, 0.7, 1.1), stats.Comparison{Verdict: stats.Faster, Decided: true, Rounds: 6}},
		"all values are exactly the same": {early, "higher", baseline, times(baseline, 1, 1, 1, 1), stats.Comparison{Verdict: stats.Equal, Decided: true, Rounds: 4}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.design.Compare(tc.better, tc.baseline, tc.variant)
			ignore := cmpopts.IgnoreFields(stats.Comparison{}, "Ratio", "Low", "High", "Detectable")
			if diff := cmp.Diff(tc.want, got, ignore); diff != "" {
				t.Errorf("comparison (-want +got):\n%s\n%+v", diff, got)
			}
			if got.Rounds > 0 && got.Cause != stats.NoRatio && !(got.Low <= got.Ratio && got.Ratio <= got.High) {
				t.Errorf("the interval %g to %g is not one of %g", got.Low, got.High, got.Ratio)
			}
		})
	}
}

// What is printed for values that somebody can follow with a pocket calculator: four ratios with a mean logarithm of 0.0953 and
// a standard deviation of 0.02, of which 6.12 standard errors of 0.01 are 0.0612.
func TestComparisonByHand(t *testing.T) {
	h := 0.02 * math.Sqrt(0.75)
	variant := []float64{100 * math.Exp(0.0953+h), 100 * math.Exp(0.0953-h), 100 * math.Exp(0.0953+h), 100 * math.Exp(0.0953-h)}
	got := early.Compare("higher", []float64{100, 100, 100, 100}, variant)
	want := stats.Comparison{
		Verdict: stats.Faster, Decided: true, Rounds: 4,
		Ratio: 1.1, Low: math.Exp(0.0953 - 0.0612), High: math.Exp(0.0953 + 0.0612), Detectable: math.Expm1(0.0612 + 0.0084),
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0.001, 0)); diff != "" {
		t.Errorf("comparison (-want +got):\n%s", diff)
	}
}

func TestFirstLook(t *testing.T) {
	for comparisons, want := range map[int]int{0: 4, 1: 4, 2: 5, 3: 5, 10: 6, 30: 7, 1000: 9, 15_000: 11} {
		d := early
		d.Comparisons = comparisons
		if got := d.FirstLook(); got != want {
			t.Errorf("%d comparisons are looked at after %d rounds, want %d", comparisons, got, want)
		}
		d.EarlyStop = false
		if got := d.FirstLook(); got != 20 {
			t.Errorf("%d comparisons that are looked at once: after %d rounds", comparisons, got)
		}
	}
	d := early
	d.MaxRounds, d.Comparisons = 4, 30
	got := d.Compare("higher", []float64{1, 1, 1, 1}, []float64{3, 3, 3, 3})
	if got.Verdict != stats.CannotSay || got.Cause != stats.TooFewRounds || !got.Decided {
		t.Errorf("four rounds of thirty points: %+v", got)
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
