// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// swing is a load that comes and goes with a period of few trials: the rate is up to 10% above and below its mean.
func swing(period int) Noise {
	return Noise{
		Name: fmt.Sprintf("a load that swings by 10%%, with a period of %d trials", period),
		Series: func(r *rand.Rand, n int) []float64 {
			series, phase := make([]float64, n), 2*math.Pi*r.Float64()
			for i := range series {
				series[i] = 0.02*r.NormFloat64() + 0.1*math.Sin(phase+2*math.Pi*float64(i)/float64(period))
			}
			return series
		},
		Means: periodic,
	}
}

// job runs in every third trial.
func job() Noise {
	return Noise{
		Name: "a job in every third trial, which is 20% slower",
		Series: func(r *rand.Rand, n int) []float64 {
			series, phase := make([]float64, n), r.IntN(3)
			for i := range series {
				if series[i] = 0.02 * r.NormFloat64(); i%3 == phase {
					series[i] += math.Log(0.8)
				}
			}
			return series
		},
		Means: periodic,
	}
}

// coarse values are whole numbers near 20.
func coarse() Noise {
	n := normal(0.01)
	n.Name, n.Unit = "values rounded to 5%, CV 1%", 0.05
	return n
}

// wandering is a ratio that changes from round to round, by a standard deviation of 5%.
func wandering(correlation float64) Noise {
	n := normal(0.02)
	n.Name = fmt.Sprintf("the ratio itself wanders (AR(1) %g from round to round)", correlation)
	n.Ratio = func(r *rand.Rand, rounds int) []float64 { return autoregressive(r, rounds, correlation, 0.05) }
	n.Means = "what changes one variant only, and slowly, is taken for a difference: a verdict holds for the hour of the " +
		"comparison. Repeat it at another time."
	return n
}

// sticky modes: each server is in a fast or in a slow mode, 10% apart, and stays in it for five rounds on average.
func sticky() Noise {
	n := normal(0.02)
	n.Name = "each variant is fast or 10% slower for five rounds on average"
	n.Ratio = func(r *rand.Rand, rounds int) []float64 {
		list := make([]float64, rounds)
		for _, sign := range []float64{1, -1} {
			slow := r.IntN(2) == 0
			for i := range list {
				if r.Float64() < 0.2 {
					slow = !slow
				}
				if slow {
					list[i] += sign * math.Log(0.9)
				}
			}
		}
		return list
	}
	n.Means = "a server that stays in a mode is taken for a better or worse variant. `trials.server: PerTrial` draws the mode " +
		"anew for each trial."
	return n
}

// stalls of the variant alone: in a share of its trials it does half of the work.
func stalls(share float64) Noise {
	n := normal(0.01)
	n.Name = fmt.Sprintf("the variant halves its rate in %.0f%% of its trials", 100*share)
	n.Ratio = func(r *rand.Rand, rounds int) []float64 {
		list := make([]float64, rounds)
		for i := range list {
			if r.Float64() < share {
				list[i] = -math.Ln2
			}
		}
		return list
	}
	return n
}

// change of the variant: 10% faster in the first six rounds, and 20% slower in the others.
func change() Noise {
	n := normal(0.02)
	n.Name = "the variant is 10% faster in the first six rounds, and 20% slower in the others"
	n.Ratio = func(_ *rand.Rand, rounds int) []float64 {
		list := make([]float64, rounds)
		for i := range list {
			list[i] = math.Log(0.8)
			if i < 6 {
				list[i] = math.Log(1.1)
			}
		}
		return list
	}
	return n
}

// hard are the kinds of noise that comparisons have been wrong about.
func hard() []Noise {
	return []Noise{
		swing(2), swing(3), swing(4), swing(6), swing(8), job(), coarse(), wandering(0.5), wandering(0.8), sticky(),
	}
}
