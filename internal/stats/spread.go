// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// explained is the rank correlation from which on values follow a probe.
const explained = 0.6

// nodeProbes are what the values of a point may follow.
var nodeProbes = []struct {
	of   func(Probe) int64
	code finding.Code
}{
	{func(p Probe) int64 { return p.FdatasyncMicros }, finding.SpreadFollowsDisk},
	{func(p Probe) int64 { return p.WorkNanos }, finding.SpreadFollowsCPU},
}

// spread is about values that differ widely, at one of so many points. It says which probe they follow, in their order: where the
// node was slower, the value was worse. Of runs whose values have nothing to do with a probe, at most ErrorProbability have a
// point that seems to follow one: the level is divided by all points and probes.
func spread(records []*result.Record, values []float64, points int) finding.Finding {
	const bound = 100 * wideSpread
	if len(values) != len(records) {
		return finding.Spread(bound)
	}
	best, code := 0.0, finding.WideSpread
	level := ErrorProbability / float64(len(nodeProbes)*max(1, points))
	for _, probe := range nodeProbes {
		slowness := make([]float64, 0, len(records))
		for _, r := range records {
			if p, found := ProbeOf(r); found && probe.of(p) > 0 {
				slowness = append(slowness, float64(probe.of(p)))
			}
		}
		if len(slowness) < len(values) {
			continue
		}
		agreement := concordance(slowness, values)
		if records[0].Summary.Metrics[0].Better != "lower" {
			agreement = -agreement
		}
		c := float64(agreement) / float64(pairsOf(len(values)))
		if c >= explained && c > best && concordanceTail(len(values), agreement) <= level {
			best, code = c, probe.code
		}
	}
	if code == finding.WideSpread {
		return finding.Spread(bound)
	}
	return finding.SpreadFollows(code, bound, best)
}

// concordance of two lists of the same length is how many pairs of places have the same order in both, less those that have
// opposite ones. Divided by the number of pairs it is Kendall's rank correlation. That of gonum counts equal values as rising.
func concordance(a, b []float64) int {
	sum := 0
	for i := range a {
		for j := range i {
			switch product := (a[i] - a[j]) * (b[i] - b[j]); {
			case product > 0:
				sum++
			case product < 0:
				sum--
			}
		}
	}
	return sum
}

func pairsOf(n int) int { return n * (n - 1) / 2 }

// concordanceTail is the probability that two lists of n values that have nothing to do with each other have at least that
// concordance. It is exact without equal values, and too large with them, up to maxExactTrials.
func concordanceTail(n, concordance int) float64 {
	if n > maxExactTrials {
		return distuv.UnitNormal.Survival(float64(concordance-1) / math.Sqrt(float64(pairsOf(n)*(2*n+5))/9))
	}
	discordant := (pairsOf(n) - concordance + 1) / 2
	// The number of discordant pairs is a sum: the value at place i has an opposite order with 0 to i of those before it.
	share := make([]float64, discordant+1)
	share[0] = 1
	for i := 1; i < n; i++ {
		next, window := make([]float64, discordant+1), 0.0
		for d := range next {
			if window += share[d]; d > i {
				window -= share[d-i-1]
			}
			next[d] = window / float64(i+1)
		}
		share = next
	}
	tail := 0.0
	for _, p := range share {
		tail += p
	}
	return tail
}
