// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Kinds of answers, which are their first byte.
const (
	KindOK byte = 0x00
	// KindFile asks for the file of LOAD DATA LOCAL.
	KindFile byte = 0xfb
	// KindEnd ends a list of columns and the rows of a result set. What begins so and is as large as a packet can be is a row, with
	// a value of 16 MiB or more.
	KindEnd   byte = 0xfe
	KindError byte = 0xff
)

// Done is the error of an answer to a statement without a result set; nil if the server has done it.
func Done(payload []byte) error {
	if payload[0] == KindOK {
		return nil
	}
	return Unexpected(payload, "as to a query")
}

// Unexpected is the error of an answer that is not the one that a statement should get: the server's own if it has one, or else
// that its kind is none for it, in the words of how.
func Unexpected(payload []byte, how string) error {
	if payload[0] == KindError {
		return serverError(payload[1:])
	}
	return fmt.Errorf("the server answers with a packet of kind %#x, %s", payload[0], how)
}

// serverError reads the number, the state and the message of an error.
func serverError(payload []byte) error {
	const number, state = 2, 6
	if len(payload) < number {
		return errors.New("the server answers with an error that has no number")
	}
	e := &mysql.MySQLError{Number: binary.LittleEndian.Uint16(payload)}
	message := payload[number:]
	if len(message) >= state && message[0] == '#' {
		copy(e.SQLState[:], message[1:state])
		message = message[state:]
	}
	e.Message = string(message)
	return e
}

// AppendOK appends a packet that says that all is well: no rows changed, no id, autocommit, no warnings.
func AppendOK(dst []byte, sequence byte) []byte {
	const autocommit = 2
	return append(AppendHeader(dst, 7, sequence), KindOK, 0, 0, autocommit, 0, 0, 0)
}

// ReadChanged reads how many rows an OK answer says were changed, and how many warnings the server has about them.
func ReadChanged(payload []byte) (rows, warnings int64, err error) {
	if err := Done(payload); err != nil {
		return 0, 0, err
	}
	// The rows, the last id, two bytes of status flags, two of warnings.
	n, rest, whole := ReadInteger(payload[1:])
	_, rest, also := ReadInteger(rest)
	if !whole || !also || len(rest) < 4 {
		return 0, 0, errors.New("the server's answer is too short")
	}
	return n, int64(binary.LittleEndian.Uint16(rest[2:])), nil
}

// ReadInteger reads a length-encoded integer, and returns what follows it; whole is false if there is none.
func ReadInteger(p []byte) (n int64, rest []byte, whole bool) {
	if len(p) == 0 {
		return 0, nil, false
	}
	var size int
	switch prefix := p[0]; prefix {
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	default:
		return int64(prefix), p[1:], prefix < 0xfb
	}
	if len(p) <= size {
		return 0, nil, false
	}
	var wide [8]byte
	copy(wide[:], p[1:1+size])
	return int64(binary.LittleEndian.Uint64(wide[:])), p[1+size:], true //nolint:gosec // a number of rows
}
