//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/custom"
)

// newCustomTrial runs a program that the test brings along: a line for sh.
func newCustomTrial(t testing.TB, line string) *trial {
	t.Helper()
	return newTrialOf(t, custom.Definition, &custom.Parameters{Command: []string{"sh", "-c", line}})
}

func (tr *trial) custom() *custom.Parameters { return tr.parameters.(*custom.Parameters) }

func TestIntegrationCustomResultFile(t *testing.T) {
	tr := newCustomTrial(t, `
test "$BENCHRUN_DB_HOST:$BENCHRUN_DB_PORT" = "$WANT" && test "$(cat $BENCHRUN_DB_PASSWORD_FILE)" = "$(cat $PASSWORD)" || exit 3
test -z "$BENCHRUN_CONFIG$BENCHRUN_RUN_UID" || exit 4
echo "threads $BENCHRUN_PARAM_threads seed $BENCHRUN_SEED $1"
echo '{"metrics": [{"name": "ordersPerSecond", "value": 12.5, "unit": "orders/s", "better": "higher"}], "transactions": 25,
  "seconds": 2, "checks": [{"name": "orders", "passed": true}], "warnings": ["it was cold"], "version": "4.12"}' >"$BENCHRUN_RESULT_FILE"`)
	t.Setenv(result.EnvConfig, "not for the program")
	c := tr.custom()
	c.Command = append(c.Command, "sh", "$(id) ${text} `y`")
	c.Parameters = map[string]string{"threads": "8", "text": "${x}"}
	c.Prepare, c.Cleanup = []string{"echo", "prepared"}, []string{"echo", "cleaned"}
	c.Env = map[string]string{
		"WANT": tr.cfg.Server.Host + ":" + os.Getenv("BENCHRUN_TEST_PORT"), "PASSWORD": tr.cfg.Server.PasswordFile,
	}
	_, doc := tr.mustRun(t)
	want := []result.Metric{{Name: "ordersPerSecond", Value: 12.5, Unit: "orders/s", Better: "higher"}}
	must.Same(t, "metrics", want, doc.Metrics[:1])
	if doc.Totals.Transactions != 25 || doc.Totals.Micros != 2_000_000 || doc.Tool.Version != "4.12" || doc.Tool.Name != "sh" {
		t.Errorf("totals %+v, tool %+v", doc.Totals, doc.Tool)
	}
	wantOutput := map[string]string{
		"prepare": "prepared\n", "measure": "threads 8 seed 42 $(id) ${x} `y`\n", "cleanup": "cleaned\n",
	}
	must.Same(t, "output", wantOutput, doc.ToolOutput)
	if len(doc.Checks) != 2 || doc.Findings[0].String() != "it was cold" || doc.Client.MaxRSSBytes < 1 || len(doc.Server.StatusAfter) < 200 {
		t.Errorf("checks %+v, warnings %q, client %+v", doc.Checks, doc.Findings, doc.Client)
	}
}

func TestIntegrationCustomFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		line   string
		change func(*custom.Parameters)
		reason result.Cause
		words  []string
	}{
		"prints nothing": {"true", nil, result.CauseToolFailed, []string{"ended with exit code 0 but", "it printed nothing"}},
		"leaves nothing": {
			"seq 1 30; printf 'at last'", nil, result.CauseToolFailed,
			[]string{"ended with exit code 0 but", "its last 20 lines: 12 | 13 |", "| 30 | at last"},
		},
		"fails":     {"echo cannot connect >&2; exit 7", nil, result.CauseToolFailed, []string{"exit code 7", "its last 1 lines: cannot connect"}},
		"is killed": {"kill -9 $$", nil, result.CauseToolFailed, []string{"signal killed"}},
		"is not there": {
			"", func(c *custom.Parameters) { c.Command = []string{"/nonsense"} }, result.CauseToolFailed, []string{"/nonsense", "no such file"},
		},
		"prepares in vain": {
			"true", func(c *custom.Parameters) { c.Prepare = []string{"sh", "-c", "echo no room; exit 1"} }, result.CauseToolFailed, []string{"no room"},
		},
		"finds its own mistake": {
			`echo '{"metrics": [{"name": "x", "value": 1, "unit": "s", "better": "lower"}], "checks": [{"name": "rows", "detail": "7 of 10"}]}' >$BENCHRUN_RESULT_FILE`,
			nil, result.CauseCheckFailed,
			[]string{"rows: 7 of 10"},
		},
		"claims what the server never saw": {
			`echo '{"metrics": [{"name": "x", "value": 1, "unit": "s", "better": "lower"}], "statements": 1000000000}' >$BENCHRUN_RESULT_FILE`,
			nil, result.CauseCheckFailed,
			[]string{"1000000000 queries sent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newCustomTrial(t, tc.line)
			if tc.change != nil {
				tc.change(tr.custom())
			}
			tr.mustFail(t.Context(), t, tc.reason, tc.words...)
			if name == "leaves nothing" && !strings.Contains(tr.out.String(), "| 12\n| 13\n| 14\n") {
				t.Errorf("the log has not the program's last lines: %q", tr.out.String())
			}
		})
	}
}

// TestIntegrationCustomInterrupted ends a program, and what it has started, at once.
func TestIntegrationCustomInterrupted(t *testing.T) {
	file := t.TempDir() + "/pid"
	tr := newCustomTrial(t, "trap '' TERM; sleep 1000 & echo $! >"+file+"; wait; sleep 1000")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if err := eventually(func() bool {
			pid, err := os.ReadFile(file)
			return err == nil && strings.HasSuffix(string(pid), "\n")
		}); err != nil {
			t.Error("the program did not start")
		}
		cancel(errors.New("SIGTERM"))
	}()
	began := time.Now()
	tr.mustFail(ctx, t, result.CauseInterrupted, "SIGTERM")
	within(t, began, time.Minute)
	pid := must.Get(os.ReadFile(file))(t)
	if err := eventually(func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	}); err != nil {
		t.Error("what the program has started still runs")
	}
}

// TestIntegrationCustomLeavesChild does not wait for a child that holds the output open, and ends it.
func TestIntegrationCustomLeavesChild(t *testing.T) {
	tr := newCustomTrial(t, `sleep 1000 & echo '{"metrics": [{"name": "x", "value": 1, "unit": "s", "better": "lower"}]}' >$BENCHRUN_RESULT_FILE`)
	began := time.Now()
	tr.mustRun(t)
	within(t, began, time.Minute)
}

// A program that drops the run's schema, as mariadb-slap does with the one that it is given, keeps its number, and is told so.
func TestIntegrationCustomDropsTheSchema(t *testing.T) {
	const again = "CREATE DATABASE bench"
	for name, statements := range map[string][]string{
		"drops it":                 {"DROP DATABASE bench"},
		"makes it again":           {"DROP DATABASE bench", again},
		"leaves a table in it":     {"DROP DATABASE bench", again, "CREATE TABLE bench.t1 (id INT)"},
		"drops the notes":          {"DROP TABLE bench.benchrun_objects, bench.benchrun_attempts"},
		"drops one of them":        {"DROP TABLE bench.benchrun_objects"},
		"drops the other":          {"DROP TABLE bench.benchrun_attempts"},
		"leaves one and a table":   {"DROP TABLE bench.benchrun_attempts", "CREATE TABLE bench.t1 (id INT)"},
		"drops nothing of the run": {"CREATE TABLE bench.t1 (id INT)"},
	} {
		for phase, borrowed := range map[string]bool{"prepare": false, "measure": false, "prepare, of a borrowed server": true, "measure, of a borrowed server": true} {
			t.Run(name+" in "+phase, func(t *testing.T) {
				mustExec(t, "DROP DATABASE IF EXISTS bench")
				dir := t.TempDir()
				wait := `touch ` + dir + `/runs; until test -e ` + dir + `/goes; do sleep 0.02; done; `
				number := `echo '{"metrics": [{"name": "x", "value": 7, "unit": "s", "better": "lower"}]}' >$BENCHRUN_RESULT_FILE`
				tr := newCustomTrial(t, wait+number)
				if strings.HasPrefix(phase, "prepare") {
					tr = newCustomTrial(t, number)
					tr.custom().Prepare = []string{"sh", "-c", wait}
				}
				tr.cfg.Server.Borrowed = borrowed
				whilst(t, func() bool { _, err := os.Stat(dir + "/runs"); return err == nil }, func() {
					mustExec(t, statements...)
					if err := os.WriteFile(dir+"/goes", nil, 0o600); err != nil {
						t.Error(err)
					}
				})
				_, doc := tr.mustRun(t)
				var found []string
				for _, f := range doc.Findings {
					if f.Code == finding.SchemaDropped || f.Code == finding.SchemaLeft {
						found = append(found, f.String())
					}
				}
				var want []string
				if name != "drops nothing of the run" {
					want = []string{"the program dropped the run's schema bench: give it another one"}
				}
				if diff := cmp.Diff(want, found); diff != "" || doc.Metrics[0].Value != 7 {
					t.Errorf("metrics %+v, findings (-want +got):\n%s", doc.Metrics[:1], diff)
				}
				var left int
				must.Do(t, other(t).QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'bench'").Scan(&left))
				if borrowed != (left == 0) {
					t.Errorf("borrowed %t, and %d schemas are left", borrowed, left)
				}
			})
		}
	}
}

// whilst does something as soon as a condition holds, while the test does something else.
func whilst(t *testing.T, holds func() bool, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := eventually(holds); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	t.Cleanup(func() { <-done })
}

// borrow empties the server and makes the trial one of a third party's server.
func (tr *trial) borrow(t testing.TB, statements ...string) *trial {
	t.Helper()
	mustExec(t, append([]string{"DROP DATABASE IF EXISTS bench"}, statements...)...)
	tr.cfg.Server.Borrowed = true
	return tr
}

// left is what is in the schema, sorted, without the tables that say what is Benchrun's; nil if there is no schema.
func left(t testing.TB) []string {
	t.Helper()
	const query = "SELECT CONCAT(schema_name, '.') FROM information_schema.schemata WHERE schema_name = 'bench' UNION ALL" +
		" SELECT table_name FROM information_schema.tables WHERE table_schema = 'bench' UNION ALL" +
		" SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'bench' UNION ALL" +
		" SELECT event_name FROM information_schema.events WHERE event_schema = 'bench'"
	rows := must.Get(other(t).Query(query))(t)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		must.Do(t, rows.Scan(&name))
		all = append(all, name)
	}
	must.Do(t, rows.Err())
	slices.Sort(all)
	return all
}

func oneRow(t testing.TB) *trial {
	return newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
}

// What Benchrun did not make is never dropped, whatever an earlier run has left beside it.
func TestIntegrationBorrowedSchemaOfSomebodyElse(t *testing.T) {
	const precious = "CREATE TABLE bench.precious (id INT)"
	for name, statements := range map[string][]string{
		"a table":                   {"CREATE DATABASE bench", precious},
		"a view":                    {"CREATE DATABASE bench", "CREATE VIEW bench.precious AS SELECT 1"},
		"a procedure":               {"CREATE DATABASE bench", "CREATE PROCEDURE bench.precious() SELECT 1"},
		"a table called as ours is": {"CREATE DATABASE bench", "CREATE TABLE bench.benchrun_attempts (made_schema INT)", precious},
	} {
		t.Run(name, func(t *testing.T) {
			tr := oneRow(t).borrow(t, statements...)
			before := left(t)
			tr.mustFail(t.Context(), t, result.CauseSchemaTaken, "the schema bench", "precious")
			must.Same(t, "in the schema, as before", before, left(t))
		})
	}
	t.Run("beside what a run has left", func(t *testing.T) {
		tr := oneRow(t).borrow(t)
		leftover := oneRow(t)
		leftover.mustRun(t)
		mustExec(t, precious)
		before := left(t)
		tr.mustFail(t.Context(), t, result.CauseSchemaTaken, "the schema bench", "table precious")
		must.Same(t, "in the schema, as before", before, left(t))
	})
}

// Of what is there after an attempt, Benchrun's part is removed.
func TestIntegrationBorrowedSchemaIsGivenBack(t *testing.T) {
	own := func(t testing.TB, schema string) *trial { return newOwn(t, schema, "id\n1\n", asItIs) }
	// What only some engines know has a kind of its own there.
	special := map[*engine.Engine]string{engine.MariaDB: "; CREATE SEQUENCE s"}[testedEngine(t)]
	everything := "CREATE TABLE own (id INT); CREATE VIEW v AS SELECT 1; CREATE TABLE child (id INT)" + special
	program := newCustomTrial(t, `echo '{"metrics": [{"name": "x", "value": 1, "unit": "s", "better": "lower"}]}' >$BENCHRUN_RESULT_FILE`)
	for name, tc := range map[string]struct {
		trial  *trial
		before []string
		want   []string
	}{
		"no schema":       {trial: oneRow(t)},
		"an empty one":    {oneRow(t), []string{"CREATE DATABASE bench"}, []string{"bench."}},
		"all kinds":       {own(t, everything), []string{"CREATE DATABASE bench"}, []string{"bench."}},
		"a program":       {trial: program},
		"what a run left": {oneRow(t), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.trial.borrow(t, tc.before...)
			if name == "what a run left" {
				own(t, everything).mustRun(t)
			}
			_, doc := tc.trial.mustRun(t)
			if diff := cmp.Diff(tc.want, left(t)); diff != "" || strings.Contains(strings.Join(finding.Texts(doc.Findings), "\n"), "schema") {
				t.Errorf("left (-want +got):\n%s\nwarnings %q", diff, doc.Findings)
			}
		})
	}
}

// Another user makes a table of the schema's meanwhile: it stays, and so does the schema.
func TestIntegrationBorrowedSchemaIsUsedMeanwhile(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{RowsPerCommit: 1}).borrow(t)
	tr.cfg.LimitSeconds = watchedSeconds
	whileMeasuring(t, 100, func(db *sql.DB) {
		if _, err := db.Exec("CREATE TABLE bench.precious (id INT)"); err != nil {
			t.Error(err)
		}
	})
	_, doc := tr.mustRun(t)
	must.Same(t, "left", []string{"bench.", "precious"}, left(t))
	if !strings.Contains(strings.Join(finding.Texts(doc.Findings), "\n"), "table precious") {
		t.Errorf("warnings %q", doc.Findings)
	}
}

// An attempt that is interrupted while a program makes tables removes them.
func TestIntegrationBorrowedSchemaInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "started")
	tr := newCustomTrial(t, "touch "+file+"; sleep 1000").borrow(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		db := other(t)
		if err := eventually(func() bool { _, err := os.Stat(file); return err == nil }); err != nil {
			t.Error("the program did not start")
		}
		if _, err := db.Exec("CREATE TABLE bench.of_the_program (id INT)"); err != nil {
			t.Error(err)
		}
		cancel(errors.New("SIGTERM"))
	}()
	tr.mustFail(ctx, t, result.CauseInterrupted)
	if all := left(t); all != nil {
		t.Errorf("left is %v", all)
	}
}
