// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
)

// indebted gives the server some thousand dirty pages, which it would keep.
func indebted(t testing.TB) *sql.DB {
	t.Helper()
	db := other(t)
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS quiesce",
		"DROP TABLE IF EXISTS quiesce.pages",
		"CREATE TABLE quiesce.pages (id INT AUTO_INCREMENT PRIMARY KEY, filler CHAR(250)) ENGINE=InnoDB",
		"INSERT INTO quiesce.pages (filler) VALUES " + strings.Repeat("('x'),", 999) + "('x')",
		"INSERT INTO quiesce.pages (filler) SELECT a.filler FROM quiesce.pages a, (SELECT id FROM quiesce.pages LIMIT 99) b",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE quiesce") })
	return db
}

func TestIntegrationQuiesceReachesItsGoals(t *testing.T) {
	db := indebted(t)
	before := dirtyPages(t)
	found, err := server.Quiesce(t.Context(), testedEngine(t), testedDialect(t), db, server.QuiesceAtMost)
	// A hundredth of the buffer pool of 128 MiB, and what the server writes on its own.
	if after := dirtyPages(t); err != nil || len(found) > 0 || before < 1000 || after > 200 {
		t.Errorf("of %d dirty pages %d are left: findings %v, error %v", before, after, found, err)
	}
}

// A transaction that is left open keeps the server from purging what others change: that is what the warning says.
func TestIntegrationQuiesceNamesTheDebt(t *testing.T) {
	db := indebted(t)
	reader, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A connection of its own, which is closed with its transaction.
	defer reader.Close()
	if _, err := reader.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if _, err := db.Exec("UPDATE quiesce.pages SET filler = ? WHERE id = 1", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := server.Quiesce(t.Context(), testedEngine(t), testedDialect(t), db, time.Second)
	if warning := strings.Join(finding.Texts(found), "\n"); err != nil || !strings.HasPrefix(warning, "the server did not settle: after 1 s it still had ") ||
		!strings.Contains(warning, " transactions in the purge history (goal: 100)") {
		t.Errorf("warning %q, error %v", warning, err)
	}
}

// Where the server cannot be asked, it is waited for as long as its debt falls: this one keeps its dirty pages.
func TestIntegrationMariaDBQuiesceOfAServerThatKeepsItsDebt(t *testing.T) {
	db := indebted(t)
	unrequested := *testedEngine(t)
	unrequested.Counters.WriteBack = "SET GLOBAL innodb_no_such_variable=ON"
	began := time.Now()
	found, err := server.Quiesce(t.Context(), &unrequested, testedDialect(t), db, time.Hour)
	if warning := strings.Join(finding.Texts(found), "\n"); err != nil || !strings.Contains(warning, " dirty pages (goal: ") || time.Since(began) > 5*time.Minute {
		t.Errorf("warning %q after %s, error %v", warning, time.Since(began), err)
	}
}

// An attempt that is told to stop does not wait.
func TestIntegrationQuiesceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.Quiesce(ctx, testedEngine(t), testedDialect(t), other(t), time.Hour); err == nil {
		t.Error("the wait went on")
	}
}

func dirtyPages(t testing.TB) int {
	t.Helper()
	status, err := server.Status(t.Context(), testedDialect(t), other(t))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(status["Innodb_buffer_pool_pages_dirty"])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
