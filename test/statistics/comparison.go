// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Order is which of two variants is measured first in a round.
type Order int

const (
	// Interleaved rounds go A B, B A or B A, A B; which of the two, is drawn for every second round.
	Interleaved Order = iota
	// OneAfterTheOther measures all of A and then all of B.
	OneAfterTheOther
)

// Experiment is a comparison of two variants that is simulated many times.
type Experiment struct {
	Design stats.Design
	Noise  Noise
	Order  Order
	// Difference is the logarithm of the true ratio, at every point.
	Difference float64
	Points     int
	// WholeLength does not stop when all is decided.
	WholeLength bool
}

// Outcome of many simulated comparisons.
type Outcome struct {
	Comparisons int
	// Differ is the share of the comparisons that say Faster or Slower at any point, Equal the one that say Equal at any point, and
	// All the one that say Faster at all points.
	Differ, Equal, All float64
	// AtStop is the share of the comparisons in which all final intervals contain the true ratio, and Always the one in which all
	// intervals after all rounds do.
	AtStop, Always float64
	// Rounds until the comparison stopped.
	Median, Mean float64
}

// one simulated comparison.
type one struct {
	differ, equal, all, atStop, always bool
	rounds                             int
}

// Run simulates comparisons, each from a seed of its own.
func (e Experiment) Run(comparisons int) Outcome {
	results := make([]one, comparisons)
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < comparisons; i += workers {
				results[i] = e.simulate(rand.New(rand.NewPCG(seed, uint64(i)))) //nolint:gosec // an index is not negative
			}
		})
	}
	wait.Wait()
	return summary(results)
}

// simulate a comparison: it stops when all points are decided.
func (e Experiment) simulate(r *rand.Rand) one {
	baseline, variant := make([][]float64, e.Points), make([][]float64, e.Points)
	for p := range e.Points {
		baseline[p], variant[p] = e.values(r)
	}
	first := e.Design.MaxRounds
	if e.Design.EarlyStop {
		first = e.Design.MinRounds
	}
	result := one{always: true}
	for n := first; n <= e.Design.MaxRounds; n++ {
		result.look(e, baseline, variant, n)
		if result.rounds > 0 {
			break
		}
	}
	return result
}

// look at the first n rounds.
func (o *one) look(e Experiment, baseline, variant [][]float64, n int) {
	o.differ, o.equal, o.all, o.atStop = false, false, true, true
	decided := true
	for p := range e.Points {
		c := e.Design.Compare("higher", baseline[p][:n], variant[p][:n])
		decided = decided && c.Decided
		o.differ = o.differ || c.Verdict == stats.Faster || c.Verdict == stats.Slower
		o.equal = o.equal || c.Verdict == stats.Equal
		o.all = o.all && c.Verdict == stats.Faster
		if truth := math.Exp(e.Difference); truth < c.Low || truth > c.High {
			o.atStop, o.always = false, false
		}
	}
	if decided && !e.WholeLength || n == e.Design.MaxRounds {
		o.rounds = n
	}
}

// values of both variants at a point, by round.
func (e Experiment) values(r *rand.Rand) (baseline, variant []float64) {
	rounds := e.Design.MaxRounds
	series := e.Noise.Series(r, 2*rounds)
	wander := autoregressive(r, rounds, 0.5, e.Noise.Wander)
	swapped := false
	for round := range rounds {
		a, b := 2*round, 2*round+1
		if swapped = !swapped; round%2 == 0 {
			swapped = r.IntN(2) == 0
		}
		switch {
		case e.Order == OneAfterTheOther:
			a, b = round, rounds+round
		case swapped:
			a, b = b, a
		}
		baseline = append(baseline, math.Exp(series[a]))
		variant = append(variant, math.Exp(series[b]+wander[round]+e.Difference))
	}
	return baseline, variant
}

func summary(results []one) Outcome {
	o := Outcome{Comparisons: len(results)}
	share := func(is func(one) bool) float64 {
		count := 0
		for _, r := range results {
			if is(r) {
				count++
			}
		}
		return float64(count) / float64(len(results))
	}
	o.Differ = share(func(r one) bool { return r.differ })
	o.Equal = share(func(r one) bool { return r.equal })
	o.All = share(func(r one) bool { return r.all })
	o.AtStop = share(func(r one) bool { return r.atStop })
	o.Always = share(func(r one) bool { return r.always })
	var rounds []int
	for _, r := range results {
		rounds = append(rounds, r.rounds)
		o.Mean += float64(r.rounds) / float64(len(results))
	}
	slices.Sort(rounds)
	o.Median = float64(rounds[len(rounds)/2]+rounds[(len(rounds)-1)/2]) / 2
	return o
}
