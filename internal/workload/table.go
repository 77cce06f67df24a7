// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"
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
	var engine string
	const query = "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if err := db.QueryRowContext(ctx, query, name).Scan(&engine); err != nil {
		return fmt.Errorf("reading the storage engine of %s: %w", name, err)
	}
	if !strings.EqualFold(engine, t.engine) {
		return Refused{fmt.Sprintf("storage engine %s was asked for, the server made the table with %s", t.engine, engine)}
	}
	return nil
}

// verify are the checks that the table has those rows, of which n were committed, and no others.
func (t *table) verify(ctx context.Context, db *sql.DB, n int64, rows iter.Seq[int64]) ([]result.Check, error) {
	// The loader's own checksum is made while the server makes its.
	own := make(chan Checksum, 1)
	go func() { own <- t.checksum(rows) }()
	got, err := t.serverChecksum(ctx, db)
	want := <-own
	if err != nil {
		return nil, err
	}
	detail := got.String()
	if got != want {
		detail = fmt.Sprintf("the table has %s, sent was %s", got, want)
	}
	return []result.Check{
		{Name: "rows", Passed: got.Rows == n, Detail: fmt.Sprintf("%d committed, %d in the table", n, got.Rows)},
		{Name: "checksum", Passed: got == want, Detail: detail},
	}, nil
}

// serverChecksum is that of all rows in all tables.
func (t *table) serverChecksum(ctx context.Context, db *sql.DB) (Checksum, error) {
	var all Checksum
	for _, name := range t.names {
		// SUM of no rows is NULL.
		query := "SELECT COUNT(*), BIT_XOR(crc), COALESCE(SUM(crc), 0) FROM (SELECT CRC32(" + t.canonical + ") AS crc" +
			" FROM " + name + ") AS r"
		var one Checksum
		if err := db.QueryRowContext(ctx, query).Scan(&one.Rows, &one.Xor, &one.Sum); err != nil {
			return all, fmt.Errorf("computing the checksum of %s: %w", name, err)
		}
		all.Rows += one.Rows
		all.Xor ^= one.Xor
		all.Sum += one.Sum
	}
	return all, nil
}

// checksum of those rows.
func (t *table) checksum(rows iter.Seq[int64]) Checksum {
	var sum Checksum
	var buf []byte
	for n := range rows {
		buf = t.appendText(buf[:0], n)
		crc := crc32.ChecksumIEEE(buf)
		sum.Rows++
		sum.Xor ^= crc
		sum.Sum += uint64(crc)
	}
	return sum
}
