// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
)

// rolledBack is how many transactions were rolled back on the server.
func rolledBack(t testing.TB, db *sql.DB) (n int) {
	t.Helper()
	var name string
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_rollback'").Scan(&name, &n); err != nil {
		t.Error(err)
	}
	return n
}

// inTheWay lets somebody lock the end of CommitSize's table until the attempt has given a transaction up.
func inTheWay(t testing.TB) {
	t.Helper()
	inTheWayOf(t, "demo")
}

// inTheWayOf is inTheWay for another table.
func inTheWayOf(t testing.TB, table string) {
	t.Helper()
	setGlobal(t, "innodb_lock_wait_timeout", "1")
	whileFilling(t, table, 100, func(db *sql.DB) {
		conn, err := db.Conn(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		before := rolledBack(t, db)
		for _, statement := range []string{"START TRANSACTION", "SELECT * FROM bench." + table + " WHERE id > 1000000000 FOR UPDATE"} {
			if _, err := conn.ExecContext(context.Background(), statement); err != nil {
				t.Error(err)
			}
		}
		if err := eventually(func() bool { return rolledBack(t, db) > before }); err != nil {
			t.Error("no transaction was rolled back")
		}
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	})
}

// A client that another one's lock holds up for too long tries its transaction again: every row is there once, and the result
// says how often that happened.
func TestIntegrationLockWaitTimeout(t *testing.T) {
	dropTable(t)
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 7})
	tr.cfg.LimitSeconds, tr.cfg.ErrorPercent = 4, 50
	inTheWay(t)
	_, doc := tr.mustRun(t)
	sums(t, doc)
	rate := metricsOf(doc)["errorPercent"]
	if doc.Totals.Errors < 1 || rate <= 0 || rate > 50 {
		t.Errorf("totals %+v, rate %g", doc.Totals, rate)
	}
	longest := int64(0)
	for _, i := range doc.Series {
		longest = max(longest, i.MaxMicros)
	}
	if longest < 900_000 {
		t.Errorf("a second's wait is not in the series, whose longest latency is %d µs", longest)
	}
}

func TestIntegrationTooManyErrors(t *testing.T) {
	dropTable(t)
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 7})
	tr.cfg.LimitSeconds, tr.cfg.ErrorPercent = 4, 0
	inTheWay(t)
	tr.mustFail(t.Context(), t, result.CauseTooManyErrors, "limits.errorPercent allows 0%")
	if strings.Contains(tr.out.String(), "benchrun-document") {
		t.Error("there is a document")
	}
}
