// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"encoding/binary"
	"errors"
	"slices"
)

// MaxPlaceholders is how many placeholders a prepared statement can have: the protocol counts them in two bytes.
const MaxPlaceholders = 65535

// Type is a type of values in the binary form: its number in the protocol, and above it whether there is no sign.
type Type uint16

// The types of values that are sent.
const (
	TypeInt            Type = 3
	TypeUnsignedBigInt Type = 8 | 0x80<<8
	TypeDatetime       Type = 12
	TypeBytes          Type = 252
)

// Prepared is a statement as the server has prepared it.
type Prepared struct {
	// ID is the statement's number in its session.
	ID uint32
	// Placeholders is how many there are. The server describes each in a packet of its own after its answer.
	Placeholders int
}

// ReadPrepared reads the answer to a statement to prepare. One that returns rows is an error.
func ReadPrepared(payload []byte) (Prepared, error) {
	// The kind of answer, the statement's number, the number of columns, that of placeholders.
	const number, columns, placeholders, length = 1, 5, 7, 9
	if payload[0] != KindOK {
		return Prepared{}, Unexpected(payload, "as to a statement to prepare")
	}
	if len(payload) < length || binary.LittleEndian.Uint16(payload[columns:]) > 0 {
		return Prepared{}, errors.New("the server has prepared a statement that returns rows")
	}
	return Prepared{
		ID: binary.LittleEndian.Uint32(payload[number:]), Placeholders: int(binary.LittleEndian.Uint16(payload[placeholders:])),
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
	const noCursor, iterations, typesFollow = 0, 1, 1
	head := binary.LittleEndian.AppendUint32([]byte{CommandExecute}, p.ID)
	head = binary.LittleEndian.AppendUint32(append(head, noCursor), iterations)
	// A bit for each NULL.
	head = append(head, make([]byte, (rows*len(types)+7)/8)...)
	x := &Execution{First: append(slices.Clip(head), typesFollow), Later: append(slices.Clip(head), 0)}
	for range rows {
		x.First = appendTypes(x.First, types)
	}
	return x
}

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
