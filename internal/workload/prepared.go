// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

// Prepared is a statement with placeholders, which the server parses once for all of its executions.
type Prepared struct {
	SQL string
	// Types of the values of a row, in the order of their placeholders.
	Types []ValueType
	// Rows is how many rows' placeholders SQL has, which is how many each execution inserts; 0 is one row's, for executions
	// with any number of rows by MariaDB's COM_STMT_BULK_EXECUTE.
	Rows int64
}

// MaxPlaceholders is how many placeholders a prepared statement can have: the protocol counts them in two bytes.
const MaxPlaceholders = 65535

// PreparedHead is what the executions of a prepared statement begin with; the values of its rows follow.
type PreparedHead struct {
	// First also names the types of the values. The server remembers them for those that begin with Later.
	First, Later []byte
}

// ValueType is a type of values in the binary form of the protocol: its number there, and above it whether there is no sign.
type ValueType uint16

// The types of values that are sent.
const (
	TypeInt            ValueType = 3
	TypeUnsignedBigInt ValueType = 8 | 0x80<<8
	TypeDatetime       ValueType = 12
	TypeBytes          ValueType = 252
)
