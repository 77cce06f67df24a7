// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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
