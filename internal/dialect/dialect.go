// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dialect holds the SQL that differs between families of servers, and the meaning of their errors. A dialect is one value:
// its functions return statements and execute none. It is for everything around a measurement; the statements of the measured
// phase are the workload's.
package dialect

import (
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// Dialect is how a server is asked.
type Dialect struct {
	// Kind is what an error means.
	Kind func(err error) Kind
	// Name quotes an identifier.
	Name     func(name string) string
	Sessions Sessions
	Locks    Locks
	Schemas  Schemas
	Tables   Tables
	Clock    Clock
	Status   Status
}

// Of an engine. Both that are known speak MySQL's, with different numbers of errors.
func Of(e *engine.Engine) *Dialect { return mysql(e) }

// Kind of an error.
type Kind int

const (
	// NotAnswered is an error that is not the server's.
	NotAnswered Kind = iota
	// Refused is any other error of the server: it did not execute the statement.
	Refused
	// ConnectionEnded means that the server ended the connection, not that the statement is wrong.
	ConnectionEnded
	// TryAgain means that a client is expected to roll the transaction back and begin it anew.
	TryAgain
	// TooManyConnections means that the server has no connection left: for nobody, or for this user.
	TooManyConnections
	// NotFound means that the schema or the table does not exist.
	NotFound
	// Duplicate means that the key exists.
	Duplicate
	// NoSession means that the session to end does not exist.
	NoSession
)

// Sessions are how connections know of each other.
type Sessions struct {
	// Own is an expression: the ID of the session, an integer.
	Own string
	// StayIdle lets the session be idle for ? seconds.
	StayIdle string
	// Others is a query for the IDs of the user's other sessions that are connected to the schema ?.
	Others string
	// End ends the session with an ID.
	End func(id int64) string
}

// Locks have names, and are held by sessions.
type Locks struct {
	// Take is a query that takes the lock ? within ? seconds; its value is true if it did.
	Take string
	// Holder is an expression: the ID of the session that holds the lock ?, or NULL.
	Holder string
}

// Schemas hold the tables of a workload.
type Schemas struct {
	// Exists is a query for the number of schemas named ?.
	Exists string
	// Create and Drop a schema.
	Create, Drop func(name string) string
	// Objects is a query for the kind, as DROP names it, and the name of all objects in a schema.
	Objects func(schema string) (query string, args []any)
	// In is the quoted name of an object in a schema.
	In func(schema, name string) string
	// AnyOrder lets objects be dropped that others refer to, InOrder ends that.
	AnyOrder, InOrder string
}

// Tables are those of the loader's own bookkeeping.
type Tables struct {
	// Token is the type of at most so many ASCII characters, Identifier that of the names of objects; both are compared byte by byte.
	Token      func(length int) string
	Identifier string
	// Moment is the type of a time in microseconds, Bytes that of up to 4 GiB.
	Moment, Bytes string
	// Options follow the parentheses of CREATE TABLE.
	Options string
	// InsertNew inserts rows, without those whose key exists.
	InsertNew func(table, columns, values string) string
}

// Clock is the server's, whatever the session's time zone is.
type Clock struct {
	// In is an expression: the time after a duration, in whole microseconds.
	In func(after time.Duration) string
	// Until is an expression: how many microseconds it is until a column's time.
	Until func(column string) string
}

// Status is what a server says about itself. The queries have two columns, a name and a value.
type Status struct {
	// Counters since its start; CountersLike are those whose names match a pattern of LIKE.
	Counters     string
	CountersLike func(pattern string) string
	// Variables of the server, SessionVariables of a session.
	Variables, SessionVariables string
	// Encryption of the session, in which TLSVersion and TLSCipher are named so. Without encryption, the cipher is empty.
	Encryption            string
	TLSVersion, TLSCipher string
	// MaxConnections is a query for one number: how many the server allows.
	MaxConnections string
}
