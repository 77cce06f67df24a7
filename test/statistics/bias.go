// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
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
