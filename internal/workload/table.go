// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// table is a table that rows are inserted into and read back from.
type table struct {
	name string
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
	create := fmt.Sprintf("CREATE TABLE %s (%s) ENGINE=%s", t.name, t.columns, t.engine)
	if t.options != "" {
		create += " " + t.options
	}
	for _, statement := range []string{"DROP TABLE IF EXISTS " + t.name, create} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("executing %s: %w", statement, err)
		}
	}
	var engine string
	const query = "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if err := db.QueryRowContext(ctx, query, t.name).Scan(&engine); err != nil {
		return fmt.Errorf("reading the storage engine of %s: %w", t.name, err)
	}
	if !strings.EqualFold(engine, t.engine) {
		return Refused{fmt.Sprintf("storage engine %s was asked for, the server made the table with %s", t.engine, engine)}
	}
	return nil
}

// count is the check that the table has so many rows.
func (t *table) count(ctx context.Context, db *sql.DB, want int64, detail string) ([]result.Check, error) {
	var got int64
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.name).Scan(&got); err != nil {
		return nil, fmt.Errorf("counting the rows: %w", err)
	}
	return []result.Check{{Name: "rows", Passed: got == want, Detail: fmt.Sprintf("%s, %d in the table", detail, got)}}, nil
}

// verify are the checks that the table has the rows 1 to n and no others.
func (t *table) verify(ctx context.Context, db *sql.DB, n int64) ([]result.Check, error) {
	// The loader's own checksum is made while the server makes its.
	own := make(chan Checksum, 1)
	go func() { own <- t.checksum(n) }()
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

func (t *table) serverChecksum(ctx context.Context, db *sql.DB) (Checksum, error) {
	var got Checksum
	// SUM of no rows is NULL.
	query := fmt.Sprintf("SELECT COUNT(*), BIT_XOR(crc), COALESCE(SUM(crc), 0) FROM (SELECT CRC32(%s) AS crc FROM %s) AS r",
		t.canonical, t.name)
	if err := db.QueryRowContext(ctx, query).Scan(&got.Rows, &got.Xor, &got.Sum); err != nil {
		return got, fmt.Errorf("computing the checksum: %w", err)
	}
	return got, nil
}

// checksum of the rows 1 to n.
func (t *table) checksum(n int64) Checksum {
	sum := Checksum{Rows: n}
	var buf []byte
	for i := int64(1); i <= n; i++ {
		buf = t.appendText(buf[:0], i)
		crc := crc32.ChecksumIEEE(buf)
		sum.Xor ^= crc
		sum.Sum += uint64(crc)
	}
	return sum
}
