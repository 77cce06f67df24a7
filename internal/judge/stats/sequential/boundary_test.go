// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/internal/judge/stats/sequential"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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

// The computed error is the simulated one, within four standard deviations of the simulation, and of many values within 3%.
func TestBoundaryKeepsItsError(t *testing.T) {
	cases := map[string]struct {
		first, last int
		alpha       float64
	}{
		"as a comparison does by default": {6, 20, 0.05},
		"from the second value on":        {2, 20, 0.05},
		"few looks":                       {6, 8, 0.05},
		"thirty points":                   {6, 20, 0.05 / 30},
		"an error that is easily counted": {4, 12, 0.3},
		"many rounds":                     {6, 200, 0.05},
		"from the second of many rounds":  {2, 200, 0.05},
		"many rounds of thirty points":    {6, 200, 0.05 / 30},
		"a last look out of turn":         {6, 43, 0.05},
		"one look":                        {12, 12, 0.05},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			samples := 400_000
			if testing.Short() {
				samples = 50_000
			}
			got := crossed(sequential.New(tc.first, tc.last, tc.alpha), samples, 1)
			off := 4 * math.Sqrt(tc.alpha*(1-tc.alpha)/float64(samples))
			if tc.last > 20 { // the computation is nearly exact only
				off += 0.03 * tc.alpha
			}
			if math.Abs(got-tc.alpha) > off {
				t.Errorf("the error is %.5f, want %.5f ± %.5f", got, tc.alpha, off)
			}
		})
	}
}

// Bounds that hold whatever the method: no look is laxer than a single test at alpha, the last one is stricter than that and
// laxer than Bonferroni's bound, and each look is at least as strict as the next.
func TestBoundaryIsBetweenBonferroniAndNone(t *testing.T) {
	for _, alpha := range []float64{0.05, 0.01, 1e-3, 1e-4, 1e-5, 0.05 / 15_000} {
		b := sequential.New(6, 20, alpha)
		before := 0.0
		for n := 6; n <= 20; n++ {
			level := 2 * distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.CDF(-b.Critical(n))
			if level <= before || level >= alpha {
				t.Errorf("alpha %g: the level after %d values is %g, and %g after one less", alpha, n, level, before)
			}
			before = level
		}
		if before <= alpha/15 {
			t.Errorf("alpha %g: the last look is at level %g", alpha, before)
		}
	}
}

func TestLooks(t *testing.T) {
	cases := map[string]struct {
		first, last int
		want        []int
	}{
		"every round":       {17, 20, []int{17, 18, 19, 20}},
		"every fifth":       {19, 31, []int{19, 20, 25, 30, 31}},
		"every tenth":       {57, 85, []int{57, 60, 70, 80, 85}},
		"once":              {73, 73, []int{73}},
		"a step to the end": {200, 200, []int{200}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := sequential.New(tc.first, tc.last, 0.05)
			must.Same(t, "looks", tc.want, b.Looks())
			for n := range tc.last + 2 {
				last := 0
				for _, look := range tc.want {
					if look <= n {
						last = look
					}
				}
				must.Same(t, fmt.Sprintf("the last look after %d values", n), last, b.LastLook(n))
				must.Same(t, fmt.Sprintf("after %d values: %g", n, b.Critical(n)), last == n && n > 0, !math.IsInf(b.Critical(n), 1))
			}
		})
	}
}

func TestMedianRank(t *testing.T) {
	cases := map[string]struct{ n, first, last, want int }{
		"one look at six":            {6, 6, 6, 1},
		"one look at twelve":         {12, 12, 12, 3},
		"one look at five has none":  {5, 5, 5, 0},
		"the first of six to twelve": {6, 6, 12, 1},
		"the last of six to twelve":  {12, 6, 12, 2}, // it would be 3 without looks before
		"the first of many":          {6, 6, 100, 0},
		"the last of many":           {100, 6, 100, 37},
		"before the first":           {5, 6, 12, 0},
		"after the last":             {13, 6, 12, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "rank", tc.want, sequential.MedianRank(tc.n, tc.first, tc.last, 0.05))
		})
	}
}

// All intervals together contain the median in 95% of the cases, of a skewed distribution, too.
func TestMedianRankKeepsItsError(t *testing.T) {
	const samples = 20_000
	for _, last := range []int{6, 12, 30} {
		ranks := make([]int, last+1)
		for n := 6; n <= last; n++ {
			ranks[n] = sequential.MedianRank(n, 6, last, 0.05)
		}
		missed := 0
		for sample := range uint64(samples) {
			r := rand.New(rand.NewPCG(sample, 2))
			var values []float64
			for n := 1; n <= last; n++ {
				at, _ := slices.BinarySearch(values, 0)
				values = slices.Insert(values, at, 0)
				values[at] = r.ExpFloat64() - 0.6931471805599453
				slices.Sort(values)
				if k := ranks[n]; k > 0 && (values[k-1] > 0 || values[n-k] < 0) {
					missed++
					break
				}
			}
		}
		if share := float64(missed) / samples; share > 0.055 || share < 0.02 {
			t.Errorf("6 to %d values: missed in %.2f%%", last, 100*share)
		}
	}
}
