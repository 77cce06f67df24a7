// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// Order is which of two variants is measured first in a round.
type Order int

const (
	// Drawn: as a comparison does.
	Drawn Order = iota
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
	// EqualFrom is the number of rounds from which on Equal is said, if it is another one than that of the design.
	EqualFrom int
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
	// Contradicted is the share of the comparisons that end with a contradiction at any point.
	Contradicted float64
	// Together is the share that says Faster or Slower of all points together, and Either the one that says so of them or of any.
	Together, Either float64
	// Ratio is the mean of the logarithms of the ratios that are stated, and IfFaster that of the ones that are said to be faster.
	Ratio, IfFaster float64
	// Rounds until the comparison stopped.
	Median, Mean float64
}

// one simulated comparison.
type one struct {
	differ, equal, all, atStop, always, contradicted, together bool
	rounds                                                     int
	// ratio is the logarithm of that of the first point.
	ratio float64
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
	baseline, variant := e.values(r)
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
	o.differ, o.equal, o.all, o.atStop, o.contradicted = false, false, true, true, false
	decided := true
	for p := range e.Points {
		c := e.compare(baseline[p][:n], variant[p][:n])
		decided = decided && c.Decided
		o.differ = o.differ || c.Verdict == stats.Faster || c.Verdict == stats.Slower
		o.equal = o.equal || c.Verdict == stats.Equal
		o.contradicted = o.contradicted || c.Cause == stats.Contradiction
		o.all = o.all && c.Verdict == stats.Faster
		if p == 0 {
			o.ratio = math.Log(c.Ratio)
		}
		if truth := math.Exp(e.Difference); truth < c.Low || truth > c.High {
			o.atStop, o.always = false, false
		}
	}
	if decided && !e.WholeLength || n == e.Design.MaxRounds {
		o.rounds, o.together = n, e.Design.Together && e.together(baseline, variant, n)
	}
}

// compare as the design does, besides what EqualFrom changes.
func (e Experiment) compare(baseline, variant []float64) stats.Comparison {
	c := e.Design.Compare("higher", baseline, variant)
	margin := math.Exp(e.Design.Margin())
	if inside := c.Low > 1/margin && c.High < margin; e.EqualFrom > 0 && c.Verdict == stats.NoDifferenceShown && inside &&
		c.Rounds >= e.EqualFrom {
		c.Verdict, c.Decided = stats.Equal, true
	}
	return c
}

// together says whether all points as one differ after n rounds.
func (e Experiment) together(baseline, variant [][]float64, n int) bool {
	c := overall(e.Design, baseline, variant, n)
	return c.Verdict == stats.Faster || c.Verdict == stats.Slower
}

// overall is what a design says of all points as one after n rounds.
func overall(d stats.Design, baseline, variant [][]float64, n int) stats.Comparison {
	pairs := make([]stats.Paired, len(baseline))
	for p := range pairs {
		pairs[p].Metric.Better = "higher"
		pairs[p].BaselineValues, pairs[p].Values = baseline[p][:n], variant[p][:n]
	}
	if all := d.Overall(pairs); len(all) > 0 {
		return all[0].Comparison
	}
	return stats.Comparison{}
}

// values of both variants, by point and round. A run measures all points, one after the other; a round is a run of each variant.
func (e Experiment) values(r *rand.Rand) (baseline, variant [][]float64) {
	rounds, points := e.Design.MaxRounds, e.Points
	series := e.Noise.Series(r, 2*rounds*points)
	values := [2][][]float64{make([][]float64, points), make([][]float64, points)}
	own := make([][]float64, points)
	for p := range points {
		if own[p] = make([]float64, rounds); e.Noise.Ratio != nil {
			own[p] = e.Noise.Ratio(r, rounds)
		}
	}
	for i, m := range e.members(r) {
		for p := range points {
			value := series[i*points+p]
			if m.Variant == 1 {
				value += own[p][m.Round-1] + e.Difference
			}
			if value = math.Exp(value); e.Noise.Unit > 0 {
				value = math.Round(value/e.Noise.Unit) * e.Noise.Unit
			}
			values[m.Variant][p] = append(values[m.Variant][p], value)
		}
	}
	return values[0], values[1]
}

// members are the runs in the order of measuring.
func (e Experiment) members(r *rand.Rand) []plan.Member {
	spec := &v1alpha1.BenchmarkRunSpec{
		Variants: make([]v1alpha1.Variant, 2), Seed: ptr.To(r.Int64()),
		Rounds: &v1alpha1.RoundsSpec{AtMost: int32(e.Design.MaxRounds)}, //nolint:gosec // 200 at most
	}
	members := plan.Members(spec)
	if e.Order == OneAfterTheOther {
		slices.SortStableFunc(members, func(a, b plan.Member) int { return cmp.Compare(a.Variant, b.Variant) })
	}
	return members
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
	o.Contradicted = share(func(r one) bool { return r.contradicted })
	o.Together = share(func(r one) bool { return r.together })
	o.Either = share(func(r one) bool { return r.together || r.differ })
	var rounds []int
	faster := 0.0
	for _, r := range results {
		o.Ratio += r.ratio / float64(len(results))
		if r.all {
			faster++
			o.IfFaster += (r.ratio - o.IfFaster) / faster
		}
		rounds = append(rounds, r.rounds)
		o.Mean += float64(r.rounds) / float64(len(results))
	}
	slices.Sort(rounds)
	o.Median = float64(rounds[len(rounds)/2]+rounds[(len(rounds)-1)/2]) / 2
	return o
}
