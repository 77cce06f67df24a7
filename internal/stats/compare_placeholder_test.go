// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

func TestCompare(t *testing.T) {
	base := []float64{100, 102, 98, 101, 99, 100}
	times := func(factor float64) []float64 {
		var list []float64
		for i, v := range base {
			list = append(list, v*factor*(1+0.002*float64(i%3-1)))
		}
		return list
	}
	stop := stats.Design{MinRounds: 4, MaxRounds: 20, EarlyStop: true, DifferencePercent: 5, Comparisons: 3}
	fixed := stats.Design{MaxRounds: 6, DifferencePercent: 5, Comparisons: 1}
	for name, tc := range map[string]struct {
		design  stats.Design
		better  string
		variant []float64
		want    stats.Verdict
		decided bool
	}{
		"faster":               {stop, "higher", times(1.2), stats.Faster, true},
		"more is slower":       {stop, "lower", times(1.2), stats.Slower, true},
		"slower":               {fixed, "higher", times(0.9), stats.Slower, true},
		"equal":                {stop, "higher", times(1.001), stats.Equal, true},
		"nothing shown":        {fixed, "higher", []float64{80, 120, 85, 125, 90, 110}, stats.NoDifferenceShown, true},
		"nothing shown so far": {stop, "higher", []float64{80, 120, 85, 125, 90, 110}, stats.NoDifferenceShown, false},
		"too few rounds":       {stop, "higher", times(1.2)[:3], stats.CannotSay, false},
		"one round":            {fixed, "higher", times(1.2)[:1], stats.CannotSay, false},
		"not a number":         {fixed, "higher", []float64{1, 2, math.NaN(), 4, 5, 6}, stats.CannotSay, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.design.Compare(tc.better, base[:len(tc.variant)], tc.variant)
			if c.Verdict != tc.want || c.Decided != tc.decided || c.Rounds != len(tc.variant) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// The interval of a textbook: six differences, 5 degrees of freedom, t = 2.571.
func TestCompareInterval(t *testing.T) {
	ones, logs := make([]float64, 6), []float64{0.1, 0.2, 0.3, 0.1, 0.2, 0.3}
	variant := make([]float64, 6)
	for i := range ones {
		ones[i], variant[i] = 1, math.Exp(logs[i])
	}
	c := stats.Design{MaxRounds: 6, Comparisons: 1}.Compare("higher", ones, variant)
	margin := 2.5706 * math.Sqrt(0.04/5) / math.Sqrt(6)
	if math.Abs(math.Log(c.High)-0.2-margin) > 1e-4 || math.Abs(math.Log(c.Ratio)-0.2) > 1e-9 {
		t.Errorf("%+v, want a margin of %f", c, margin)
	}
}
