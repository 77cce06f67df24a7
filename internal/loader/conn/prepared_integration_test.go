// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package conn

import (
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// The server counts executions as what they are, and commits one of many rows once.
func TestIntegrationPrepared(t *testing.T) {
	server := testServer(t)
	c, err := New(server)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Session(t.Context(), "", []string{
		"DROP DATABASE IF EXISTS conn_test", "CREATE DATABASE conn_test", "USE conn_test",
		"CREATE TABLE prepared (n INT PRIMARY KEY)", "SET autocommit=1",
	})
	if err != nil {
		t.Fatal(err)
	}
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
	if server.Engine == engine.MySQL.Name {
		const says = "protocol Bulk needs MariaDB 10.2 or newer; this server is "
		if _, err := s.Prepare(bulk); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("MySQL prepares for Bulk: %v", err)
		}
		all, commits = []workload.Prepared{prepared, prepared}, 6+2 // it commits what preparing has read, too
	}
	before := status(t, s)
	for _, p := range all {
		head, err := s.Prepare(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range [][]byte{head.First, head.Later, head.Later} {
			if _, err := s.ExecuteWhile(values(append([]byte(nil), h...), 3, p.Rows == 0), func() {}); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := status(t, s)
	for name, want := range map[string]int64{"Com_stmt_prepare": 2, "Com_stmt_execute": 6, "Handler_commit": commits, "Handler_write": 18} {
		if got := after[name] - before[name]; got != want {
			t.Errorf("%s grew by %d, want %d", name, got, want)
		}
	}
	if n, err := s.Fetch([]byte("SELECT n FROM prepared WHERE n BETWEEN 1 AND 18")); err != nil || n != 18 {
		t.Errorf("%d rows, %v", n, err)
	}
	// A duplicate undoes all rows of its execution.
	last := all[1]
	head, err := s.Prepare(last)
	if err != nil {
		t.Fatal(err)
	}
	next = 17
	if _, err := s.ExecuteWhile(append([]byte(nil), values(head.First, 3, last.Rows == 0)...), func() {}); err == nil {
		t.Error("a duplicate is no error")
	}
	if n, err := s.Fetch([]byte("SELECT n FROM prepared")); err != nil || n != 18 {
		t.Errorf("%d rows after an error, %v", n, err)
	}
}

// status are the session's counters; SHOW STATUS writes none of them but its own rows.
func status(t *testing.T, s *Session) map[string]int64 {
	t.Helper()
	pairs, err := s.Pairs("SHOW SESSION STATUS WHERE Variable_name IN ('Com_stmt_prepare', 'Com_stmt_execute', 'Handler_commit', 'Handler_write')")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for name, value := range pairs {
		if all[name], err = strconv.ParseInt(value, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
