// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// table is a table that rows are inserted into and read back from, or several that are alike.
type table struct {
	names []string
	// columns is the text between the parentheses of CREATE TABLE.
	columns string
	// options follow the storage engine, for example the character set.
	options string
	engine  string
	// canonical is an SQL expression with the text of a row, the same that appendText appends.
	canonical string
	// appendText appends the text of row n that its checksum is made of.
	appendText func(dst []byte, n int64) []byte
}

var engineName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

func checkEngine(engine string) error {
	if !engineName.MatchString(engine) {
		return fmt.Errorf("storageEngine is %q, it must be 1 to 64 letters, digits and underscores", engine)
	}
	return nil
}

// make drops the table and makes it anew. A server that puts another storage engine in place of one that it does not have
// is found out.
func (t *table) make(ctx context.Context, db *sql.DB) error {
	for _, name := range t.names {
		if err := t.makeOne(ctx, db, name); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) makeOne(ctx context.Context, db *sql.DB, name string) error {
	create := fmt.Sprintf("CREATE TABLE %s (%s) ENGINE=%s", name, t.columns, t.engine)
	if t.options != "" {
		create += " " + t.options
	}
	for _, statement := range []string{"DROP TABLE IF EXISTS " + name, create} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("executing %s: %w", statement, err)
		}
	}
	return madeWith(ctx, db, name, t.engine)
}

// madeWith finds out a table that was not made with the storage engine that was asked for.
func madeWith(ctx context.Context, db *sql.DB, name, asked string) error {
	var engine string
	const query = "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if err := db.QueryRowContext(ctx, query, name).Scan(&engine); err != nil {
		return fmt.Errorf("reading the storage engine of %s: %w", name, err)
	}
	if !strings.EqualFold(engine, asked) {
		return Refused{fmt.Sprintf("storage engine %s was asked for, the server made the table with %s", asked, engine)}
	}
	return nil
}

// verify are the checks that the table has those rows, of which n were committed, and no others.
func (t *table) verify(ctx context.Context, db *sql.DB, n int64, rows iter.Seq[int64]) ([]result.Check, error) {
	// The loader's own checksum is made while the server makes its.
	own := make(chan Checksum, 1)
	go func() { own <- t.checksum(rows) }()
	got, err := serverChecksum(ctx, db, t.canonical, t.names...)
	want := <-own
	if err != nil {
		return nil, err
	}
	detail := got.String()
	if got != want {
		detail = fmt.Sprintf("the table has %s, sent was %s", got, want)
	}
	return []result.Check{
		rowsCheck(n, got.Rows),
		{Name: "checksum", Passed: got == want, Detail: detail},
	}, nil
}

func rowsCheck(committed, got int64) result.Check {
	return result.Check{
		Name: "rows", Passed: got == committed, Detail: fmt.Sprintf("%d committed, %d in the table", committed, got),
	}
}

// checksum of those rows.
func (t *table) checksum(rows iter.Seq[int64]) Checksum {
	var sum Checksum
	var buf []byte
	for n := range rows {
		buf = t.appendText(buf[:0], n)
		sum.Rows++
		sum.include(buf)
	}
	return sum
}
