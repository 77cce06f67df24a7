// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package generate makes values of rows, and their text, as fast as they can be sent.
package generate

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/random"
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

// Rows is the data of a run: row n is a function of the seed and n, whoever asks, in whatever order.
type Rows struct{ key uint64 }

// NewRows returns the rows of a seed.
func NewRows(seed int64) Rows { return Rows{key: random.Mix(uint64(seed))} } //nolint:gosec // a seed may wrap

// AppendText appends the TextLength characters from [A-Z0-9] of row n to dst. All texts are equally likely. It does not
// allocate if dst has room.
func (r Rows) AppendText(dst []byte, n int64) []byte {
	draw := random.At(r.key, n)
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
func (r Rows) Draws(n int64) Draws {
	return Draws{random.From(random.Mix(r.key + drawsKey*uint64(n)))} //nolint:gosec // a row's number may wrap
}

// Draws is a stream of random numbers that can be split.
type Draws struct{ random.Stream }

// drawsKey spreads the numbers of rows, otherwise than for their texts: any odd constant with as many ones as zeros will do.
const drawsKey = 0x5851f42d4c957f2d

// Below is equally likely any number below n, to one part in 2^64/n.
func (d *Draws) Below(n uint64) uint64 {
	x := d.Next()
	return Split(&x, n)
}

// Split takes a number below n off x, which remains for more: several numbers, equally likely to one part in 2^64 divided by
// the product of their ranges.
func Split(x *uint64, n uint64) uint64 {
	high, low := bits.Mul64(*x, n)
	*x = low
	return high
}

// Checksum is that of rows 1 to n.
func (r Rows) Checksum(n int64) checksum.Checksum {
	sum := checksum.Checksum{Rows: n}
	buf := make([]byte, 0, 64)
	for i := int64(1); i <= n; i++ {
		buf = strconv.AppendInt(buf[:0], i, 10)
		buf = append(buf, ':')
		buf = r.AppendText(buf, i)
		sum.Add(buf)
	}
	return sum
}
