// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxExactTrials is the number of values on either side up to which the ranks of an interval are exact. Beyond, they come
// from the normal approximation, which is good to the fourth digit there.
const maxExactTrials = 100

// DefaultBetweenRuns is that of runs of which nothing else is known: a restart of the server moves results by about that much.
const DefaultBetweenRuns = 0.03

// BetweenRuns is the Cause if equal runs differ so much that no number of trials shows the design's difference.
const BetweenRuns Cause = "BetweenRuns"

// CompareSeparate judges values that were not measured in the same rounds: those of two runs, for example. The better
// values are the "higher" or the "lower" ones.
//
// Ratio is the median of all ratios of a value of the variant to a value of the baseline (Hodges and Lehmann), and the
// interval reaches from one of these ratios to another, whose ranks are those of the exact Mann-Whitney test. It holds
// whatever the distribution of the values, as long as they are independent and both sides scatter alike. Each side is
// one run: the design's BetweenRuns widens the interval on both sides, however many trials there are. Nothing else that changed
// between the two measurements is covered.
//
// Rounds of the result is the number of values on the smaller side.
func (d Design) CompareSeparate(better string, baseline, variant []float64) Comparison {
	c := Comparison{
		Verdict: CannotSay, Decided: true, Rounds: min(len(baseline), len(variant)), High: math.Inf(1), Detectable: math.Inf(1),
	}
	ratios, ok := allLogRatios(baseline, variant)
	switch {
	case !ok:
		c.Cause = NoRatio
		return c
	case len(ratios) > 0:
		c.Ratio = math.Exp(middle(ratios))
	}
	rank := separateRank(len(baseline), len(variant), d.level())
	if rank == 0 {
		c.Cause = TooFewRounds
		return c
	}
	low, high := ratios[rank-1], ratios[len(ratios)-rank]
	z := -distuv.UnitNormal.Quantile(d.level() / 2)
	// About the standard error that an interval of this width would come from, if the values were normal.
	within, between := (high-low)/2/z, math.Sqrt2*math.Log1p(d.BetweenRuns)
	center := middle(ratios) // around which an independent error widens the interval
	low, high = center-math.Hypot(center-low, z*between), center+math.Hypot(high-center, z*between)
	c.Low, c.High = math.Exp(low), math.Exp(high)
	c.Detectable = math.Expm1((z + distuv.UnitNormal.Quantile(power)) * math.Hypot(within, between))
	d.judge(&c, low, high, better == "lower")
	c.Decided = true
	if c.Cause == Noise {
		size := 2 / (1/float64(len(baseline)) + 1/float64(len(variant)))
		share := math.Pow((z+distuv.UnitNormal.Quantile(power))*between/d.Margin(), 2) // of runs in the deviation
		if share < 1 {
			c.RoundsNeeded = d.roundsNeeded(within * math.Sqrt(size) / math.Sqrt(1-share))
		} else { // no number of trials would do
			c.Cause = BetweenRuns
		}
	}
	return c
}

// FirstSeparate is the smallest number of values on each side of which CompareSeparate can make a verdict: 4 for one
// comparison, 5 for three, 6 for ten, 7 for thirty, 9 for a thousand.
func (d Design) FirstSeparate() int {
	n := MinForRanks
	for separateRank(n, n, d.level()) == 0 {
		n++
	}
	return n
}

// allLogRatios are the logarithms of the ratios of every value of the variant to every one of the baseline, in ascending
// order; false if a value has no logarithm.
func allLogRatios(baseline, variant []float64) ([]float64, bool) {
	ratios := make([]float64, 0, len(baseline)*len(variant))
	for _, b := range baseline {
		for _, v := range variant {
			ratio := math.Log(v / b)
			if !(b > 0 && v > 0) || math.IsInf(ratio, 0) || math.IsNaN(ratio) {
				return nil, false
			}
			ratios = append(ratios, ratio)
		}
	}
	slices.Sort(ratios)
	return ratios, true
}

// middle of sorted values, of which there is at least one.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// separateRank is how many of the m·n ratios of two samples lie outside of the interval on either side, plus one: the
// interval from the ratio of this rank to that of the same rank from above misses the true ratio with a probability of
// level at most. It is 0 if even the widest interval misses it more often.
func separateRank(m, n int, level float64) int {
	if m == 0 || n == 0 {
		return 0
	}
	if max(m, n) > maxExactTrials {
		mean, deviation := float64(m*n)/2, math.Sqrt(float64(m*n)*float64(m+n+1)/12)
		return max(0, int(math.Floor(mean-0.5+distuv.UnitNormal.Quantile(level/2)*deviation))+1)
	}
	rank, tail := 0, 0.0
	for _, share := range mannWhitney(m, n) {
		if tail += share; tail > level/2 {
			break
		}
		rank++
	}
	return rank
}

// mannWhitney is the distribution of the number of pairs in which a value of the one sample is above a value of the other, if
// both samples, of m and n values, are from the same distribution: the probability of 0, 1, … up to half of all pairs.
func mannWhitney(m, n int) []float64 {
	half := m*n/2 + 1
	// The number of pairs is distributed like a product of the polynomials (1-x^(n+i))/(1-x^i), over i from 1 to m.
	counts := make([]float64, half)
	counts[0] = 1
	total := 1.0
	for i := 1; i <= m; i++ {
		total *= float64(n+i) / float64(i)
		for j := half - 1; j >= n+i; j-- {
			counts[j] -= counts[j-n-i]
		}
		for j := i; j < half; j++ {
			counts[j] += counts[j-i]
		}
	}
	for i := range counts {
		counts[i] /= total
	}
	return counts
}
