// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package generate makes values of rows, and their text, as fast as they can be sent.
package generate

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
)

// TextLength is the number of characters that Rows.AppendText appends.
const TextLength = 20

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	// Pairs is the number of different pairs of characters.
	Pairs = len(alphabet) * len(alphabet)
	// pairsPerDraw pairs are cut out of one 64-bit number, which is one of Pairs^pairsPerDraw.
	pairsPerDraw = 5
	drawSpan     = uint64(Pairs) * uint64(Pairs) * uint64(Pairs) * uint64(Pairs) * uint64(Pairs)
	// Numbers from drawLimit on are drawn again: below it every text is equally likely. That is one draw in 13,000.
	drawLimit = math.MaxUint64 - math.MaxUint64%drawSpan
)

// PairText has the two characters of each pair.
var PairText = func() (t [Pairs][2]byte) {
	for i := range t {
		t[i] = [2]byte{alphabet[i/len(alphabet)], alphabet[i%len(alphabet)]}
	}
	return t
}()

// Rows is the data of a run: row n is a function of the seed and n, whichever client asks, in whatever order.
type Rows struct{ key uint64 }

// NewRows returns the rows of a seed.
func NewRows(seed int64) Rows { return Rows{key: Mix(uint64(seed))} } //nolint:gosec // a seed may wrap

// AppendText appends the TextLength characters from [A-Z0-9] of row n to dst. All texts are equally likely. It does not
// allocate if dst has room.
func (r Rows) AppendText(dst []byte, n int64) []byte {
	draw := At(r.key, n)
	for range TextLength / (2 * pairsPerDraw) {
		x := draw.Next()
		for x >= drawLimit {
			x = draw.Next()
		}
		for range pairsPerDraw {
			p := &PairText[x%uint64(Pairs)]
			dst = append(dst, p[0], p[1])
			x /= uint64(Pairs)
		}
	}
	return dst
}

// Draws are the random numbers of row n besides its text. Those of numbers below 1 belong to no row.
func (r Rows) Draws(n int64) Stream {
	return From(Mix(r.key + drawsKey*uint64(n))) //nolint:gosec // a row's number may wrap
}

// drawsKey spreads the numbers of rows, otherwise than for their texts: any odd constant with as many ones as zeros will do.
const drawsKey = 0x5851f42d4c957f2d

// Split takes a number below n off x, which remains for more: several numbers, equally likely to one part in 2^64 divided by
// the product of their ranges.
func Split(x *uint64, n uint64) uint64 {
	high, low := bits.Mul64(*x, n)
	*x = low
	return high
}

// Checksum is that of rows 1 to n.
func (r Rows) Checksum(n int64) checksum.Checksum {
	var sum checksum.Checksum
	buf := make([]byte, 0, 64)
	for i := int64(1); i <= n; i++ {
		buf = strconv.AppendInt(buf[:0], i, 10)
		buf = append(buf, ':')
		buf = r.AppendText(buf, i)
		sum.Add(buf)
	}
	return sum
}

// TwoDigits has the texts of the numbers below 100.
var TwoDigits = func() (all [100][2]byte) {
	for i := range all {
		all[i] = [2]byte{byte('0' + i/10), byte('0' + i%10)}
	}
	return all
}()

const eightDigits = 100_000_000

// NumberRoom is how many bytes AppendNumber may write beyond a number's end.
const NumberRoom = 8

// AppendNumber appends a number in decimal, as strconv does, but up to eight digits at once: numbers are most of what is
// sent.
func AppendNumber(dst []byte, n uint64) []byte {
	if n >= eightDigits {
		return strconv.AppendUint(dst, n, 10)
	}
	// The digits as bytes of one word, the first one lowest: two fours, then four twos, then eight ones. Division by 100 and
	// 10 is multiplication, exact for numbers of four and two digits.
	x := n/10_000 | n%10_000<<32
	hundreds := x * 10_486 >> 20 & 0x0000_007f_0000_007f
	x = hundreds | (x-100*hundreds)<<16
	tens := x * 103 >> 10 & 0x000f_000f_000f_000f
	x = tens | (x-10*tens)<<8
	// Zeros in front go, but not the last digit.
	zeros := min(bits.TrailingZeros64(x)/8, 7)
	x |= 0x3030_3030_3030_3030
	dst = binary.LittleEndian.AppendUint64(dst, x>>(8*zeros))
	return dst[:len(dst)-zeros]
}

const (
	// timeDays are the days from 2010-01-01 on in which files were modified, TimeSpan the same in microseconds.
	timeDays = 3652
	TimeSpan = timeDays * 24 * uint64(time.Hour/time.Microsecond)
)

// days are the days from 2010-01-01 on as text, dates as values.
var days, dates = func() (texts [timeDays][len(time.DateOnly)]byte, values [timeDays]mysqlwire.Date) {
	for i := range texts {
		day := time.Date(2010, time.January, 1+i, 0, 0, 0, 0, time.UTC)
		copy(texts[i][:], day.Format(time.DateOnly))
		values[i] = mysqlwire.NewDate(day.Year(), int(day.Month()), day.Day())
	}
	return texts, values
}()

// AppendTime appends the time so many microseconds after the beginning of 2010, as DATETIME(6) has it.
func AppendTime(dst []byte, micros uint64) []byte {
	const second = 1_000_000
	fraction := micros % second
	a, b, c := TwoDigits[fraction/10000], TwoDigits[fraction/100%100], TwoDigits[fraction%100]
	return append(AppendSecond(dst, micros/second), '.', a[0], a[1], b[0], b[1], c[0], c[1])
}

// AppendSecond appends the time so many seconds after the beginning of 2010, as DATETIME has it.
func AppendSecond(dst []byte, seconds uint64) []byte {
	day, clock := seconds/86400, seconds%86400
	dst = append(dst, days[day][:]...)
	hour, minute, second := TwoDigits[clock/3600], TwoDigits[clock/60%60], TwoDigits[clock%60]
	return append(dst, ' ', hour[0], hour[1], ':', minute[0], minute[1], ':', second[0], second[1])
}

// AppendTimeValue is AppendTime in the binary form.
func AppendTimeValue(v mysqlwire.Values, dst []byte, micros uint64) []byte {
	const second, day = 1_000_000, 86400
	seconds := micros / second
	return v.AppendDatetime(dst, dates[seconds/day], uint32(seconds%day), uint32(micros%second))
}

// golden is 2^64 divided by the golden ratio, odd: the step of the counter in SplitMix64 (Steele, Lea and Flood, 2014).
const golden = 0x9e3779b97f4a7c15

// Mix is SplitMix64's finaliser: a bijection in which every bit of x changes half of the result's.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Stream is a sequence of numbers. A copy of a stream goes on like the original.
type Stream struct{ state uint64 }

// From is the stream that begins at a state, which is one of all 2^64.
func From(state uint64) Stream { return Stream{state} }

// At is the stream of row n of whatever the key is of.
func At(key uint64, n int64) Stream {
	return Stream{Mix(key ^ Mix(uint64(n)))} //nolint:gosec // a row's number is positive
}

// Next is the next number; all are equally likely.
func (s *Stream) Next() uint64 {
	s.state += golden
	return Mix(s.state)
}

// Below draws a number from 0 to n-1. One is likelier than another by a part in 2^64/n at most. n must be positive.
func (s *Stream) Below(n uint64) uint64 {
	hi, _ := bits.Mul64(s.Next(), n) // Split does the same, and would not be inlined: rows would take a quarter longer
	return hi
}

// Between draws a number from low to high, both included.
func (s *Stream) Between(low, high int64) int64 {
	return low + int64(s.Below(uint64(high-low+1))) //nolint:gosec // no more than high
}
