// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	ownsql "github.com/benchrun-dev/benchrun/internal/workload/statements"
)

func TestIntegrationPostgreSQLWholeRun(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 5000, RowsPerCommit: 16})
	tr.cfg.Settings = []result.Setting{
		{Name: "fsync", Value: "off"},
		{Name: "max_wal_size", Value: "1GB"},
		{Name: "random_page_cost", Value: "4"},
		{Name: "shared_buffers", Value: "131072kB"},
		{Name: "work_mem", Value: "4096"},
	}
	_, doc := tr.mustRun(t)
	sums(t, doc)
	for _, s := range doc.Server.Settings {
		if s.Outcome != result.SettingEffective {
			t.Errorf("%+v", s)
		}
	}
	if doc.Totals.Rows != 5000 || doc.Totals.Transactions != 313 || len(doc.Checks) != 2 || !doc.Checks[0].Passed || !doc.Checks[1].Passed {
		t.Errorf("totals %+v, checks %+v", doc.Totals, doc.Checks)
	}
	f := doc.Server
	if !strings.HasPrefix(f.Version, "1") || len(f.Variables) < 300 || len(f.Session) != 0 || f.WorkingSet != nil && f.WorkingSet.RedoLogBytes < 1 {
		t.Errorf("version %q, %d variables, session %v, working set %+v", f.Version, len(f.Variables), f.Session, f.WorkingSet)
	}
	if wal, known := server.Growth(f.StatusBefore, f.StatusAfter, "wal_insert_lsn"); !known || wal < 5000*64 {
		t.Errorf("%d bytes of WAL", wal)
	}
	if lost := strings.Join(finding.Texts(doc.Findings), "\n"); !strings.Contains(lost, "fsync is off") {
		t.Errorf("nothing says that commits are not durable: %s", lost)
	}
}

// A setting that the server does not have ends the attempt, with both values.
func TestIntegrationPostgreSQLSettingsAreReadBack(t *testing.T) {
	for name, tc := range map[string]struct{ value, says string }{
		"work_mem":           {"5MB", `work_mem=5MB was requested, but the server has "4MB"`},
		"synchronous_commit": {"off", `synchronous_commit=off was requested, but the server has "on"`},
		"statement_timeout":  {"1min", `statement_timeout=1min was requested, but the server has "0"`},
	} {
		tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
		tr.cfg.Settings = []result.Setting{{Name: name, Value: tc.value}}
		tr.mustFail(t.Context(), t, result.CauseSettingNotEffective, tc.says)
	}
}

// meanwhile is what somebody else does meanwhile.
func meanwhile(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestIntegrationPostgreSQLDisturbed(t *testing.T) {
	const session = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
	for name, tc := range map[string]struct {
		statement string
		limit     int
		reason    result.Cause
		says      string
	}{
		"a client is ended": {
			session + "application_name = 'benchrun-loader bench' AND (query LIKE 'BEGIN;INSERT%' OR query = 'COMMIT')", 0,
			result.CauseConnectionLost, "",
		},
		"who holds the schema is ended": {
			session + "pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')", watchedSeconds, result.CauseConnectionLost,
			"still holds the lock of the schema",
		},
		"the table is dropped": {"DROP TABLE bench.demo", 0, result.CauseSQL, `relation "demo" does not exist`},
		"a row is deleted":     {"DELETE FROM bench.demo WHERE id = 7", watchedSeconds, result.CauseCheckFailed, "rows:"},
		"a row is changed":     {"UPDATE bench.demo SET data = 'X' WHERE id = 7", watchedSeconds, result.CauseCheckFailed, "checksum: the table has"},
	} {
		t.Run(name, func(t *testing.T) {
			dropTable(t)
			tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
			tr.cfg.LimitSeconds = tc.limit
			whileMeasuring(t, 100, func(db *sql.DB) { meanwhile(t, db, tc.statement) })
			tr.mustFail(t.Context(), t, tc.reason, tc.says)
		})
	}
}

func TestIntegrationPostgreSQLVariableChangedMeanwhile(t *testing.T) {
	dropTable(t)
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
	tr.cfg.LimitSeconds = watchedSeconds
	t.Cleanup(func() {
		meanwhile(t, other(t), "ALTER SYSTEM RESET log_min_duration_statement")
		meanwhile(t, other(t), "SELECT pg_reload_conf()")
	})
	whileMeasuring(t, 100, func(db *sql.DB) {
		meanwhile(t, db, "ALTER SYSTEM SET log_min_duration_statement = '1234s'")
		meanwhile(t, db, "SELECT pg_reload_conf()")
	})
	tr.mustFail(t.Context(), t, result.CauseVariablesChanged, `log_min_duration_statement was "-1" and is now "1234s"`)
}

// Another session's lock makes the client's statement fail after lock_timeout: it tries its transaction again, every row is there
// once, and the result says how often that happened.
func TestIntegrationPostgreSQLLockTimeout(t *testing.T) {
	dropTable(t)
	meanwhile(t, other(t), "ALTER ROLE CURRENT_USER SET lock_timeout = '1s'")
	t.Cleanup(func() { meanwhile(t, other(t), "ALTER ROLE CURRENT_USER RESET lock_timeout") })
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 7})
	tr.cfg.LimitSeconds, tr.cfg.ErrorPercent = 4, 50
	whileMeasuring(t, 100, func(db *sql.DB) {
		conn, err := db.Conn(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		var before, now int
		const rolledBack = "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()"
		if _, err := conn.ExecContext(context.Background(), "BEGIN; LOCK TABLE bench.demo IN EXCLUSIVE MODE"); err != nil {
			t.Error(err)
		}
		_ = db.QueryRow(rolledBack).Scan(&before)
		if err := eventually(func() bool { return db.QueryRow(rolledBack).Scan(&now) == nil && now > before }); err != nil {
			t.Error("no transaction was rolled back")
		}
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	})
	_, doc := tr.mustRun(t)
	sums(t, doc)
	if doc.Totals.Errors < 1 {
		t.Errorf("totals %+v", doc.Totals)
	}
}

// A statement that waits for rows gets none, in place of waiting for ever.
func TestIntegrationPostgreSQLCopy(t *testing.T) {
	tr := newStatements(t, ownsql.Parameters{Protocol: "Text"})
	tr.parameters.(*ownsql.Parameters).Transactions = []ownsql.Transaction{{Name: "x", Weight: 1, Script: "COPY accounts FROM STDIN"}}
	tr.mustFail(t.Context(), t, result.CauseSQL, "there are no rows to copy")
}

func TestIntegrationPostgreSQLInterruptedWhileTheServerIsSilent(t *testing.T) {
	interruptedInSilence(t, "BEGIN; LOCK TABLE bench.demo", "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
}

func TestIntegrationPostgreSQLRefused(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.Server.TLS = result.TLSRequired
	tr.cfg.ConnectSeconds = 600
	tr.mustFail(t.Context(), t, result.CauseConnect, "server refused TLS connection")
	tr = newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.ConnectSeconds = 600
	must.Write(t, tr.cfg.Server.PasswordFile, "wrong")
	tr.mustFail(t.Context(), t, result.CauseConnect, "password authentication failed")
	newTrialOf(t, bulkinsert.Definition, &bulkinsert.Parameters{}).mustFail(t.Context(), t, result.CauseConfiguration,
		"workload BulkInsert: it cannot load a server of engine PostgreSQL: use CommitSize, Custom, Pgbench, Statements, Sysbench")
}

// Objects of all kinds that an attempt made are dropped, whatever refers to what; what somebody else has is left alone.
func TestIntegrationPostgreSQLSchema(t *testing.T) {
	db := other(t)
	meanwhile(t, db, "DROP SCHEMA IF EXISTS bench CASCADE", "CREATE SCHEMA bench")
	tr := newTrial(t, commitsize.Parameters{Rows: 100, RowsPerCommit: 10})
	tr.cfg.Server.Borrowed = true
	meanwhile(t, db, "CREATE TABLE bench.precious (id INT)")
	tr.mustFail(t.Context(), t, result.CauseSchemaTaken, "bench holds objects that Benchrun did not create (table precious)")
	meanwhile(t, db, "DROP TABLE bench.precious")
	tr = newTrial(t, commitsize.Parameters{Rows: 100, RowsPerCommit: 10})
	tr.cfg.Server.Borrowed = true
	tr.mustRun(t)
	var left int
	must.Do(t, db.QueryRow("SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'bench'").Scan(&left))
	must.Same(t, "what is left in a schema that was there", 0, left)
	meanwhile(t, db, "DROP SCHEMA bench")
	tr.id.RunUID += "-again"
	tr.out = lockedBuffer{}
	tr.mustRun(t)
	must.Do(t, db.QueryRow("SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'bench'").Scan(&left))
	must.Same(t, "schemas that were not there before", 0, left)
}

// A server that owes a checkpoint makes it before anything is measured.
func TestIntegrationPostgreSQLQuiesce(t *testing.T) {
	db := other(t)
	meanwhile(t, db, "DROP TABLE IF EXISTS public.owed", "CREATE TABLE public.owed AS SELECT repeat('x', 200) FROM generate_series(1, 50000)")
	t.Cleanup(func() { meanwhile(t, db, "DROP TABLE public.owed") })
	e, d := testedEngine(t), testedDialect(t)
	found := must.Get(server.Quiesce(t.Context(), e, d, db, time.Minute))(t)
	var owed int64
	must.Do(t, db.QueryRow(e.Counters.Debt[0].Query).Scan(&owed))
	if len(found) > 0 || owed > e.Counters.Debt[0].Goal {
		t.Errorf("%v, and %d bytes", found, owed)
	}
}

func TestIntegrationPostgreSQLDropsAll(t *testing.T) {
	db, d := other(t), testedDialect(t)
	meanwhile(t, db, "DROP SCHEMA IF EXISTS everything CASCADE", "CREATE SCHEMA everything")
	t.Cleanup(func() { meanwhile(t, db, "DROP SCHEMA everything") }) // which is empty
	meanwhile(t, db, "CREATE TYPE everything.mood AS ENUM ('good')", "CREATE DOMAIN everything.small AS INT CHECK (VALUE < 7)",
		"CREATE SEQUENCE everything.numbers", "CREATE TABLE everything.a (id BIGSERIAL PRIMARY KEY, m everything.mood, s everything.small)",
		"CREATE TABLE everything.b (id INT PRIMARY KEY, a BIGINT REFERENCES everything.a)",
		"ALTER TABLE everything.a ADD b INT REFERENCES everything.b", "CREATE TABLE everything.p (id INT) PARTITION BY RANGE (id)",
		"CREATE TABLE everything.p1 PARTITION OF everything.p FOR VALUES FROM (0) TO (9)", "CREATE VIEW everything.v AS SELECT * FROM everything.a",
		"CREATE VIEW everything.w AS SELECT * FROM everything.v", "CREATE MATERIALIZED VIEW everything.m AS SELECT * FROM everything.w",
		"CREATE FUNCTION everything.f(a INT, b TEXT) RETURNS INT LANGUAGE SQL AS 'SELECT 1'",
		"CREATE PROCEDURE everything.c() LANGUAGE SQL AS 'SELECT 1'")
	list := func() (objects []client.Object) {
		rows := must.Get(db.Query(d.Schemas.Objects, "everything", "everything", "everything"))(t)
		defer rows.Close()
		for rows.Next() {
			var o client.Object
			must.Do(t, rows.Scan(&o.Kind, &o.Name))
			objects = append(objects, o)
		}
		must.Do(t, rows.Err())
		return objects
	}
	all := list()
	must.Same(t, fmt.Sprintf("objects: %v", all), 11, len(all))
	meanwhile(t, db, d.Schemas.DropAll(func(name string) string { return d.InSchema("everything", name) }, all)...)
	must.Same(t, "objects that are left", 0, len(list()))
}
