// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

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
