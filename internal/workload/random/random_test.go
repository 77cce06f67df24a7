// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package random_test

import (
	"math"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/workload/random"
)

// What a seed gives never changes. The first three numbers from state 0 are those that SplitMix64's authors publish.
func TestGolden(t *testing.T) {
	zero := random.Stream{}
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := zero.Next(); got != want {
			t.Errorf("number %d is %#x, want %#x", i+1, got, want)
		}
	}
	at := random.At(42, 7)
	if got, want := at.Next(), uint64(0x75a694080932a32f); got != want {
		t.Errorf("row 7 of key 42 begins with %#x, want %#x", got, want)
	}
}

func TestStreamsAreIndependent(t *testing.T) {
	seen := map[uint64]bool{}
	for key := range uint64(30) {
		for n := range int64(30) {
			draw := random.At(key, n)
			for range 30 {
				x := draw.Next()
				if seen[x] {
					t.Fatalf("key %d, row %d: %#x came twice", key, n, x)
				}
				seen[x] = true
			}
		}
	}
}

func TestBelowIsUniform(t *testing.T) {
	draw := random.At(1, 1)
	const values, draws = 7, 70_000
	var counts [values]float64
	for range draws {
		counts[draw.Below(values)]++
	}
	chi := 0.0
	for _, n := range counts {
		chi += (n - draws/values) * (n - draws/values) / (draws / values)
	}
	// Six degrees of freedom: one table in a million is above.
	if chi > 38 {
		t.Errorf("chi-squared is %.0f: %v", chi, counts)
	}
}

func TestBetweenHasItsBounds(t *testing.T) {
	draw := random.At(2, 2)
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for range 1000 {
		x := draw.Between(-2, 3)
		low, high = min(low, x), max(high, x)
	}
	if low != -2 || high != 3 {
		t.Errorf("from %d to %d, want -2 to 3", low, high)
	}
	if x := draw.Below(math.MaxInt64); x < 0 {
		t.Errorf("%d", x)
	}
}
