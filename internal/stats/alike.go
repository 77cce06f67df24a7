// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

const (
	// permutations that an order of values is compared with. They are drawn from a fixed seed: the same values are always judged
	// alike.
	permutations    = 1999
	permutationSeed = 0x616c696b65 // "alike"
)

// Alike estimates the correlation of neighbours among values in the order in which they were measured, and says whether it is
// above that of values in any order, with an error of level at most. The interval of a median assumes that it is not.
func Alike(values []float64, level float64) (correlation float64, alike bool) {
	if len(values) < MinForInterval {
		return 0, false
	}
	n, mean := len(values), stat.Mean(values, nil)
	squares, deviations := 0.0, make([]float64, n)
	for i, v := range values {
		deviations[i] = v - mean
		squares += deviations[i] * deviations[i]
	}
	observed := neighbours(deviations)
	if observed <= 0 {
		return 0, false
	}
	pcg := rand.New(rand.NewPCG(permutationSeed, uint64(n)))
	as, most := 1, int(level*(permutations+1))
	for i := 0; i < permutations && as <= most; i++ {
		pcg.Shuffle(n, func(a, b int) { deviations[a], deviations[b] = deviations[b], deviations[a] })
		if neighbours(deviations) >= observed {
			as++
		}
	}
	// The estimate from deviations from the sample's own mean is too low by 1/n.
	return min(observed/squares+1/float64(n), 1), as <= most
}

// neighbours sums the products of values that stand next to each other.
func neighbours(deviations []float64) float64 {
	sum := 0.0
	for i, d := range deviations[1:] {
		sum += d * deviations[i]
	}
	return sum
}
