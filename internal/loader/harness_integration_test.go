// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// trial is an attempt against the server that the environment names.
type trial struct {
	cfg result.Config
	// definition and parameters, a pointer, are what the configuration's workload is made of when it is encoded.
	definition     workload.Definition
	parameters     any
	id             result.Identity
	terminationLog string
	out            lockedBuffer
}

// lockedBuffer may be read while progress lines are written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// env is an environment variable of the integration tests, which do not skip: a test that was not run proves nothing.
func env(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: the integration tests need a server, see hack/server.sh", name)
	}
	return value
}

// testedDialect is what that server understands.
func testedDialect(t testing.TB) *client.Dialect { return conn.Dialect(testedEngine(t)) }

// testedEngine is the engine of the server that the environment names.
func testedEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e := must.Get(engine.ByName(env(t, "BENCHRUN_TEST_ENGINE")))(t)
	return e
}

// storageEngines are those of the server under test. Rows are the same in each.
func storageEngines(t testing.TB) []string {
	t.Helper()
	return append([]string{"InnoDB", "MyISAM"}, map[*engine.Engine][]string{engine.MariaDB: {"Aria", "aria"}}[testedEngine(t)]...)
}

// trials counts them, so that each has a run of its own.
var trials int

func newTrial(t testing.TB, p commitsize.Parameters) *trial {
	t.Helper()
	return newTrialOf(t, commitsize.Definition, &p)
}

func newTrialOf(t testing.TB, definition workload.Definition, parameters any) *trial {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		must.Write(t, path, content)
		return path
	}
	port := must.Get(strconv.Atoi(env(t, "BENCHRUN_TEST_PORT")))(t)
	trials++
	return &trial{
		cfg: result.Config{
			Version: result.ConfigVersion, Namespace: "ns", Run: "run", Trial: 1, Attempt: 1, Seed: 42, ConnectSeconds: 10, ErrorPercent: 10,
			Server: result.Server{
				Engine: testedEngine(t).Name, Host: env(t, "BENCHRUN_TEST_HOST"), Port: port, Schema: "bench",
				UserFile:     write("user", env(t, "BENCHRUN_TEST_USER")),
				PasswordFile: write("password", env(t, "BENCHRUN_TEST_PASSWORD")),
			},
		},
		definition: definition, parameters: parameters,
		id: result.Identity{
			RunUID: fmt.Sprintf("%d-%d-%d", os.Getpid(), time.Now().UnixNano(), trials),
			PodUID: "pod-uid", PodName: "pod", Node: "node", Loader: "test",
		},
		terminationLog: filepath.Join(dir, "termination-log"),
	}
}

// config is the configuration with the parameters as they are by now.
func (tr *trial) config() *result.Config {
	w := workloadtest.Load(tr.definition, tr.parameters)
	tr.cfg.Workload.Type, tr.cfg.Workload.Parameters = w.Type, w.Parameters
	return &tr.cfg
}

// encoded is config as the loader is told it.
func (tr *trial) encoded(t testing.TB) string {
	t.Helper()
	config := must.Get(json.Marshal(tr.config()))(t)
	return string(config)
}

// run makes the attempt and reads what it left.
func (tr *trial) run(ctx context.Context, t testing.TB) (*result.Summary, *result.Document, error) {
	t.Helper()
	runErr := Run(ctx, Input{
		Config: tr.encoded(t), Identity: tr.id, Output: &tr.out, TerminationLog: tr.terminationLog, CPULimitMillis: "2000",
	})
	message := must.Get(os.ReadFile(tr.terminationLog))(t)
	summary, err := result.DecodeSummary(string(message))
	if err != nil {
		t.Fatalf("reading %q: %v", message, err)
	}
	if (runErr == nil) != (summary.Failure == nil) {
		t.Fatalf("the error is %v, the summary's %+v", runErr, summary.Failure)
	}
	if runErr != nil {
		if strings.Contains(tr.out.String(), "benchrun-document") {
			t.Error("there is a document without a result")
		}
		return summary, nil, runErr
	}
	encoded := must.Get(result.ReadDocument(strings.NewReader(tr.out.String()), summary.DocumentSHA256))(t)
	doc := must.Get(result.DecodeDocument(encoded.Gzip))(t)
	return summary, doc, nil
}

// mustRun is run with a result.
func (tr *trial) mustRun(t testing.TB) (*result.Summary, *result.Document) {
	t.Helper()
	summary, doc, err := tr.run(t.Context(), t)
	must.Do(t, err)
	return summary, doc
}

// mustFail is run without a result, for the given reason.
func (tr *trial) mustFail(ctx context.Context, t testing.TB, reason result.Cause, words ...string) {
	t.Helper()
	summary, _, err := tr.run(ctx, t)
	if err == nil {
		t.Fatalf("there is a result, want %s", reason)
	}
	must.Same(t, "reason of "+summary.Failure.Message, reason, summary.Failure.Reason)
	for _, word := range words {
		if !strings.Contains(summary.Failure.Message, word) {
			t.Errorf("message %q, want %q in it", summary.Failure.Message, word)
		}
	}
	if summary.Identity.RunUID != tr.id.RunUID || summary.Identity.Trial != 1 || summary.Identity.Ended.IsZero() {
		t.Errorf("identity %+v", summary.Identity)
	}
}

// other is a connection of another client.
func other(t testing.TB) *sql.DB {
	t.Helper()
	tr := newTrial(t, commitsize.Parameters{})
	c := must.Get(conn.Open(tr.cfg.Server))(t)
	connector := must.Get(c.Connector(""))(t)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t testing.TB, statements ...string) {
	t.Helper()
	db := other(t)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// watchedSeconds is for how long an attempt measures by time in which a test does something: on a busy machine, one of a second is
// over before anybody has seen its rows.
const watchedSeconds = 4

// whileMeasuring calls do when so many rows are in CommitSize's table, and then lets the attempt go on.
func whileMeasuring(t testing.TB, rows int, do func(db *sql.DB)) {
	t.Helper()
	whileFilling(t, "demo", rows, do)
}

// whileFilling is whileMeasuring for another table.
func whileFilling(t testing.TB, table string, rows int, do func(db *sql.DB)) {
	t.Helper()
	db := other(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10000 {
			var n int
			err := db.QueryRow("SELECT COUNT(*) FROM bench." + table).Scan(&n)
			if err == nil && n >= rows {
				do(db)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Error("there were never so many rows")
	}()
	t.Cleanup(func() { <-done })
}

// dropTable makes sure that the rows of an earlier test are not taken for this one's.
func dropTable(t testing.TB) {
	t.Helper()
	must.Get(other(t).Exec("DROP TABLE IF EXISTS bench.demo"))(t)
}

// globals are the server's variables.
func globals(t testing.TB) map[string]string {
	t.Helper()
	variables := must.Get(server.Variables(t.Context(), testedEngine(t), testedDialect(t), other(t)))(t)
	return variables
}

// grace is the time until a Pod that is deleted is killed.
const grace = 30 * time.Second

// within fails a test that has waited for what it must not wait for: what would take ten minutes or more, or the end of the grace.
func within(t testing.TB, began time.Time, most time.Duration) {
	t.Helper()
	if took := time.Since(began); took > most {
		t.Errorf("it took %s", took)
	}
}

// eventually is whether a condition comes true within a minute.
func eventually(condition func() bool) error {
	for range 6000 {
		if condition() {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("it never came true")
}

// environment is what the attempt's Pod would have.
func (tr *trial) environment(t testing.TB) []string {
	t.Helper()
	return append(os.Environ(),
		result.EnvConfig+"="+tr.encoded(t), result.EnvRunUID+"="+tr.id.RunUID, result.EnvPodUID+"="+tr.id.PodUID)
}
