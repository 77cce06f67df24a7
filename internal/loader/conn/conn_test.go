// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func wrapped(number uint16) error {
	return fmt.Errorf("executing x: %w", &mysql.MySQLError{Number: number})
}

// Each number means one thing, however deep the error is wrapped, and nothing to a server of an engine without it.
func TestErrors(t *testing.T) {
	mariaDB := &conn.Dialect(engine.MariaDB).Errors
	for name, tc := range map[string]struct {
		is      func(error) bool
		numbers []uint16
	}{
		"connection ended":  {mariaDB.ConnectionEnded, []uint16{1053, 1927}},
		"try again":         {mariaDB.TryAgain, []uint16{1020, 1205, 1213}},
		"too many sessions": {mariaDB.TooManySessions, []uint16{1040, 1203}},
		"duplicate key":     {mariaDB.DuplicateKey, []uint16{1062}},
		"no such table":     {mariaDB.NoSuchTable, []uint16{1049, 1146}},
		"no such session":   {mariaDB.NoSuchSession, []uint16{1094}},
	} {
		for _, number := range tc.numbers {
			if !tc.is(wrapped(number)) {
				t.Errorf("%s: not error %d", name, number)
			}
		}
		for _, other := range []error{nil, wrapped(1064), mysql.ErrInvalidConn, io.EOF} {
			if tc.is(other) {
				t.Errorf("%s: %v", name, other)
			}
		}
	}
	for _, number := range []uint16{1205, 1053} {
		other := &conn.Dialect(&engine.Engine{SQL: base.MySQL}).Errors
		if err := wrapped(number); other.TryAgain(err) || other.ConnectionEnded(err) || !other.Answered(err) {
			t.Errorf("error %d of a server that knows no such number", number)
		}
	}
}

// A server that starts is waited for, one that refuses is not.
func TestWorthAnotherTry(t *testing.T) {
	e := &conn.Dialect(engine.MySQL).Errors
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nobody listens":        {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"the server broke off":  {mysql.ErrInvalidConn, true},
		"it shuts down":         {wrapped(1053), true},
		"it has no connection":  {wrapped(1040), true},
		"it refuses the user":   {wrapped(1045), false},
		"it offers no TLS":      {fmt.Errorf("x: %w", mysql.ErrNoTLS), false},
		"another's certificate": {&tls.CertificateVerificationError{Err: errors.New("x")}, false},
	} {
		must.Same(t, name, tc.want, e.WorthAnotherTry(tc.err))
	}
}

func TestInWords(t *testing.T) {
	e := &conn.Dialect(engine.MariaDB).Errors
	err := e.InWords(fmt.Errorf("inserting: %w", mysql.ErrInvalidConn))
	if err.Error() != "inserting: the server closed the connection" || !errors.Is(err, mysql.ErrInvalidConn) || !e.Broken(err) {
		t.Error(err)
	}
	if err := wrapped(1064); e.InWords(err).Error() != err.Error() || e.Broken(err) {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	d := conn.Dialect(engine.MySQL)
	must.Same(t, "name", "`bench`.`a``b`", d.InSchema("bench", "a`b"))
}

func TestPostgreSQLErrors(t *testing.T) {
	e := &conn.Dialect(engine.PostgreSQL).Errors
	of := func(code string) error { return fmt.Errorf("executing x: %w", &pgconn.PgError{Code: code}) }
	for code, is := range map[string]func(error) bool{
		"57P01": e.ConnectionEnded, "40001": e.TryAgain, "40P01": e.TryAgain, "53300": e.TooManySessions, "23505": e.DuplicateKey,
		"42P01": e.NoSuchTable, "3F000": e.NoSuchTable, "57P03": e.WorthAnotherTry,
	} {
		if !is(of(code)) || is(of("42601")) {
			t.Errorf("%s is not told from other errors", code)
		}
	}
	if !e.Answered(of("42601")) || e.Answered(wrapped(1064)) || e.WorthAnotherTry(fmt.Errorf("server refused TLS connection")) {
		t.Error("answers of this server are not told from others")
	}
}
