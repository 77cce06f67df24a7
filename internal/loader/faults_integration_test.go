//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

func TestIntegrationInterrupted(t *testing.T) {
	dropTable(t)
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
	ctx, cancel := context.WithCancelCause(t.Context())
	var at time.Time
	whileMeasuring(t, 100, func(*sql.DB) { at = time.Now(); cancel(errors.New("SIGTERM")) })
	tr.mustFail(ctx, t, result.CauseInterrupted, "told to stop: SIGTERM, in phase measure, ", " rows")
	within(t, at, grace)
}

// The server does not answer, because a session holds a lock until the attempt has ended: interrupting does not wait for it.
func TestIntegrationInterruptedWhileTheServerIsSilent(t *testing.T) {
	interruptedInSilence(t, "LOCK TABLES bench.demo WRITE",
		"SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock'")
}

// interruptedInSilence has a session execute lock, so that a statement of the load waits, which the query waiting counts.
func interruptedInSilence(t *testing.T, lock, waiting string) {
	t.Helper()
	dropTable(t)
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended, at := make(chan struct{}), time.Time{}
	whileMeasuring(t, 100, func(db *sql.DB) {
		conn, err := db.Conn(context.WithoutCancel(ctx))
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), lock); err != nil {
			t.Error(err)
		}
		if err := eventually(func() bool {
			var n int
			return db.QueryRow(waiting).Scan(&n) == nil && n > 0
		}); err != nil {
			t.Errorf("no statement waits: %v", err)
		}
		at = time.Now()
		cancel(errors.New("SIGTERM"))
		<-ended
	})
	defer close(ended)
	tr.mustFail(ctx, t, result.CauseInterrupted)
	within(t, at, grace)
}

// killed is what kills the connection whose number a query gives.
func killed(query string) func(*testing.T, *sql.DB) {
	return func(t *testing.T, db *sql.DB) {
		var id int
		err := eventually(func() bool { return db.QueryRow(query).Scan(&id) == nil })
		if err == nil {
			_, err = db.Exec("KILL " + strconv.Itoa(id))
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// What somebody else does to the server or its rows while they are loaded is no result, and the reason says what it was.
func TestIntegrationDisturbed(t *testing.T) {
	done := func(statement string) func(*testing.T, *sql.DB) {
		return func(t *testing.T, db *sql.DB) {
			if _, err := db.Exec(statement); err != nil {
				t.Error(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		meanwhile func(*testing.T, *sql.DB)
		limit     int
		reason    result.Cause
		words     []string
	}{
		"a client is killed": {
			killed("SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT INTO demo%' LIMIT 1"), 0, result.CauseConnectionLost, nil,
		},
		// This connection is what proves that it is the same server to the end.
		"who holds the schema is killed": {
			killed("SELECT IS_USED_LOCK('benchrun.bench')"), watchedSeconds, result.CauseConnectionLost, []string{"still holds the lock of the schema"},
		},
		"the table is dropped": {done("DROP TABLE bench.demo"), 0, result.CauseSQL, []string{"Table 'bench.demo' doesn't exist", "inserting row"}},
		"a row is deleted":     {done("DELETE FROM bench.demo WHERE id = 7"), watchedSeconds, result.CauseCheckFailed, []string{"rows:", "checksum:"}},
		"a row is changed": {
			done("UPDATE bench.demo SET data = 'X' WHERE id = 7"), watchedSeconds, result.CauseCheckFailed, []string{"checksum: the table has"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dropTable(t)
			tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
			tr.cfg.LimitSeconds = tc.limit
			whileMeasuring(t, 100, func(db *sql.DB) { tc.meanwhile(t, db) })
			tr.mustFail(t.Context(), t, tc.reason, tc.words...)
		})
	}
}

func TestIntegrationVariableChangedMeanwhile(t *testing.T) {
	dropTable(t)
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
	tr.cfg.LimitSeconds = watchedSeconds
	was := globals(t)["long_query_time"]
	t.Cleanup(func() {
		if _, err := other(t).Exec("SET GLOBAL long_query_time = " + was); err != nil {
			t.Error(err)
		}
	})
	whileMeasuring(t, 100, func(db *sql.DB) {
		if _, err := db.Exec("SET GLOBAL long_query_time = 1234"); err != nil {
			t.Error(err)
		}
	})
	tr.mustFail(t.Context(), t, result.CauseVariablesChanged, `long_query_time was "`+was+`" and is now "1234.000000"`)
}

// The binary itself: SIGTERM in the middle ends it with an error and a summary.
func TestIntegrationSIGTERM(t *testing.T) {
	dropTable(t)
	binary := filepath.Join(t.TempDir(), "loader")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/loader")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tr := newTrial(t, commitsize.Parameters{Rows: 1e9, RowsPerCommit: 1})
	cmd := exec.CommandContext(t.Context(), binary, "--termination-log", tr.terminationLog)
	cmd.Env = tr.environment(t)
	cmd.Stdout = &tr.out
	must.Do(t, cmd.Start())
	whileMeasuring(t, 100, func(*sql.DB) {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	data := must.Get(os.ReadFile(tr.terminationLog))(t)
	summary, err := result.DecodeSummary(string(data))
	if err != nil || summary.Failure == nil || summary.Failure.Reason != result.CauseInterrupted {
		t.Errorf("%v, %s", err, data)
	}
}

// few leaves a server with room for a few connections until the test has ended.
func few(t *testing.T) (admin *sql.DB) {
	t.Helper()
	admin = other(t)
	admin.SetMaxOpenConns(1)
	var before int
	must.Do(t, admin.QueryRow("SELECT @@max_connections").Scan(&before))
	must.Get(admin.Exec("SET GLOBAL max_connections = 12"))(t)
	t.Cleanup(func() {
		if _, err := admin.Exec("SET GLOBAL max_connections = " + strconv.Itoa(before)); err != nil {
			t.Error(err)
		}
	})
	return admin
}

// Other clients have all connections: the loader waits for one, and then leaves the attempt to be repeated.
func TestIntegrationConnectionsTakenByOthers(t *testing.T) {
	dropTable(t)
	few(t)
	for i := 0; ; i++ {
		db := other(t)
		if err := db.Ping(); err != nil {
			break
		}
		if i == 20 {
			t.Fatal("the server has room for 20 more connections")
		}
	}
	tr := newTrial(t, commitsize.Parameters{Rows: 10, RowsPerCommit: 1})
	tr.cfg.ConnectSeconds = 5
	tr.mustFail(t.Context(), t, result.CauseTooManyConnections, "Error 1040", "did not answer for 5s")
}

// A server that others fill while the clients connect disturbs the attempt. One that has no room for the clients themselves
// refuses what was asked for: another attempt would end as well.
func TestIntegrationMoreClientsThanConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		clients int
		cause   result.Cause
		says    string
	}{
		"of others":  {10, result.CauseTooManyConnections, "Error 1040"},
		"of its own": {20, result.CauseSQL, "clients: 20, max_connections: 12"},
	} {
		t.Run(name, func(t *testing.T) {
			dropTable(t)
			few(t)
			tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Clients = tc.clients })
			tr.mustFail(t.Context(), t, tc.cause, tc.says)
		})
	}
}

// rolledBack is how many transactions were rolled back on the server.
func rolledBack(t testing.TB, db *sql.DB) (n int) {
	t.Helper()
	var name string
	must.Do(t, db.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_rollback'").Scan(&name, &n))
	return n
}

// inTheWay lets another session lock the end of CommitSize's table until the attempt has given a transaction up.
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

// encrypts says whether the server speaks TLS. MariaDB from 11.4 on does without being told, with a certificate of its own, and
// so does MySQL, which has no such variable.
func encrypts(t testing.TB) bool {
	return testedEngine(t) == engine.MySQL || globals(t)["have_ssl"] == "YES"
}

// Each way of sending something works over an encrypted connection: single statements, statements made while the server
// works, and the files of LOAD DATA.
func TestIntegrationTLS(t *testing.T) {
	encrypted := encrypts(t)
	for name, tr := range map[string]*trial{
		"CommitSize":           newTrial(t, commitsize.Parameters{Rows: 50, RowsPerCommit: 10}),
		"BulkInsert":           newBulkInsert(t, func(*bulkinsert.Parameters) {}),
		"BulkInsert, large":    newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.RowsPerStatement = 90_000, 70_000 }),
		"BulkInsert, own file": newOwn(t, ownSchema, ownRows(100), asItIs),
		"TPROCHLoad":           newTPROCHLoad(t, func(p *tprochload.Parameters) { p.LoadMode, p.Clients = "Parallel", ptr.To(4) }),
		"TPROCHLoad in chunks": newTPROCHLoad(t, func(p *tprochload.Parameters) { p.LoadMode, p.RowsPerChunk = "Chunked", 20_000 }),
	} {
		t.Run(name, func(t *testing.T) {
			tr.cfg.Server.TLS = result.TLSRequired
			if !encrypted {
				tr.mustFail(t.Context(), t, result.CauseConnect, "TLS")
				return
			}
			_, doc := tr.mustRun(t)
			if !strings.HasPrefix(doc.Server.Encryption, "TLSv1.3 ") {
				t.Errorf("encryption %q", doc.Server.Encryption)
			}
			sums(t, doc)
			if len(doc.Checks) < 2 {
				t.Errorf("checks %+v", doc.Checks)
			}
			if name == "BulkInsert" && doc.Client.LateAnswers > doc.Totals.Statements/10 {
				t.Errorf("of %d answers it is not known when they came", doc.Client.LateAnswers)
			}
		})
	}
}

// The server's own certificate is of no authority that the system trusts.
func TestIntegrationTLSOfAStranger(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.Server.TLS = result.TLSVerifyIdentity
	words := "certificate"
	if !encrypts(t) {
		words = "TLS"
	}
	tr.mustFail(t.Context(), t, result.CauseConnect, words)
}
