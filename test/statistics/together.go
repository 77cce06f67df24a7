// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strconv"
)

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
