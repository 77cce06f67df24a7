// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package schema

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const testSchema = "schema_test"

// testDialect is that of every server that is tested.
var testDialect = conn.Dialect(engine.MariaDB)

// newServer is a server without the schema.
func newServer(t *testing.T) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net = os.Getenv("BENCHRUN_TEST_USER"), os.Getenv("BENCHRUN_TEST_PASSWORD"), "tcp"
	cfg.Addr = net.JoinHostPort(os.Getenv("BENCHRUN_TEST_HOST"), os.Getenv("BENCHRUN_TEST_PORT"))
	connector := must.Get(mysql.NewConnector(cfg))(t)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	mustExec(t, db, "DROP DATABASE IF EXISTS "+testSchema)
	return db
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func acquire(t *testing.T, db *sql.DB, run string, attempt int) (*Keeper, error) {
	t.Helper()
	id := result.Identity{RunUID: run, Trial: 1, Attempt: attempt, PodUID: "pod"}
	return Acquire(t.Context(), db, testDialect, &result.Server{Schema: testSchema, Borrowed: true}, id, 5*time.Second)
}

func mustAcquire(t *testing.T, db *sql.DB, run string, attempt int) *Keeper {
	t.Helper()
	k := must.Get(acquire(t, db, run, attempt))(t)
	t.Cleanup(func() { k.Close() })
	return k
}

// makes lets a program make a table, and be killed.
func makes(t *testing.T, db *sql.DB, k *Keeper, table string) {
	t.Helper()
	killed := errors.New("killed")
	if err := k.Making(t.Context(), func(context.Context) error {
		mustExec(t, db, "CREATE TABLE "+testSchema+"."+table+" (id INT)")
		return killed
	}); !errors.Is(err, killed) {
		t.Fatal(err)
	}
}

func tables(t *testing.T, db *sql.DB) []string {
	t.Helper()
	conn := must.Get(db.Conn(t.Context()))(t)
	defer conn.Close()
	all := must.Get((&holding{conn: conn, dialect: testDialect, schema: testSchema}).objects(t.Context()))(t)
	var names []string
	for _, o := range all {
		if !slices.Contains(bookkeeping, o) {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}

// What a killed attempt was making is the run's next attempt's to remove, and no other's.
func TestIntegrationKilledWhileMaking(t *testing.T) {
	db := newServer(t)
	killed := mustAcquire(t, db, "run", 1)
	makes(t, db, killed, "half")
	killed.Close()
	var f *failure.Failure
	if _, err := acquire(t, db, "another", 1); !errors.As(err, &f) || f.Reason != result.CauseSchemaTaken ||
		!strings.Contains(err.Error(), "table half") {
		t.Errorf("another run: %v", err)
	}
	next := mustAcquire(t, db, "run", 2)
	mustExec(t, db, "CREATE TABLE "+testSchema+".precious (id INT)")
	must.Fail(t, next.Remove(t.Context(), db), "table precious")
	must.Same(t, "left", []string{"precious"}, tables(t, db))
}

// Beside a third party's object nothing is taken for what a killed program has made.
func TestIntegrationKilledBesideSomebodyElse(t *testing.T) {
	db := newServer(t)
	k := mustAcquire(t, db, "run", 1)
	mustExec(t, db, "CREATE TABLE "+testSchema+".precious (id INT)")
	makes(t, db, k, "half")
	must.Fail(t, k.Remove(t.Context(), db), "table half, table precious")
	must.Same(t, "left", []string{"half", "precious"}, tables(t, db))
}

// An attempt that is interrupted while it takes the schema removes what it has made until then, and nothing else.
func TestIntegrationInterruptedWhileTaking(t *testing.T) {
	db := newServer(t)
	for step, stop := range map[string]func(*client.Dialect){
		"before the schema":  func(d *client.Dialect) { d.Schemas.Create = "not SQL " },
		"after the schema":   func(d *client.Dialect) { d.Tables.Objects = "not SQL" },
		"before the note":    func(d *client.Dialect) { d.Tables.InsertNew = "not SQL" },
		"before the attempt": func(d *client.Dialect) { d.Tables.Attempts = "not SQL" },
	} {
		for _, precious := range []bool{false, true} {
			mustExec(t, db, "DROP DATABASE IF EXISTS "+testSchema)
			d := *testDialect
			stop(&d)
			k, err := Acquire(t.Context(), db, &d, &result.Server{Schema: testSchema, Borrowed: true}, result.Identity{RunUID: "run"}, time.Second)
			if err == nil {
				t.Fatalf("%s: it was taken", step)
			}
			if step == "before the schema" {
				if k != nil {
					t.Errorf("%s: %v", step, k.Remove(t.Context(), db))
				}
				continue
			}
			if precious {
				mustExec(t, db, "CREATE TABLE "+testSchema+".precious (id INT)")
			}
			if err := k.Remove(t.Context(), db); (err != nil) != precious {
				t.Errorf("%s: removing: %v", step, err)
			}
			exists := 0
			if err := db.QueryRow(testDialect.Schemas.Exists, testSchema).Scan(&exists); err != nil || (exists > 0) != precious {
				t.Errorf("%s: the schema exists: %d, %v", step, exists, err)
			}
		}
	}
}

// A run that was interrupted leaves the schema alone if another one has taken it.
func TestIntegrationRemoveAfterAnotherHasTakenIt(t *testing.T) {
	db := newServer(t)
	interrupted := mustAcquire(t, db, "run", 1)
	interrupted.Close()
	other := mustAcquire(t, db, "another", 1)
	must.Do(t, other.Making(t.Context(), func(context.Context) error {
		mustExec(t, db, "CREATE TABLE "+testSchema+".used (id INT)")
		return nil
	}))
	if err := interrupted.Remove(t.Context(), db); err == nil {
		t.Error("the schema was removed")
	}
	must.Same(t, "left", []string{"used"}, tables(t, db))
	must.Do(t, other.Remove(t.Context(), db))
	mustExec(t, db, "CREATE DATABASE "+testSchema)
	mustExec(t, db, "DROP DATABASE "+testSchema)
}
