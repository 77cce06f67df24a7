// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Answer reads the answer to any statement to its end, and returns how many rows the server has sent, or changed.
func (r *Reader) Answer(endless bool) (int64, error) {
	_, kind, err := r.begun()
	if err != nil {
		return 0, err
	}
	if kind != KindOK && kind != KindError {
		return r.Rows(endless)
	}
	payload, err := r.Packet()
	if err != nil {
		return 0, err
	}
	rows, _, err := ReadChanged(payload)
	return rows, err
}

// Rows reads the answer to a query to its end, which is one result set, and returns how many rows the server has sent, also
// beside an error. It does not look at their values. endless says that no packet ends the list of columns.
func (r *Reader) Rows(endless bool) (n int64, err error) {
	columns, err := r.columns()
	if err != nil {
		return 0, err
	}
	for range columns {
		if _, err := r.skip(); err != nil {
			return 0, err
		}
	}
	if !endless {
		switch end, err := r.skip(); {
		case err != nil:
			return 0, err
		case !end:
			return 0, errors.New("the server does not end the list of columns")
		}
	}
	for {
		end, err := r.skip()
		if err != nil || end {
			return n, err
		}
		n++
	}
}

func (r *Reader) columns() (int64, error) {
	payload, err := r.Packet()
	if err != nil {
		return 0, err
	}
	n, rest, whole := ReadInteger(payload)
	switch {
	case payload[0] == KindOK || !whole || len(rest) > 1:
		return 0, Unexpected(payload, "and sends no rows")
	case len(rest) == 1 && rest[0] == 0: // MariaDB leaves out their descriptions, which it has sent before
		return 0, nil
	default:
		return n, nil
	}
}

// skip reads a packet of a result set, and those that go on with its payload. The server's error is returned as one; end is
// true for what ends a list.
func (r *Reader) skip() (end bool, err error) {
	size, kind, err := r.begun()
	if err != nil {
		return false, err
	}
	if kind == KindError {
		payload, err := r.Packet()
		if err != nil {
			return false, err
		}
		return false, serverError(payload[1:])
	}
	for {
		if err := r.discard(HeaderSize + size); err != nil {
			return false, err
		}
		if size < MaxPayload {
			return kind == KindEnd, nil
		}
		// What follows is not the end of a list, however it begins.
		kind = KindOK
		if err := r.have(HeaderSize); err != nil {
			return false, err
		}
		size, _ = ReadHeader(r.buffer[r.next:])
	}
}

func (r *Reader) discard(n int) error {
	for {
		here := min(n, r.end-r.next)
		r.next += here
		if n -= here; n == 0 {
			return nil
		}
		if err := r.have(1); err != nil {
			return err
		}
	}
}

// MaxPlaceholders is how many placeholders a prepared statement can have: the protocol counts them in two bytes.
const MaxPlaceholders = 65535

// Type is a type of values in the binary form: its number in the protocol, and above it whether there is no sign.
type Type uint16

const (
	TypeInt            Type = 3
	TypeDouble         Type = 5
	TypeBigInt         Type = 8
	TypeUnsignedBigInt Type = 8 | 0x80<<8
	TypeDatetime       Type = 12
	TypeBytes          Type = 252
)

// Prepared is a statement as the server has prepared it.
type Prepared struct {
	// ID is the statement's number in its session.
	ID uint32
	// Placeholders is how many there are, Columns how many those of the rows that it returns. The server describes each in a
	// packet of its own after its answer.
	Placeholders, Columns int
}

// ReadPrepared reads the answer to a statement to prepare.
func ReadPrepared(payload []byte) (Prepared, error) {
	// The kind of answer, the statement's number, the number of columns, that of placeholders.
	const number, columns, placeholders, length = 1, 5, 7, 9
	if payload[0] != KindOK {
		return Prepared{}, Unexpected(payload, "as to a statement to prepare")
	}
	if len(payload) < length {
		return Prepared{}, errors.New("the server's answer to a statement to prepare is too short")
	}
	return Prepared{
		Columns: int(binary.LittleEndian.Uint16(payload[columns:])),
		ID:      binary.LittleEndian.Uint32(payload[number:]), Placeholders: int(binary.LittleEndian.Uint16(payload[placeholders:])),
	}, nil
}

// AppendPrepared appends the answer packet for statement number 1 without columns and without placeholders to describe.
func AppendPrepared(dst []byte, sequence byte) []byte {
	return append(AppendHeader(dst, 12, sequence), KindOK, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

// Execution is what the executions of a prepared statement begin with, their command included; the values follow.
type Execution struct {
	// First also names the types of the values. The server remembers them for those that begin with Later.
	First, Later []byte
}

// Execution is that of executions with the values of so many rows, of which none is NULL.
func (p Prepared) Execution(types []Type, rows int) *Execution {
	const typesFollow = 1
	head := p.appendHead([]byte{CommandExecute}, rows*len(types))
	x := &Execution{First: append(slices.Clip(head), typesFollow), Later: append(slices.Clip(head), 0)}
	for range rows {
		x.First = appendTypes(x.First, types)
	}
	return x
}

// AppendExecution appends an execution with so many values, whose types and binary forms follow, all of them in one row;
// without values, it is whole.
func (p Prepared) AppendExecution(dst []byte) []byte {
	dst = p.appendHead(dst, p.Placeholders)
	if p.Placeholders == 0 {
		return dst
	}
	const typesFollow = 1
	return append(dst, typesFollow)
}

// appendHead appends which statement is executed, and a bit for each of its values that is NULL, which none is.
func (p Prepared) appendHead(dst []byte, values int) []byte {
	const noCursor, iterations = 0, 1
	dst = binary.LittleEndian.AppendUint32(dst, p.ID)
	dst = binary.LittleEndian.AppendUint32(append(dst, noCursor), iterations)
	return append(dst, make([]byte, (values+7)/8)...)
}

// AppendType appends the type of a value.
func AppendType(dst []byte, t Type) []byte { return binary.LittleEndian.AppendUint16(dst, uint16(t)) }

// Bulk is that of MariaDB's executions with the values of any number of rows, each with an indicator.
func (p Prepared) Bulk(types []Type) *Execution {
	const typesFollow = 128
	head := binary.LittleEndian.AppendUint32([]byte{CommandBulk}, p.ID)
	return &Execution{
		First: appendTypes(binary.LittleEndian.AppendUint16(slices.Clip(head), typesFollow), types),
		Later: binary.LittleEndian.AppendUint16(slices.Clip(head), 0),
	}
}

func appendTypes(dst []byte, types []Type) []byte {
	for _, t := range types {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(t))
	}
	return dst
}

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
