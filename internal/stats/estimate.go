// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	// minForCorrelation is the number of values from which on a correlation of neighbours can be estimated at all.
	minForCorrelation = 6
	// maxCorrelation that is reckoned with: beyond, the error of the mean could not be told from so few values.
	maxCorrelation = 0.8
)

// estimate of a mean and of its standard error.
type estimate struct{ mean, err float64 }

// estimateOf at least two values in the order in which they were measured. If neighbours are alike, the values say less about the
// mean than their number suggests, and the error is larger by that.
func estimateOf(values []float64) estimate {
	n, mean := float64(len(values)), stat.Mean(values, nil)
	squares, products := 0.0, 0.0
	for i, v := range values {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			products += (v - mean) * (values[i-1] - mean)
		}
	}
	if squares == 0 {
		return estimate{mean: mean}
	}
	variance := squares / (n - 1) / n
	if len(values) >= minForCorrelation {
		// The estimate from deviations from the sample's own mean is too low by 1/n.
		variance *= inflation(len(values), products/squares+1/n)
	}
	return estimate{mean: mean, err: math.Sqrt(variance)}
}

// inflation is by how much the variance of the mean of n values is larger if neighbours have this correlation, those two apart
// its square and so on. Negative correlations are not made use of.
func inflation(n int, correlation float64) float64 {
	correlation = min(max(correlation, 0), maxCorrelation)
	factor, power := 1.0, 1.0
	for lag := 1; lag < n; lag++ {
		power *= correlation
		factor += 2 * (1 - float64(lag)/float64(n)) * power
	}
	return factor
}

// estimateOfPairs is that of the logarithms of the ratios of values above 0. Values that are rounded alike are off by the same,
// which no number of rounds takes away: the error of rounding is that of one round.
func estimateOfPairs(baseline, variant []float64) estimate {
	ratios, _ := logRatios(baseline, variant)
	e := estimateOf(ratios)
	step := resolution(baseline, variant)
	for _, values := range [][]float64{baseline, variant} {
		relative := step / stat.Mean(values, nil)
		e.err = math.Hypot(e.err, relative/math.Sqrt(12)) // the standard deviation of an even distribution over a step
	}
	return e
}

// finest is the smallest step of rounded values that is looked for.
const finest = 1e-9

// resolution is the step of values that were rounded: the place of the last decimal digit that any of them has, 1 at most. What
// was measured as an ordinary number has none: 0.
func resolution(samples ...[]float64) float64 {
	for step := 1.0; step > finest; step /= 10 {
		if !slices.ContainsFunc(samples, func(values []float64) bool {
			return slices.ContainsFunc(values, func(v float64) bool { return math.Abs(v/step-math.Round(v/step)) > 1e-6 })
		}) {
			return step
		}
	}
	return 0
}

// logRatios of variant to baseline, round by round; false if a value has no logarithm.
func logRatios(baseline, variant []float64) ([]float64, bool) {
	n := min(len(baseline), len(variant))
	ratios := make([]float64, n)
	for i := range n {
		ratios[i] = math.Log(variant[i] / baseline[i])
		if !(baseline[i] > 0 && variant[i] > 0) || math.IsInf(ratios[i], 0) {
			return ratios, false
		}
	}
	return ratios, true
}
