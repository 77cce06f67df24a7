// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"encoding/binary"
	"time"
)

// Binary appends values in the binary form of the protocol, which prepared statements take.
type Binary struct {
	// Indicated puts a byte before each value that says that there is one, as MariaDB's COM_STMT_BULK_EXECUTE wants it.
	Indicated bool
}

func (b Binary) begin(dst []byte) []byte {
	if b.Indicated {
		return append(dst, 0)
	}
	return dst
}

// AppendInt appends an INT.
func (b Binary) AppendInt(dst []byte, n uint32) []byte {
	return binary.LittleEndian.AppendUint32(b.begin(dst), n)
}

// AppendBigInt appends a BIGINT.
func (b Binary) AppendBigInt(dst []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(b.begin(dst), n)
}

// AppendLength appends the length of a text of at most 250 bytes, which follows.
func (b Binary) AppendLength(dst []byte, length uint8) []byte { return append(b.begin(dst), length) }

// dates are the years, in two bytes, months and days of the days that files were modified.
var dates = func() (all [timeDays][4]byte) {
	for i := range all {
		year, month, day := time.Date(2010, time.January, 1+i, 0, 0, 0, 0, time.UTC).Date()
		all[i] = [4]byte{byte(year), byte(year >> 8), byte(month), byte(day)}
	}
	return all
}()

// AppendTime appends the DATETIME(6) so many microseconds after the beginning of 2010.
func (b Binary) AppendTime(dst []byte, micros uint64) []byte {
	const second, length = 1_000_000, 11
	seconds, fraction := micros/second, micros%second
	date, clock := dates[seconds/86400], seconds%86400
	dst = append(b.begin(dst), length, date[0], date[1], date[2], date[3], byte(clock/3600), byte(clock/60%60), byte(clock%60))
	return binary.LittleEndian.AppendUint32(dst, uint32(fraction))
}
