// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// MedianRank says which interval of a median to state after n values, if one is stated after each of first, first+1, … last
// values: from the k-th smallest to the k-th largest. 0 says that n values have none. All intervals together contain the median
// with the probability 1-alpha at least, whatever the distribution of the values, and whenever somebody stops because an interval
// pleases.
//
// The number of values below the median is a sum of coin tosses. An interval misses when that number leaves the strip that
// belongs to it; each look has the same level, the largest with which the sums leave the strip with the probability alpha at
// most.
func MedianRank(n, first, last int, alpha float64) int {
	if n < first || n > last {
		return 0
	}
	levels := levelsOf(first, last, alpha)
	// The error grows with the level: the last one that is kept is looked for by halves.
	kept, _ := slices.BinarySearchFunc(levels, alpha, func(level, alpha float64) int {
		if escape(first, last, level) <= alpha {
			return -1
		}
		return 1
	})
	if kept == 0 {
		return 0
	}
	return rankAt(n, levels[kept-1])
}

// levelsOf are all levels up to alpha that an interval can have, ascending.
func levelsOf(first, last int, alpha float64) []float64 {
	var levels []float64
	for n := first; n <= last; n++ {
		for k := 1; 2*k <= n && tail(n, k) <= alpha; k++ {
			levels = append(levels, tail(n, k))
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// tail is the probability that the median is not between the k-th smallest and the k-th largest of n values.
func tail(n, k int) float64 { return 2 * distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(k-1)) }

// rankAt is the largest k whose interval misses with the probability level at most, or 0.
func rankAt(n int, level float64) int {
	k := 0
	for 2*(k+1) <= n && tail(n, k+1) <= level*(1+1e-12) {
		k++
	}
	return k
}

// escape is the probability that the number of values below the median leaves the strip at one of the looks.
func escape(first, last int, level float64) float64 {
	inside := []float64{1} // by the number of values below the median
	escaped := 0.0
	for n := 1; n <= last; n++ {
		next := make([]float64, n+1)
		for below, p := range inside {
			next[below] += p / 2
			next[below+1] += p / 2
		}
		if n >= first {
			k := rankAt(n, level)
			for below := range next {
				if below < k || below > n-k {
					escaped += next[below]
					next[below] = 0
				}
			}
		}
		inside = next
	}
	return escaped
}
