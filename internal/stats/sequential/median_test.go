// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/stats/sequential"
)

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
			if got := sequential.MedianRank(tc.n, tc.first, tc.last, 0.05); got != tc.want {
				t.Errorf("rank %d, want %d", got, tc.want)
			}
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
