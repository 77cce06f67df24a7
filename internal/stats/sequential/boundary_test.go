// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/internal/stats/sequential"
)

// crossed counts the samples of normal values whose t statistic crosses the boundary at one of its looks.
func crossed(b *sequential.Boundary, samples int, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	count := 0
	for range samples {
		sum, squares := 0.0, 0.0
		for n := 1; n <= b.Last; n++ {
			x := r.NormFloat64()
			sum, squares = sum+x, squares+x*x
			mean := sum / float64(n)
			deviation := math.Sqrt((squares - mean*sum) / float64(n-1))
			if n >= b.First && math.Abs(mean)*math.Sqrt(float64(n))/deviation >= b.Critical(n) {
				count++
				break
			}
		}
	}
	return float64(count) / float64(samples)
}

// The computed error is the simulated one, within four standard deviations of the simulation.
func TestBoundaryKeepsItsError(t *testing.T) {
	cases := map[string]struct {
		first, last int
		alpha       float64
	}{
		"as a comparison does by default": {4, 20, 0.05},
		"from the second value on":        {2, 20, 0.05},
		"few looks":                       {6, 8, 0.05},
		"thirty points":                   {4, 20, 0.05 / 30},
		"an error that is easily counted": {4, 12, 0.3},
		"one look":                        {12, 12, 0.05},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const samples = 400_000
			got := crossed(sequential.New(tc.first, tc.last, tc.alpha), samples, 1)
			if off := 4 * math.Sqrt(tc.alpha*(1-tc.alpha)/samples); math.Abs(got-tc.alpha) > off {
				t.Errorf("the error is %.5f, want %.5f ± %.5f", got, tc.alpha, off)
			}
		})
	}
}

// Bounds that hold whatever the method: a look is stricter than a single test at alpha, and laxer than Bonferroni's bound.
func TestBoundaryIsBetweenBonferroniAndNone(t *testing.T) {
	for _, alpha := range []float64{0.05, 0.01, 1e-3, 1e-4, 1e-5, 0.05 / 15_000} {
		b := sequential.New(4, 20, alpha)
		if b.Nominal <= alpha/17 || b.Nominal >= alpha {
			t.Errorf("alpha %g: each look is at level %g", alpha, b.Nominal)
		}
		for n := 4; n <= 20; n++ {
			student := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
			if level := 2 * student.CDF(-b.Critical(n)); math.Abs(level/b.Nominal-1) > 1e-6 {
				t.Errorf("alpha %g, %d values: level %g, want %g", alpha, n, level, b.Nominal)
			}
		}
	}
}

func TestBoundaryOutsideOfItsLooks(t *testing.T) {
	b := sequential.New(4, 6, 0.05)
	for _, n := range []int{0, 3, 7} {
		if c := b.Critical(n); !math.IsInf(c, 1) {
			t.Errorf("after %d values: %g", n, c)
		}
	}
}
