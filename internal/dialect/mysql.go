// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
)

// mysql is the dialect of MySQL and MariaDB.
func mysql(e *engine.Engine) *Dialect {
	return &Dialect{
		Kind: func(err error) Kind { return mysqlKind(e, err) },
		Name: mysqlName,
		Sessions: Sessions{
			Own:      "CONNECTION_ID()",
			StayIdle: "SET SESSION wait_timeout = ?",
			Others: "SELECT id FROM information_schema.processlist" +
				" WHERE db = ? AND user = SUBSTRING_INDEX(USER(), '@', 1) AND id <> CONNECTION_ID()",
			End: func(id int64) string { return fmt.Sprintf("KILL %d", id) },
		},
		Locks: Locks{Take: "SELECT GET_LOCK(?, ?)", Holder: "IS_USED_LOCK(?)"},
		Schemas: Schemas{
			Exists:   "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?",
			Create:   func(name string) string { return "CREATE DATABASE " + mysqlName(name) },
			Drop:     func(name string) string { return "DROP DATABASE " + mysqlName(name) },
			Objects:  mysqlObjects,
			In:       func(schema, name string) string { return mysqlName(schema) + "." + mysqlName(name) },
			AnyOrder: "SET foreign_key_checks = 0", InOrder: "SET foreign_key_checks = DEFAULT",
		},
		Tables: Tables{
			Token: func(length int) string {
				return fmt.Sprintf("VARCHAR(%d) CHARACTER SET ascii COLLATE ascii_bin", length)
			},
			Identifier: "VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
			Moment:     "DATETIME(6)", Bytes: "LONGBLOB",
			Options: "ENGINE=InnoDB",
			InsertNew: func(table, columns, values string) string {
				return "INSERT IGNORE INTO " + table + " (" + columns + ") VALUES " + values
			},
		},
		Clock: Clock{
			In: func(after time.Duration) string {
				return fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND", after.Microseconds())
			},
			Until: func(column string) string { return "TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), " + column + ")" },
		},
		Status: Status{
			Counters:     "SHOW GLOBAL STATUS",
			CountersLike: func(pattern string) string { return "SHOW GLOBAL STATUS LIKE '" + pattern + "'" },
			Variables:    "SHOW GLOBAL VARIABLES", SessionVariables: "SHOW SESSION VARIABLES",
			Encryption: `SHOW SESSION STATUS LIKE 'Ssl\_%'`, TLSVersion: "Ssl_version", TLSCipher: "Ssl_cipher",
			MaxConnections: "SELECT @@max_connections",
		},
	}
}

// Numbers of errors that mean the same in all versions of MySQL and MariaDB.
const (
	errTooManyConnections       = 1040
	errNoSuchSchema             = 1049
	errDuplicateKey             = 1062
	errNoSuchThread             = 1094
	errNoSuchTable              = 1146
	errTooManyConnectionsOfUser = 1203
)

func mysqlKind(e *engine.Engine, err error) Kind {
	number, answered := mysqlwire.ErrorNumber(err)
	switch {
	case !answered:
		return NotAnswered
	case slices.Contains(e.ConnectionEnded, number):
		return ConnectionEnded
	case slices.Contains(e.TryAgain, number):
		return TryAgain
	}
	switch number {
	case errTooManyConnections, errTooManyConnectionsOfUser:
		return TooManyConnections
	case errNoSuchSchema, errNoSuchTable:
		return NotFound
	case errDuplicateKey:
		return Duplicate
	case errNoSuchThread:
		return NoSession
	}
	return Refused
}

func mysqlName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func mysqlObjects(schema string) (query string, args []any) {
	const objects = "SELECT IF(table_type IN ('VIEW', 'SEQUENCE'), table_type, 'TABLE'), table_name" +
		" FROM information_schema.tables WHERE table_schema = ? AND table_type <> 'TEMPORARY'" +
		" UNION ALL SELECT routine_type, routine_name FROM information_schema.routines" +
		" WHERE routine_schema = ? AND routine_type <> 'PACKAGE BODY'" +
		" UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = ?"
	return objects, []any{schema, schema, schema}
}
