// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import "encoding/binary"

// Values appends values in the binary form, which prepared statements take.
type Values struct {
	// Indicated puts a byte before each value that says that there is one, as MariaDB's bulk executions have it.
	Indicated bool
}

func (v Values) begin(dst []byte) []byte {
	if v.Indicated {
		return append(dst, 0)
	}
	return dst
}

// AppendInt appends an INT.
func (v Values) AppendInt(dst []byte, n uint32) []byte {
	return binary.LittleEndian.AppendUint32(v.begin(dst), n)
}

// AppendBigInt appends a BIGINT.
func (v Values) AppendBigInt(dst []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(v.begin(dst), n)
}

// AppendLength appends the length of a text of at most 250 bytes, which follows.
func (v Values) AppendLength(dst []byte, length uint8) []byte { return append(v.begin(dst), length) }

// Date is a day as values have it: the year in two bytes, the month, the day.
type Date [4]byte

// NewDate is the day of that year, month from 1, and day of the month.
func NewDate(year, month, day int) Date {
	return Date{byte(year), byte(year >> 8), byte(month), byte(day)} //nolint:gosec // bytes of them
}

// AppendDatetime appends a DATETIME(6): a second of a day, from 0, and a millionth of that.
func (v Values) AppendDatetime(dst []byte, d Date, second, micro uint32) []byte {
	const length = 11
	dst = append(v.begin(dst), length, d[0], d[1], d[2], d[3],
		byte(second/3600), byte(second/60%60), byte(second%60)) //nolint:gosec // hours, minutes and seconds
	return binary.LittleEndian.AppendUint32(dst, micro)
}
