// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

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

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
)

// borrow empties the server and makes the trial one of somebody else's server.
func (tr *trial) borrow(t testing.TB, statements ...string) *trial {
	t.Helper()
	executed(t, append([]string{"DROP DATABASE IF EXISTS bench"}, statements...)...)
	tr.cfg.Server.Borrowed = true
	return tr
}

func executed(t testing.TB, statements ...string) {
	t.Helper()
	db := other(t)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// left is what is in the schema, sorted, without the tables that say what is Benchrun's; nil if there is no schema.
func left(t testing.TB) []string {
	t.Helper()
	const query = "SELECT CONCAT(schema_name, '.') FROM information_schema.schemata WHERE schema_name = 'bench' UNION ALL" +
		" SELECT table_name FROM information_schema.tables WHERE table_schema = 'bench' UNION ALL" +
		" SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'bench' UNION ALL" +
		" SELECT event_name FROM information_schema.events WHERE event_schema = 'bench'"
	rows, err := other(t).Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
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
			if diff := cmp.Diff(before, left(t)); diff != "" {
				t.Errorf("in the schema (-before +after):\n%s", diff)
			}
		})
	}
	t.Run("beside what a run has left", func(t *testing.T) {
		tr := oneRow(t).borrow(t)
		leftover := oneRow(t)
		leftover.mustRun(t)
		executed(t, precious)
		before := left(t)
		tr.mustFail(t.Context(), t, result.CauseSchemaTaken, "the schema bench", "table precious")
		if diff := cmp.Diff(before, left(t)); diff != "" {
			t.Errorf("in the schema (-before +after):\n%s", diff)
		}
	})
}

// Of what is there after an attempt, Benchrun's part is removed.
func TestIntegrationBorrowedSchemaIsGivenBack(t *testing.T) {
	own := func(t testing.TB, schema string) *trial { return newOwn(t, schema, "id\n1\n", asItIs) }
	// What only some engines know has a kind of its own there.
	special := map[*engine.Engine]string{&engine.MariaDB: "; CREATE SEQUENCE s"}[testedEngine(t)]
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

// Somebody makes a table of the schema's meanwhile: it stays, and so does the schema.
func TestIntegrationBorrowedSchemaIsUsedMeanwhile(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{RowsPerCommit: 1}).borrow(t)
	tr.cfg.LimitSeconds = watchedSeconds
	whileMeasuring(t, 100, func(db *sql.DB) {
		if _, err := db.Exec("CREATE TABLE bench.precious (id INT)"); err != nil {
			t.Error(err)
		}
	})
	_, doc := tr.mustRun(t)
	if diff := cmp.Diff([]string{"bench.", "precious"}, left(t)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
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
