// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/workload/random"
)

// TextLength is the number of characters that Rows.AppendText appends.
const TextLength = 20

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	// pairs is the number of different pairs of characters.
	pairs = len(alphabet) * len(alphabet)
	// pairsPerDraw pairs are cut out of one 64-bit number, which is one of pairs^pairsPerDraw.
	pairsPerDraw = 5
	drawSpan     = uint64(pairs) * uint64(pairs) * uint64(pairs) * uint64(pairs) * uint64(pairs)
	// Numbers from drawLimit on are drawn again: below it every text is equally likely. That is one draw in 13,000.
	drawLimit = math.MaxUint64 - math.MaxUint64%drawSpan
)

// pairText has the two characters of each pair.
var pairText = func() (t [pairs][2]byte) {
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
			p := &pairText[x%uint64(pairs)]
			dst = append(dst, p[0], p[1])
			x /= uint64(pairs)
		}
	}
	return dst
}

// draws are the random numbers of row n besides its text. Those of numbers below 1 belong to no row.
func (r Rows) draws(n int64) draws {
	return draws{random.From(random.Mix(r.key + drawsKey*uint64(n)))} //nolint:gosec // a row's number may wrap
}

// draws is a stream of random numbers that can be split.
type draws struct{ random.Stream }

// drawsKey spreads the numbers of rows, otherwise than for their texts: any odd constant with as many ones as zeros will do.
const drawsKey = 0x5851f42d4c957f2d

// below is equally likely any number below n, to one part in 2^64/n.
func (d *draws) below(n uint64) uint64 {
	x := d.Next()
	return split(&x, n)
}

// split takes a number below n off x, which remains for more: several numbers, equally likely to one part in 2^64 divided by
// the product of their ranges.
func split(x *uint64, n uint64) uint64 {
	high, low := bits.Mul64(*x, n)
	*x = low
	return high
}

// Checksum of a table is a function of its rows alone: neither of their order, nor of pages, nor of the server. It is
// made of the CRC-32 of each row's "id:text", which a server computes as CRC32(CONCAT(id, ':', text)).
type Checksum struct {
	Rows int64
	// Xor of the rows' CRC-32: notices each changed row.
	Xor uint32
	// Sum of the rows' CRC-32: notices pairs of equal rows, which the other does not.
	Sum uint64
}

// String is the same for the same rows.
func (c Checksum) String() string {
	return fmt.Sprintf("rows=%d xor=%08x sum=%d", c.Rows, c.Xor, c.Sum)
}

// include adds the text of a row, which Rows counts already.
func (c *Checksum) include(text []byte) {
	crc := crc32.ChecksumIEEE(text)
	c.Xor ^= crc
	c.Sum += uint64(crc)
}

// Checksum is that of rows 1 to n.
func (r Rows) Checksum(n int64) Checksum {
	sum := Checksum{Rows: n}
	buf := make([]byte, 0, 64)
	for i := int64(1); i <= n; i++ {
		buf = strconv.AppendInt(buf[:0], i, 10)
		buf = append(buf, ':')
		buf = r.AppendText(buf, i)
		sum.include(buf)
	}
	return sum
}
