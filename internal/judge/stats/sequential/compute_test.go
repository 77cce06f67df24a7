// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential

import (
	"strconv"
	"testing"
)

// BenchmarkCompute is what the first comparison of a design costs.
func BenchmarkCompute(b *testing.B) {
	for _, last := range []int{20, 200} {
		b.Run(strconv.Itoa(last)+" rounds", func(b *testing.B) {
			for b.Loop() {
				compute(design{6, last, 0.05 / 30})
			}
		})
	}
}
