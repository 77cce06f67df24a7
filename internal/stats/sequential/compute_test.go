// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential

import "testing"

// BenchmarkCompute is what the first comparison of a design costs.
func BenchmarkCompute(b *testing.B) {
	for b.Loop() {
		compute(4, 20, 0.05/30)
	}
}
