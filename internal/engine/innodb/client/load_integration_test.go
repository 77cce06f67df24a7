//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// env is a variable of the environment that names the server. There is no skipping: a test that was not run proves nothing.
func env(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv("BENCHRUN_TEST_" + name)
	if value == "" {
		t.Fatalf("BENCHRUN_TEST_%s is not set: the integration tests need a server, see hack/server.sh", name)
	}
	return value
}

// overPlainAndEncrypted runs a test twice, in a session with an empty schema and these tables. A MariaDB before 11.4 has no
// certificate: there, it sees that the encrypted session is refused.
func overPlainAndEncrypted(t *testing.T, test func(t *testing.T, s *mySession), tables ...string) {
	t.Helper()
	server := result.Server{Host: env(t, "HOST"), Port: must.Get(strconv.Atoi(env(t, "PORT")))(t)}
	session := func(t *testing.T, tls string) (*mySession, error) {
		server.TLS = tls
		setup := []string{"DROP DATABASE IF EXISTS conn_test", "CREATE DATABASE conn_test", "USE conn_test"}
		s, err := must.Get(New(server, env(t, "USER"), env(t, "PASSWORD")))(t).Session(t.Context(), "", append(setup, tables...))
		own, _ := s.(*mySession)
		return own, err
	}
	encrypts := env(t, "ENGINE") == engine.MySQL.Name
	t.Run("plain", func(t *testing.T) {
		s := must.Get(session(t, ""))(t)
		defer s.Close()
		encrypts = encrypts || must.Get(s.Pairs("SHOW GLOBAL VARIABLES LIKE 'have_ssl'"))(t)["have_ssl"] == "YES"
		test(t, s)
	})
	t.Run("encrypted", func(t *testing.T) {
		if !encrypts {
			must.Refused(session(t, result.TLSRequired))(t, "server does not support TLS")
			return
		}
		s := must.Get(session(t, result.TLSRequired))(t)
		defer s.Close()
		test(t, s)
	})
}

// Over an encrypted connection, a file is sent as over one that is not.
func TestIntegrationLoad(t *testing.T) {
	overPlainAndEncrypted(t, func(t *testing.T, s *mySession) {
		rows, warnings, err := s.Load("INTO TABLE loaded FIELDS TERMINATED BY '|'", strings.NewReader("1|a\n1|b\n2|c\n3|long\n"))
		if rows != 3 || warnings != 2 || err != nil {
			t.Errorf("%d rows, %d warnings, %v", rows, warnings, err)
		}
		if first, err := s.Warning(); err != nil || !strings.Contains(first, "Duplicate entry '1'") {
			t.Errorf("first warning %q, %v", first, err)
		}
		if _, _, err := s.Load("INTO TABLE nowhere", strings.NewReader("1")); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("error %v", err)
		}
		broken := errors.New("the disk is gone")
		if _, _, err := s.Load("INTO TABLE loaded", iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		if err := s.Exec([]byte("DROP DATABASE conn_test")); err != nil {
			t.Errorf("the connection is of no use any more: %v", err)
		}
	}, "CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(3))")
}

// The server counts executions as what they are, and commits one of many rows once.
func TestIntegrationPrepared(t *testing.T) {
	server := result.Server{Host: env(t, "HOST"), Port: must.Get(strconv.Atoi(env(t, "PORT")))(t)}
	c := must.Get(New(server, env(t, "USER"), env(t, "PASSWORD")))(t)
	s := must.Get(c.Session(t.Context(), "", []string{
		"DROP DATABASE IF EXISTS conn_test", "CREATE DATABASE conn_test", "USE conn_test",
		"CREATE TABLE prepared (n INT PRIMARY KEY)", "SET autocommit=1",
	}))(t).(*mySession)
	defer s.Close()
	next := byte(1)
	// values of so many rows, with indicators or without.
	values := func(dst []byte, rows int, indicated bool) []byte {
		for range rows {
			if indicated {
				dst = append(dst, 0)
			}
			dst = append(dst, next, 0, 0, 0)
			next++
		}
		return dst
	}
	prepared := workload.Prepared{
		SQL: "INSERT INTO prepared VALUES (?),(?),(?)", Types: []mysqlwire.Type{mysqlwire.TypeInt}, Rows: 3,
	}
	bulk := workload.Prepared{SQL: "INSERT INTO prepared VALUES (?)", Types: []mysqlwire.Type{mysqlwire.TypeInt}}
	all, commits := []workload.Prepared{prepared, bulk}, int64(6)
	if env(t, "ENGINE") == engine.MySQL.Name {
		const says = "protocol Bulk needs MariaDB 10.2 or newer; this server is "
		must.Refused(s.Prepare(bulk))(t, says)
		all, commits = []workload.Prepared{prepared, prepared}, 6+2 // it commits what preparing has read, too
	}
	before := status(t, s)
	for _, p := range all {
		head := must.Get(s.Prepare(p))(t)
		for _, h := range [][]byte{head.First, head.Later, head.Later} {
			must.Get(s.ExecuteWhile(values(append([]byte(nil), h...), 3, p.Rows == 0), func() {}))(t)
		}
	}
	after := status(t, s)
	for name, want := range map[string]int64{"Com_stmt_prepare": 2, "Com_stmt_execute": 6, "Handler_commit": commits, "Handler_write": 18} {
		must.Same(t, name+" grew by", want, after[name]-before[name])
	}
	if n, err := s.Fetch([]byte("SELECT n FROM prepared WHERE n BETWEEN 1 AND 18")); err != nil || n != 18 {
		t.Errorf("%d rows, %v", n, err)
	}
	// A duplicate undoes all rows of its execution.
	last := all[1]
	head := must.Get(s.Prepare(last))(t)
	next = 17
	if _, err := s.ExecuteWhile(append([]byte(nil), values(head.First, 3, last.Rows == 0)...), func() {}); err == nil {
		t.Error("a duplicate is no error")
	}
	if n, err := s.Fetch([]byte("SELECT n FROM prepared")); err != nil || n != 18 {
		t.Errorf("%d rows after an error, %v", n, err)
	}
}

// status are the session's counters; SHOW STATUS writes none of them but its own rows.
func status(t *testing.T, s *mySession) map[string]int64 {
	t.Helper()
	pairs := must.Get(s.Pairs("SHOW SESSION STATUS WHERE Variable_name IN ('Com_stmt_prepare', 'Com_stmt_execute', 'Handler_commit', 'Handler_write')"))(t)
	all := map[string]int64{}
	for name, value := range pairs {
		all[name] = must.Get(strconv.ParseInt(value, 10, 64))(t)
	}
	return all
}

// Rows are counted below the driver, whatever their sizes, and the session goes on after each answer, also after a refusal.
func TestIntegrationRows(t *testing.T) {
	overPlainAndEncrypted(t, func(t *testing.T, s *mySession) {
		for query, want := range map[string]int64{
			"SELECT * FROM narrow": 5, "SELECT * FROM narrow WHERE n < 1": 0, "SELECT n FROM narrow ORDER BY n LIMIT 3": 3,
			"SELECT a.n, b.n FROM narrow a, narrow b, narrow c, narrow d": 625, "SELECT s FROM narrow WHERE n = 1": 1, "SHOW TABLES": 1,
		} {
			if got, err := s.Fetch([]byte(query)); err != nil || got != want {
				t.Errorf("%s: %d rows, %v; want %d", query, got, err, want)
			}
		}
		for _, statement := range []string{"SELECT * FROM missing", "SELEC"} {
			_, err := s.Fetch([]byte(statement))
			if _, refused := errors.AsType[*mysql.MySQLError](err); !refused {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if _, err := s.Fetch([]byte("DO 1")); err == nil {
			t.Error("DO sends rows")
		}
		for statement, want := range map[string]int64{"DELETE FROM narrow WHERE n > 5": 0, "DELETE FROM narrow WHERE n IN (1, 3)": 2} {
			if got, err := s.ExecAffected([]byte(statement)); err != nil || got != want {
				t.Errorf("%s: %d rows, %v; want %d", statement, got, err, want)
			}
		}
		// The driver's own queries go on, too.
		if pairs, err := s.Pairs("SELECT n, n FROM narrow"); err != nil || len(pairs) != 3 {
			t.Errorf("%v, %v", pairs, err)
		}
	}, "CREATE TABLE narrow (n INT PRIMARY KEY, s LONGTEXT)",
		"INSERT INTO narrow VALUES (1, NULL), (2, ''), (3, REPEAT('x', 300)), (4, REPEAT('y', 100000)), (5, REPEAT('z', 5000000))")
}
