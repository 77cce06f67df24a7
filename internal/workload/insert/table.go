// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
)

// Table is one that rows are inserted into and read back from, or several that are alike.
type Table struct {
	Names []string
	// Columns is the text between the parentheses of CREATE TABLE.
	Columns string
	// Options follow the storage engine, for example the character set.
	Options string
	Engine  string
	// Canonical is an SQL expression with the text of a row, the same that AppendText appends.
	Canonical string
	// AppendText appends the text of row n that its checksum is made of.
	AppendText func(dst []byte, n int64) []byte
}

var engineName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// CheckEngine finds what is no name of a storage engine.
func CheckEngine(engine string) error {
	if !engineName.MatchString(engine) {
		return fmt.Errorf("storageEngine is %q but must be 1 to 64 letters, digits and underscores", engine)
	}
	return nil
}

// Make makes the table. A server that puts another storage engine in place of one that it does not have
// is found out.
func (t *Table) Make(ctx context.Context, db *sql.DB) error {
	for _, name := range t.Names {
		if err := t.makeOne(ctx, db, name); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) makeOne(ctx context.Context, db *sql.DB, name string) error {
	create := fmt.Sprintf("CREATE TABLE %s (%s) ENGINE=%s", name, t.Columns, t.Engine)
	if t.Options != "" {
		create += " " + t.Options
	}
	if _, err := db.ExecContext(ctx, create); err != nil {
		return fmt.Errorf("executing %s: %w", create, err)
	}
	return MadeWith(ctx, db, name, t.Engine)
}

// MadeWith finds out a table that was not made with the storage engine that was asked for.
func MadeWith(ctx context.Context, db *sql.DB, name, requested string) error {
	var engine string
	const query = "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if err := db.QueryRowContext(ctx, query, name).Scan(&engine); err != nil {
		return fmt.Errorf("reading the storage engine of %s: %w", name, err)
	}
	if !strings.EqualFold(engine, requested) {
		return workload.Refused{
			Reason: fmt.Sprintf("storage engine %s was requested, but the server created the table with %s", requested, engine),
		}
	}
	return nil
}

// Verify are the checks that the table has those rows, of which n were committed, and no others.
func (t *Table) Verify(ctx context.Context, db *sql.DB, n int64, rows iter.Seq[int64]) ([]result.Check, error) {
	// The loader's own checksum is made while the server makes its.
	own := make(chan checksum.Checksum, 1)
	go func() { own <- t.Checksum(rows) }()
	got, err := checksum.OfTables(ctx, db, t.Canonical, t.Names...)
	want := <-own
	if err != nil {
		return nil, err
	}
	return []result.Check{checksum.CheckRows(n, got.Rows), checksum.Check(got, want)}, nil
}

// Checksum of those rows.
func (t *Table) Checksum(rows iter.Seq[int64]) checksum.Checksum {
	var sum checksum.Checksum
	var buf []byte
	for n := range rows {
		buf = t.AppendText(buf[:0], n)
		sum.Rows++
		sum.Add(buf)
	}
	return sum
}
