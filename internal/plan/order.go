// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math/rand/v2"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// orderStream keeps the order's random numbers apart from those of the data, which come from the same seed.
const orderStream = 0x6f72646572 // "order"

// order lists rounds × points trials. The random numbers are PCG's, whose sequence is specified, drawn in a way that is
// written down here: one seed gives one order, on every machine and with every release of the language.
func order(points, rounds int, how v1alpha1.TrialOrder, seed int64) []Trial {
	trials := make([]Trial, 0, points*rounds)
	pcg := rand.NewPCG(uint64(seed), orderStream) //nolint:gosec // a seed may wrap; nothing here is secret
	switch how {
	case v1alpha1.OrderSequential:
		for p := range points {
			for r := range rounds {
				trials = append(trials, Trial{Round: r + 1, Point: p})
			}
		}
	case v1alpha1.OrderShuffled:
		for r := range rounds {
			for p := range points {
				trials = append(trials, Trial{Round: r + 1, Point: p})
			}
		}
		shuffle(pcg, trials)
	default:
		for r := range rounds {
			round := make([]Trial, points)
			for p := range points {
				round[p] = Trial{Round: r + 1, Point: p}
			}
			shuffle(pcg, round)
			trials = append(trials, round...)
		}
	}
	for i := range trials {
		trials[i].Number = i + 1
	}
	return trials
}

// shuffle is the Fisher–Yates shuffle.
func shuffle[T any](pcg *rand.PCG, items []T) {
	for i := len(items) - 1; i > 0; i-- {
		j := below(pcg, uint64(i)+1)
		items[i], items[j] = items[j], items[i]
	}
}

// below draws a number from 0 to n-1, each equally likely: draws from the incomplete last stretch are thrown away.
func below(pcg *rand.PCG, n uint64) uint64 {
	limit := -n % n // 2^64 mod n
	for {
		if x := pcg.Uint64(); x >= limit {
			return x % n
		}
	}
}
