// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// medians is how often the interval of a point's median contains it.
func (w *writer) medians() {
	counts := []int{6, 12, 20}
	header := []string{"noise"}
	for _, n := range counts {
		header = append(header, fmt.Sprintf("%d trials: contains", n))
	}
	const until = "6 to 12 trials, until ± 5%: "
	header = append(header, until+"contains", until+"trials")
	w.header("medians", "Intervals of the median of one point", header...)
	for _, noise := range []Noise{normal(0.05), load(0.3), load(0.5), load(0.8)} {
		cells := []string{noise.Name}
		for _, n := range counts {
			contains, _ := w.median(noise, stats.Looks{}, n)
			cells = append(cells, percent(contains))
		}
		contains, trials := w.median(noise, stats.Looks{First: 6, Last: 12}, 12)
		w.row(append(cells, percent(contains), fmt.Sprintf("%.1f", trials))...)
	}
}

// median of noise whose true one is 1, after n trials or, with looks, after as many as are precise enough.
func (w *writer) median(noise Noise, looks stats.Looks, n int) (contains, trials float64) {
	share := 1 / float64(w.comparisons)
	for i := range w.comparisons {
		values := noise.Series(rand.New(rand.NewPCG(seed, uint64(i))), n)
		for k, x := range values {
			values[k] = math.Exp(x)
		}
		m := n
		if looks.First > 0 {
			m = looks.First
		}
		s := looks.Summary(values[:m])
		for m < n && !s.Reached(5) {
			m++
			s = looks.Summary(values[:m])
		}
		if s.Low <= 1 && 1 <= s.High {
			contains += share
		}
		trials += share * float64(m)
	}
	return contains, trials
}
