// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/engine"
)

func TestKind(t *testing.T) {
	mariaDB, mySQL := dialect.Of(&engine.MariaDB), dialect.Of(&engine.MySQL)
	for name, tc := range map[string]struct {
		number         uint16
		mariaDB, mySQL dialect.Kind
	}{
		"shutdown":              {1053, dialect.ConnectionEnded, dialect.ConnectionEnded},
		"killed":                {1927, dialect.ConnectionEnded, dialect.Refused},
		"idle for too long":     {4031, dialect.Refused, dialect.ConnectionEnded},
		"deadlock":              {1213, dialect.TryAgain, dialect.TryAgain},
		"changed row":           {1020, dialect.TryAgain, dialect.Refused},
		"too many":              {1040, dialect.TooManyConnections, dialect.TooManyConnections},
		"too many of this user": {1203, dialect.TooManyConnections, dialect.TooManyConnections},
		"no schema":             {1049, dialect.NotFound, dialect.NotFound},
		"no table":              {1146, dialect.NotFound, dialect.NotFound},
		"duplicate":             {1062, dialect.Duplicate, dialect.Duplicate},
		"no thread":             {1094, dialect.NoSession, dialect.NoSession},
		"syntax":                {1064, dialect.Refused, dialect.Refused},
	} {
		err := fmt.Errorf("executing x: %w", &mysql.MySQLError{Number: tc.number})
		if got := mariaDB.Kind(err); got != tc.mariaDB {
			t.Errorf("%s, MariaDB: %d, want %d", name, got, tc.mariaDB)
		}
		if got := mySQL.Kind(err); got != tc.mySQL {
			t.Errorf("%s, MySQL: %d, want %d", name, got, tc.mySQL)
		}
	}
	for _, err := range []error{nil, errors.New("x"), mysql.ErrInvalidConn} {
		if got := mariaDB.Kind(err); got != dialect.NotAnswered {
			t.Errorf("%v: %d", err, got)
		}
	}
}

func TestStatements(t *testing.T) {
	d := dialect.Of(&engine.MariaDB)
	for got, want := range map[string]string{
		d.Name("a`b"):                             "`a``b`",
		d.Schemas.In("s", "a`b"):                  "`s`.`a``b`",
		d.Schemas.Create("s"):                     "CREATE DATABASE `s`",
		d.Schemas.Drop("s"):                       "DROP DATABASE `s`",
		d.Sessions.End(7):                         "KILL 7",
		d.Clock.In(time.Second / 2):               "UTC_TIMESTAMP(6) + INTERVAL 500000 MICROSECOND",
		d.Tables.InsertNew("t", "a, b", "(?, ?)"): "INSERT IGNORE INTO t (a, b) VALUES (?, ?)",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
