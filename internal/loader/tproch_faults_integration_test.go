// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

// What follows the measured phase may take hours: somebody who reads a table holds up its indexes here, for longer than any
// rounding of the server's uptime.
func TestIntegrationTPROCHIndexesTakeTime(t *testing.T) {
	db := other(t)
	if _, err := db.Exec("DROP DATABASE IF EXISTS bench"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- holdUp(ctx, db) }()
	_, doc := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Indexes, p.ForeignKeyChecks = "After", false }).mustRun(t)
	cancel() // nothing is left to be held up
	if err := <-done; err != nil {
		t.Errorf("nothing was held up: %v", err)
	}
	for _, p := range doc.Phases {
		if p.Name == "index" && p.Micros < 3e6 {
			t.Errorf("indexes took %d µs", p.Micros)
		}
	}
}

// holdUp reads a table as soon as it is loaded, and ends the transaction when a statement has waited 4 s for that.
func holdUp(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, query := range []string{
		"SELECT COUNT(*) = 25 FROM bench.NATION",
		"SELECT MAX(time) >= 4 FROM information_schema.processlist WHERE state LIKE '%metadata lock%'",
	} {
		for yes := false; !yes; time.Sleep(10 * time.Millisecond) {
			// No such table yet, or nothing that waits, is no error.
			if err := tx.QueryRowContext(ctx, query).Scan(&yes); ctx.Err() != nil {
				return errors.Join(ctx.Err(), err)
			}
		}
	}
	return nil
}

func TestIntegrationLocalInfileOff(t *testing.T) {
	db := other(t)
	setGlobal := func(value string) {
		if _, err := db.Exec("SET GLOBAL local_infile = " + value); err != nil {
			t.Fatal(err)
		}
	}
	setGlobal("OFF")
	t.Cleanup(func() { setGlobal("ON") })
	newTPROCHLoad(t, func(*tprochload.Parameters) {}).mustFail(t.Context(), t, result.CauseConfiguration, "local_infile=ON")
}

// spoiler is a workload whose staged files are spoilt before they are loaded.
type spoiler struct {
	workload.Workload
	spoil func()
}

func (s spoiler) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	plan, err := s.Workload.Prepare(ctx, db)
	stage := plan.Stage
	plan.Stage = func(ctx context.Context) error {
		err := stage(ctx)
		s.spoil()
		return err
	}
	return plan, err
}

// A row that the server leaves out or changes is no error of LOAD DATA LOCAL, but it is no result.
func TestIntegrationTPROCHSpoiltFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		table, from, to string
		reason          result.Cause
		words           []string
	}{
		"a value that does not fit": {
			"part", "|901.00|", "|cheap|", result.CauseCheckFailed, []string{"warnings: PART: 1, the first: ", "P_RETAILPRICE"},
		},
		"a key that is there twice": {
			"nation", "\n1|", "\n0|", result.CauseCheckFailed,
			[]string{"warnings: NATION: ", "Duplicate entry '0'", "rows: NATION: 25 sent, 24 written, 24 in the table"},
		},
		"another text":     {"region", "AFRICA", "AFRIKA", result.CauseCheckFailed, []string{"checksum: REGION: the table has rows=5"}},
		"a column too few": {"region", "|AFRICA|", "|", result.CauseCheckFailed, []string{"warnings: REGION: 2, the first: "}},
		"no parent for a row": {
			"nation", "|ALGERIA|0|", "|ALGERIA|7|", result.CauseCheckFailed, []string{"warnings: NATION: 1, the first: ", "foreign key"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Data = "Staged" })
			out := progress.Start(io.Discard)
			defer out.Finish()
			a, w, err := newAttempt(&Input{Config: tr.encoded(t), Identity: tr.id}, out)
			if err != nil {
				t.Fatal(err)
			}
			defer a.close()
			spoilt := spoiler{w, func() { replaceInFile(t, filepath.Join(tr.cfg.Scratch, tc.table+".tbl"), tc.from, tc.to) }}
			r := newRole(a, &clientLoad{attempt: a, workload: spoilt})
			err = r.run(t.Context())
			if left := r.release(); len(left) > 0 {
				t.Error(left)
			}
			why := failure.Describe(t.Context(), err)
			if why.Reason != tc.reason {
				t.Errorf("reason %s, want %s", why.Reason, tc.reason)
			}
			for _, word := range tc.words {
				if !strings.Contains(why.Message, word) {
					t.Errorf("message %q, want %q in it", why.Message, word)
				}
			}
		})
	}
}

func replaceInFile(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("%v, %q is not there", err, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIntegrationTPROCHScratchIsFull(t *testing.T) {
	tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Data = "Staged" })
	// Every write to this device says that it is full.
	if err := os.Symlink("/dev/full", filepath.Join(tr.cfg.Scratch, "customer.tbl")); err != nil {
		t.Fatal(err)
	}
	tr.mustFail(t.Context(), t, result.CauseConfiguration, "staging CUSTOMER on the scratch volume", "no space left on device")
}
