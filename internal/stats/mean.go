// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// MeanOfTrials is the geometric mean of the values of trials, of which there is one at least: the ratio of two means is then
// the mean of the ratios of trials that were measured next to each other. Of values that have no logarithm, it is the arithmetic
// mean.
func MeanOfTrials(values []float64) float64 {
	switch {
	case len(values) == 1:
		return values[0] // not rounded
	case slices.Min(values) <= 0:
		return stat.Mean(values, nil)
	}
	return stat.GeometricMean(values, nil)
}
