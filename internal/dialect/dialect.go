// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dialect holds the SQL that differs from one family of servers to the next, and what its errors mean. Everything else
// that the loader and the workloads send is standard SQL. What the operator has to know of a server is in package engine.
//
// A dialect is one value of texts and functions: it connects to nothing. Its families follow their users: Errors are for callers
// that execute statements, Locks, Sessions, Clock and Tables for those who hold the workload's schema, Server for reading what a
// server says about itself.
package dialect

import (
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// Dialect is the SQL of a family of servers.
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

// Of is the dialect that the servers of an engine understand. All engines so far speak MySQL's.
func Of(e *engine.Engine) *Dialect {
	d := mySQL
	d.Errors.connectionEnded, d.Errors.tryAgain = e.ConnectionEnded, e.TryAgain
	return &d
}

// InSchema is the quoted name of something in a schema.
func (d *Dialect) InSchema(schema, name string) string {
	return d.QuotedName(schema) + "." + d.QuotedName(name)
}

// Locks are the server's locks with a name, which a session holds until it ends.
type Locks struct {
	// Take is a query for a name and a number of seconds; its answer is true if the session has the lock within them.
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
	// IdleAtMost is a statement for a number of seconds: for how long the server lets this session be idle.
	IdleAtMost string
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
	// Create, CreateMissing and Drop are statements, to which the quoted name is appended. CreateMissing is no error for one that is
	// there.
	Create, CreateMissing, Drop string
	// Objects is a query with two columns, the kind and the name of each object in a schema. The kinds are as DROP names them. Its
	// parameters are the schema, ObjectsParameters times.
	Objects           string
	ObjectsParameters int
	// InAnyOrder lets this session drop tables that others refer to, InOrder ends that.
	InAnyOrder, InOrder string
}

// Tables are the definitions of Benchrun's own tables: what follows the name in CREATE TABLE.
type Tables struct {
	Attempts, Objects, Datasets string
	// InsertNew begins a statement that inserts those rows that are not there yet; INTO follows.
	InsertNew string
}

// Server are queries about the server. Those without another comment answer with names and values.
type Server struct {
	Status, Variables string
	// StatusLike is the counters whose names match a pattern of LIKE.
	StatusLike       func(pattern string) string
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

var mySQL = Dialect{
	Errors: Errors{
		starting:        []uint16{1053},       // ER_SERVER_SHUTDOWN
		tooManySessions: []uint16{1040, 1203}, // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS
		duplicateKey:    []uint16{1062},       // ER_DUP_ENTRY
		noSuchTable:     []uint16{1049, 1146}, // ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE
		noSuchSession:   []uint16{1094},       // ER_NO_SUCH_THREAD
	},
	Locks: Locks{Take: "SELECT GET_LOCK(?, ?)", Holder: "IS_USED_LOCK(?)"},
	Sessions: Sessions{
		Own: "CONNECTION_ID()",
		Others: "SELECT id FROM information_schema.processlist" +
			" WHERE db = ? AND user = SUBSTRING_INDEX(USER(), '@', 1) AND id <> CONNECTION_ID()",
		Busy: "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND command <> 'Sleep'" +
			" AND id <> CONNECTION_ID() AND COALESCE(state, '') NOT IN ('Writing to net', 'Sending to client')",
		End:        func(session int64) string { return fmt.Sprintf("KILL %d", session) },
		IdleAtMost: "SET SESSION wait_timeout = ?",
	},
	Clock: Clock{
		After: func(d time.Duration) string {
			return fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND", d.Microseconds())
		},
		MicrosUntil: func(column string) string { return "TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), " + column + ")" },
	},
	Schemas: Schemas{
		Exists: "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?",
		Create: "CREATE DATABASE ", CreateMissing: "CREATE DATABASE IF NOT EXISTS ", Drop: "DROP DATABASE IF EXISTS ",
		Objects: "SELECT IF(table_type IN ('VIEW', 'SEQUENCE'), table_type, 'TABLE'), table_name" +
			" FROM information_schema.tables WHERE table_schema = ? AND table_type <> 'TEMPORARY'" +
			" UNION ALL SELECT routine_type, routine_name FROM information_schema.routines" +
			" WHERE routine_schema = ? AND routine_type <> 'PACKAGE BODY'" +
			" UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = ?",
		ObjectsParameters: 3,
		InAnyOrder:        "SET foreign_key_checks = 0", InOrder: "SET foreign_key_checks = DEFAULT",
	},
	Tables: Tables{
		Attempts: `(
		run_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		trial INT NOT NULL,
		attempt INT NOT NULL,
		pod_index INT NOT NULL,
		pod_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		connection_id BIGINT NOT NULL,
		making BOOLEAN NOT NULL DEFAULT FALSE,
		arrived INT NOT NULL DEFAULT 0,
		released INT NOT NULL DEFAULT 0,
		release_at DATETIME(6),
		part LONGBLOB,
		PRIMARY KEY (run_uid, trial, attempt, pod_index)
	) ENGINE=InnoDB`,
		Objects: `(
		kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
		PRIMARY KEY (kind, name)
	) ENGINE=InnoDB`,
		Datasets: `(
		digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY
	) ENGINE=InnoDB`,
		InsertNew: "INSERT IGNORE",
	},
	Server: Server{
		Status: "SHOW GLOBAL STATUS", Variables: "SHOW GLOBAL VARIABLES",
		StatusLike:       func(pattern string) string { return "SHOW GLOBAL STATUS LIKE '" + pattern + "'" },
		SessionVariables: "SHOW SESSION VARIABLES",
		Encryption:       `SHOW SESSION STATUS LIKE 'Ssl\_%'`, EncryptionVersion: "Ssl_version", EncryptionCipher: "Ssl_cipher",
		MaxConnections: "SELECT @@max_connections",
		TableBytes: []string{
			"SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_sys_tablespaces WHERE SUBSTRING_INDEX(name, '/', 1) = ?",
			"SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_tablespaces WHERE SUBSTRING_INDEX(name, '/', 1) = ?",
		},
	},
	QuotedName: func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" },
}

// Errors say what an error means. No error is none of them.
type Errors struct {
	// The server's own numbers of each meaning.
	connectionEnded, tryAgain, starting, tooManySessions, duplicateKey, noSuchTable, noSuchSession []uint16
}

func oneOf(err error, numbers []uint16) bool {
	server, answered := errors.AsType[*mysql.MySQLError](err)
	return answered && slices.Contains(numbers, server.Number)
}

// Answered says whether the server has answered with an error.
func (*Errors) Answered(err error) bool {
	_, answered := errors.AsType[*mysql.MySQLError](err)
	return answered
}

// ConnectionEnded says whether the server ended the connection, so that the statement was not wrong.
func (e *Errors) ConnectionEnded(err error) bool { return oneOf(err, e.connectionEnded) }

// TryAgain says whether a client is expected to roll its transaction back and begin it anew.
func (e *Errors) TryAgain(err error) bool { return oneOf(err, e.tryAgain) }

// TooManySessions says whether the server has no connection left: for any user, or for this one.
func (e *Errors) TooManySessions(err error) bool { return oneOf(err, e.tooManySessions) }

// DuplicateKey says whether there is a row with this key.
func (e *Errors) DuplicateKey(err error) bool { return oneOf(err, e.duplicateKey) }

// NoSuchTable says whether a table, or its schema, does not exist.
func (e *Errors) NoSuchTable(err error) bool { return oneOf(err, e.noSuchTable) }

// NoSuchSession says whether a session that was to be ended does not exist.
func (e *Errors) NoSuchSession(err error) bool { return oneOf(err, e.noSuchSession) }

// WorthAnotherTry tells a server that cannot be connected to yet from one that refuses.
func (e *Errors) WorthAnotherTry(err error) bool {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted || errors.Is(err, mysql.ErrNoTLS) {
		return false
	}
	// Nothing listens, the name is not known yet, the server broke off: all of it is what starting looks like.
	return !e.Answered(err) || oneOf(err, e.starting) || e.TooManySessions(err)
}

// Broken says whether a connection broke, or could not be made again.
func (*Errors) Broken(err error) bool {
	_, dialing := errors.AsType[*net.OpError](err)
	_, talking := errors.AsType[*os.SyscallError](err)
	lost := []error{mysql.ErrInvalidConn, driver.ErrBadConn, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF}
	return dialing || talking || slices.ContainsFunc(lost, func(lost error) bool { return errors.Is(err, lost) })
}

// InWords is the error with another text where the driver's is for programmers only.
func (*Errors) InWords(err error) error {
	if !errors.Is(err, mysql.ErrInvalidConn) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return inWords{err, strings.ReplaceAll(err.Error(), mysql.ErrInvalidConn.Error(), "the server closed the connection")}
}

type inWords struct {
	error
	text string
}

func (w inWords) Error() string { return w.text }

func (w inWords) Unwrap() error { return w.error }
