// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/internal/judge/stats/sequential"
)

// order is what it brings, and what it costs, to estimate how much the first of a pair is slower. Comparisons do not: the table
// says why.
func (w *writer) order() {
	header := []string{"noise", "slower by"}
	for _, method := range []string{"", "order estimated, "} {
		header = append(header, method+"equals: differ", method+"equals: equal", method+"equals: rounds", method+"5%: found by",
			method+"5%: rounds")
	}
	w.header("order", "The first of a pair is slower: comparisons of one point", header...)
	for i := range 8 {
		cv, slower := []float64{0.02, 0.05}[i/4], []float64{0, 0.02, 0.05, 0.10}[i%4]
		cells := []string{normal(cv).Name, fmt.Sprintf("%.0f%%", 100*slower)}
		for _, estimated := range []bool{false, true} {
			for _, difference := range []float64{0, math.Log1p(0.05)} {
				o := places{cv: cv, first: math.Log1p(slower), difference: difference, estimated: estimated}.run(w.comparisons)
				if cells = append(cells, percent(o.Differ)); difference == 0 {
					cells = append(cells, percent(o.Equal))
				}
				cells = append(cells, fmt.Sprintf("%.1f", o.Mean))
			}
		}
		w.row(cells...)
	}
}

// places is a comparison in which the first of a pair is slower, by its logarithm.
type places struct {
	cv, first, difference float64
	// estimated says that the place is a covariate of a regression; otherwise the mean is tested. Neither looks for a correlation of
	// neighbours, which comparisons do.
	estimated bool
}

func (p places) run(comparisons int) Outcome {
	results := make([]one, comparisons)
	looks := sequential.New(asShipped(1).FirstLook(), asShipped(1).MaxRounds, 0.05)
	for i := range results {
		results[i] = p.simulate(rand.New(rand.NewPCG(seed, uint64(i))), looks)
	}
	return summary(results)
}

func (p places) simulate(r *rand.Rand, looks *sequential.Boundary) (o one) {
	design := asShipped(1)
	place := make([]float64, design.MaxRounds) // 1 if the baseline is first, and -1 if the variant is
	for i, m := range (Experiment{Design: design, Points: 1}).members(r) {
		if i%2 == 0 {
			place[m.Round-1] = 1 - 2*float64(m.Variant)
		}
	}
	values := make([]float64, design.MaxRounds)
	for i := range values {
		values[i] = p.difference + p.first*place[i] + p.cv*(r.NormFloat64()-r.NormFloat64())
	}
	for n := looks.First; n <= looks.Last; n++ {
		mean, half := p.interval(values[:n], place[:n], looks.Critical(n))
		o.rounds, o.differ = n, math.Abs(mean) > half
		if o.equal = !o.differ && math.Abs(mean)+half < design.Margin() && n >= 10; o.differ || o.equal {
			break
		}
	}
	return o
}

// interval of the mean, or of the intercept of a regression on the place, which has a degree of freedom less at the same level.
func (p places) interval(values, place []float64, critical float64) (mean, half float64) {
	n := float64(len(values))
	var y, x, xy, yy float64
	for i, v := range values {
		y, x, xy, yy = y+v/n, x+place[i]/n, xy+v*place[i]/n, yy+v*v/n
	}
	if !p.estimated || x*x == 1 {
		return y, critical * math.Sqrt((yy-y*y)/(n-1))
	}
	level := distuv.StudentsT{Sigma: 1, Nu: n - 1}.CDF(-critical)
	critical = -distuv.StudentsT{Sigma: 1, Nu: n - 2}.Quantile(level)
	slope := (xy - x*y) / (1 - x*x)
	residual := yy - y*y - slope*slope*(1-x*x)
	return y - slope*x, critical * math.Sqrt(residual/(n-2)/(1-x*x))
}
