// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
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
	w.header("Slices against whole runs of two real servers",
		"second variant", "rounds in slices", "their scatter", "ratio", "rounds of whole runs", "their scatter", "ratio",
		"slices to runs", "interval of that")
	of := map[string]map[string][]float64{}
	for _, m := range list {
		if m.Points > 1 || m.Beside != "" {
			continue
		}
		if of[m.Second] == nil {
			of[m.Second] = map[string][]float64{}
		}
		for i, value := range m.values[0] {
			of[m.Second][m.Alternation] = append(of[m.Second][m.Alternation], math.Log(value/m.baseline[0][i]))
		}
	}
	var seconds []string
	for second, rounds := range of {
		if len(rounds["Slices"]) > 1 && len(rounds["Runs"]) > 1 {
			seconds = append(seconds, second)
		}
	}
	slices.Sort(seconds)
	for _, second := range seconds {
		inSlices, runs := of[second]["Slices"], of[second]["Runs"]
		a, scatterOfA := stat.MeanStdDev(inSlices, nil)
		b, scatterOfB := stat.MeanStdDev(runs, nil)
		margin := distuv.UnitNormal.Quantile(0.975) *
			math.Hypot(stat.StdErr(scatterOfA, float64(len(inSlices))), stat.StdErr(scatterOfB, float64(len(runs))))
		ratio := func(log float64) string { return fmt.Sprintf("%.3f", math.Exp(log)) }
		w.row(second, strconv.Itoa(len(inSlices)), percent(scatterOfA), ratio(a), strconv.Itoa(len(runs)), percent(scatterOfB),
			ratio(b), ratio(a-b), ratio(a-b-margin)+"–"+ratio(a-b+margin))
	}
}
