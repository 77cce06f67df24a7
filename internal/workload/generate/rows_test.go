// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestRowsAreAFunctionOfSeedAndNumber(t *testing.T) {
	form := regexp.MustCompile(`^[A-Z0-9]{20}$`)
	seen := map[string]int64{}
	for n := int64(1); n <= 10000; n++ {
		text := string(NewRows(7).AppendText(nil, n))
		if !form.MatchString(text) {
			t.Fatalf("row %d is %q", n, text)
		}
		if other, twice := seen[text]; twice {
			t.Fatalf("rows %d and %d are both %s", n, other, text)
		}
		seen[text] = n
	}
	if NewRows(7).Checksum(100) == NewRows(8).Checksum(100) {
		t.Error("two seeds have the same rows")
	}
	must.Same(t, "asked alone, row 5 is another one", int64(5), seen[string(NewRows(7).AppendText([]byte("x"), 5))[1:]])
}

// Each character is equally likely at each place: chi-squared with 35 degrees of freedom is below 80 for all but one in
// 10,000 tables.
func TestRowsAreUnbiased(t *testing.T) {
	const n = 36000
	var counts [TextLength][256]int
	var buf []byte
	for i := int64(1); i <= n; i++ {
		buf = NewRows(1).AppendText(buf[:0], i)
		for place, c := range buf {
			counts[place][c]++
		}
	}
	for place := range counts {
		chi := 0.0
		for _, c := range []byte(alphabet) {
			d := float64(counts[place][c]) - n/float64(len(alphabet))
			chi += d * d / (n / float64(len(alphabet)))
		}
		if chi > 80 {
			t.Errorf("place %d: chi-squared is %.0f", place, chi)
		}
	}
}

func TestRowsDoNotAllocate(t *testing.T) {
	rows, buf := NewRows(1), make([]byte, 0, TextLength)
	n := int64(0)
	must.Same(t, "allocations", float64(0), testing.AllocsPerRun(1000, func() { n++; buf = rows.AppendText(buf[:0], n) }))
}

func TestAppendTime(t *testing.T) {
	begin := time.Date(2010, time.January, 1, 0, 0, 0, 0, time.UTC)
	for _, micros := range []uint64{0, 1, 999_999, 1_000_000, 86_399_999_999, 86_400_000_000, 123_456_789_012_345, TimeSpan - 1} {
		want := begin.Add(time.Duration(micros) * time.Microsecond).Format("2006-01-02 15:04:05.000000")
		must.Same(t, fmt.Sprintf("%d µs", micros), want, string(AppendTime(nil, micros)))
	}
}

func TestDrawsAreEven(t *testing.T) {
	const n, kinds = 100_000, 10
	var counts [kinds]int
	for i := range int64(n) {
		d := NewRows(3).Draws(i)
		counts[d.Below(kinds)]++
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - n/kinds
		chi += d * d / (n / kinds)
	}
	// With nine degrees of freedom it is below 40 for all but one in 100,000.
	if chi > 40 {
		t.Errorf("chi-squared is %.0f: %v", chi, counts)
	}
}

func TestChecksumNoticesDuplicates(t *testing.T) {
	rows := NewRows(1)
	if a, b := rows.Checksum(2), rows.Checksum(3); a.Xor == b.Xor || a.Sum == b.Sum {
		t.Errorf("%s and %s", a, b)
	}
}

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

// What a seed gives never changes. The first three numbers from state 0 are those that SplitMix64's authors publish.
func TestGolden(t *testing.T) {
	zero := Stream{}
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		must.Same(t, fmt.Sprintf("number %d", i+1), want, zero.Next())
	}
	at := At(42, 7)
	must.Same(t, "row 7 of key 42 begins with", uint64(0x75a694080932a32f), at.Next())
}

func TestStreamsAreIndependent(t *testing.T) {
	seen := map[uint64]bool{}
	for key := range uint64(30) {
		for n := range int64(30) {
			draw := At(key, n)
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

func TestBetweenHasItsBounds(t *testing.T) {
	draw := At(2, 2)
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for range 1000 {
		x := draw.Between(-2, 3)
		low, high = min(low, x), max(high, x)
	}
	if low != -2 || high != 3 {
		t.Errorf("from %d to %d, want -2 to 3", low, high)
	}
	if x := draw.Between(0, math.MaxInt64-1); x < 0 {
		t.Errorf("%d", x)
	}
}
