// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"math"
	"strconv"
	"testing"
)

func TestAppendNumber(t *testing.T) {
	numbers := []uint64{0, math.MaxUint64}
	for power := uint64(1); power < 1e13; power *= 10 {
		numbers = append(numbers, power-1, power, power+1, 7*power)
	}
	for n := uint64(0); n < eightDigits; n += 997 {
		numbers = append(numbers, n)
	}
	for _, n := range numbers {
		if got, want := string(AppendNumber([]byte("x"), n)), "x"+strconv.FormatUint(n, 10); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func BenchmarkAppendNumber(b *testing.B) {
	var buf []byte
	for n := uint64(1_000_000); b.Loop(); n++ {
		buf = AppendNumber(buf[:0], n)
	}
}
