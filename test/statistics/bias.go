// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// bias of the ratio, of those comparisons that say Faster and of all.
func (w *writer) bias() {
	scatter := []float64{0.02, 0.05, 0.10}
	header := []string{"true difference"}
	for _, cv := range scatter {
		header = append(header, fmt.Sprintf("CV %.0f%%: if faster", 100*cv), fmt.Sprintf("CV %.0f%%: in all", 100*cv),
			fmt.Sprintf("CV %.0f%%: found by", 100*cv))
	}
	w.header("bias", "The difference that is stated, in the mean", header...)
	for _, difference := range []float64{0.02, 0.05, 0.10, 0.20} {
		cells := []string{fmt.Sprintf("%.0f%%", 100*difference)}
		for _, cv := range scatter {
			o := w.run(Experiment{Design: asShipped(1), Noise: normal(cv), Points: 1, Difference: math.Log1p(difference)})
			cells = append(cells, percent(math.Expm1(o.IfFaster)), percent(math.Expm1(o.Ratio)), percent(o.All))
		}
		w.row(cells...)
	}
}

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

// scripts is how many rows the matrix of microbenchmarks has (config/samples/microbenchmarks.yaml).
const scripts = 33

// matrix is what is said of a table of many cells if all variants are the same image: one false cell is a false table.
func (w *writer) matrix() {
	rounds := []int{8, 20}
	header := []string{"noise"}
	for _, n := range rounds {
		header = append(header, fmt.Sprintf("at most %d rounds: any cell", n), fmt.Sprintf("at most %d rounds: rounds", n))
	}
	w.header("matrix", fmt.Sprintf("A matrix of %d scripts and two variants that are the same: said to differ", scripts), header...)
	for _, noise := range []Noise{normal(0.01), normal(0.02), normal(0.05), modes(0.2, 2), load(0.5), load(0.9), stalls(0.05)} {
		cells := []string{noise.Name}
		for _, n := range rounds {
			design := asShipped(scripts)
			design.MaxRounds = n
			o := w.run(Experiment{Design: design, Noise: noise, Points: scripts})
			cells = append(cells, percent(o.Differ), fmt.Sprintf("%g", o.Median))
		}
		w.row(cells...)
	}
}

// together is what is said of all points as one, beside what is said of single points.
func (w *writer) together() {
	counts := []int{2, 8, 30}
	header := []string{"noise"}
	for _, points := range counts {
		header = append(header, fmt.Sprintf("%d points: at any", points), fmt.Sprintf("%d points: together", points),
			fmt.Sprintf("%d points: either", points))
	}
	w.header("points-same", "Several points of two variants that are the same: said to differ", header...)
	for _, noise := range []Noise{normal(0.02), normal(0.05), modes(0.2, 2), load(0.5), load(0.9)} {
		cells := []string{noise.Name}
		for _, points := range counts {
			o := w.run(Experiment{Design: asShipped(points), Noise: noise, Points: points})
			cells = append(cells, percent(o.Differ), percent(o.Together), percent(o.Either))
		}
		w.row(cells...)
	}
	w.header("points-found", "The same difference at several points: found by", "points", "true difference", "noise",
		"all points together", "at every point")
	for _, points := range counts {
		for _, difference := range []float64{0.02, 0.05} {
			for _, noise := range []Noise{normal(0.02), normal(0.05), normal(0.10)} {
				o := w.run(Experiment{
					Design: asShipped(points), Noise: noise, Points: points, Difference: math.Log1p(difference),
				})
				w.row(strconv.Itoa(points), fmt.Sprintf("%.0f%%", 100*difference), noise.Name, percent(o.Together), percent(o.All))
			}
		}
	}
}

// agreement is the table of what slices and whole runs said of the same variants on a machine that did nothing else: the
// geometric means of all rounds of all comparisons, how much single rounds scatter, and the ratio of the two means, with its
// interval at 95%.
func (w *writer) agreement(list []*Measured) {
	w.header("slices-runs", "Slices against whole runs of two real servers",
		"second variant", "ms a slice", "slices: rounds", "slices: scatter", "slices: ratio", "whole runs: rounds",
		"whole runs: scatter", "whole runs: ratio", "slices to runs", "interval of slices to runs")
	type variant struct {
		second string
		slice  int // 0 is whole runs
	}
	of := map[variant][]float64{}
	for _, m := range list {
		if m.Points > 1 || m.Beside != "" || m.Alternation == "Trials" {
			continue
		}
		v := variant{m.Second, m.Slice}
		for i, value := range m.values[0] {
			of[v] = append(of[v], math.Log(value/m.baseline[0][i]))
		}
	}
	var both []variant
	for v, rounds := range of {
		if v.slice > 0 && len(rounds) > 1 && len(of[variant{v.second, 0}]) > 1 {
			both = append(both, v)
		}
	}
	slices.SortFunc(both, func(a, b variant) int { return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(b.slice, a.slice)) })
	for _, v := range both {
		inSlices, runs := of[v], of[variant{v.second, 0}]
		a, scatterOfA := stat.MeanStdDev(inSlices, nil)
		b, scatterOfB := stat.MeanStdDev(runs, nil)
		margin := distuv.UnitNormal.Quantile(0.975) *
			math.Hypot(stat.StdErr(scatterOfA, float64(len(inSlices))), stat.StdErr(scatterOfB, float64(len(runs))))
		ratio := func(log float64) string { return fmt.Sprintf("%.3f", math.Exp(log)) }
		w.row(v.second, strconv.Itoa(v.slice), strconv.Itoa(len(inSlices)), percent(scatterOfA), ratio(a), strconv.Itoa(len(runs)),
			percent(scatterOfB), ratio(b), ratio(a-b), ratio(a-b-margin)+"–"+ratio(a-b+margin))
	}
}
