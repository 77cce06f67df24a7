// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import "time"

// Dialect is the SQL that differs from one family of servers to the next, and what its errors mean. Everything else that the
// loader and the workloads send is standard SQL. It is one value of texts and functions: Errors are for callers that execute
// statements, Locks, Sessions, Clock and Tables for those who hold the workload's schema, Server for reading what a server says
// about itself. The place of an argument is a question mark.
type Dialect struct {
	Errors   Errors
	Locks    Locks
	Sessions Sessions
	Clock    Clock
	Schemas  Schemas
	Tables   Tables
	Server   Server
	// QuotedName is a name as an identifier.
	QuotedName func(name string) string
}

// InSchema is the quoted name of something in a schema.
func (d *Dialect) InSchema(schema, name string) string {
	return d.QuotedName(schema) + "." + d.QuotedName(name)
}

// Locks are the server's locks with a name, which a session holds until it ends.
type Locks struct {
	// Take is a query for a name; its answer is true if the session has the lock, without waiting.
	Take string
	// Holder is an expression for a name: the number of the session that holds the lock, NULL if there is none.
	Holder string
}

// Sessions are those of the server.
type Sessions struct {
	// Own is an expression: the number of the session.
	Own string
	// Others is a query for a schema: the numbers of this user's other sessions that are connected to it.
	Others string
	// Busy is a query for a schema: how many sessions that are connected to it execute something, but for what they send.
	Busy string
	// End is the statement that ends a session.
	End func(session int64) string
	// MayIdle is a statement: the server lets this session be idle for longer than any attempt takes.
	MayIdle string
}

// Clock are expressions about the server's clock, to the microsecond.
type Clock struct {
	// After is the time so long after now.
	After func(d time.Duration) string
	// MicrosUntil is how many microseconds are left until the time in a column.
	MicrosUntil func(column string) string
}

// Schemas are about schemas and what is in them.
type Schemas struct {
	// Exists is a query for a name: how many schemas have it, 0 or 1.
	Exists string
	// Create, CreateMissing and Drop are formats of statements for the quoted name. CreateMissing is no error for one that is there.
	Create, CreateMissing, Drop string
	// Objects is a query with two columns, the kind and the name of each object in a schema. The kinds are as DROP names them. Its
	// parameters are the schema, ObjectsParameters times.
	Objects           string
	ObjectsParameters int
	// DropAll are the statements that drop objects of a schema, if they are still there, whatever refers to what among them.
	DropAll func(inSchema func(name string) string, objects []Object) []string
}

// Object is what a schema holds: a table, view, sequence, routine or event. Its kind is as DROP names it.
type Object struct{ Kind, Name string }

// Tables are the definitions of Benchrun's own tables: what follows the name in CREATE TABLE.
type Tables struct {
	Attempts, Objects, Datasets string
	// InsertNew is a format for the rest of a statement after INSERT: only those rows are inserted that are not there yet.
	InsertNew string
}

// Server are queries about the server. Those without another comment answer with names and values.
type Server struct {
	// Status are queries for the counters.
	Status    []StatusQuery
	Variables string
	// StatusLike is the counters whose names match a pattern of LIKE; empty if there is no such query.
	StatusLike func(pattern string) string
	// CountStatements is a statement after which statements are counted, on a server that is to; empty if that needs none.
	CountStatements  string
	SessionVariables string
	// Encryption is what this session is encrypted with: the protocol's version under EncryptionVersion, and under
	// EncryptionCipher the cipher, which is empty if it is not encrypted.
	Encryption                          string
	EncryptionVersion, EncryptionCipher string
	// MaxConnections is how many sessions there can be.
	MaxConnections string
	// TableBytes are queries for a schema, each for some of the servers: the bytes of the files of the tables in it.
	TableBytes []string
}

// StatusQuery is a query for counters. Needs is the name of one in the queries before that must be true: not all servers have
// what it reads. Empty is none.
type StatusQuery struct{ Needs, Query string }
