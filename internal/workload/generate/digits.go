// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// TwoDigits has the texts of the numbers below 100.
var TwoDigits = func() (all [100][2]byte) {
	for i := range all {
		all[i] = [2]byte{byte('0' + i/10), byte('0' + i%10)}
	}
	return all
}()

// eightDigits is the number of numbers with up to eight digits.
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
