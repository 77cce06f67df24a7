// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package checksum compares the rows of a table with those that were sent, wherever either of them is.
package checksum

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Checksum of a table is a function of its rows alone: neither of their order, nor of pages, nor of the server. It is
// made of the CRC-32 of each row's "id:text", which a server computes as CRC32(CONCAT(id, ':', text)).
type Checksum struct {
	Rows int64
	// Xor of the rows' CRC-32: notices each changed row.
	Xor uint32
	// Sum of the rows' CRC-32: notices pairs of equal rows, which the other does not.
	Sum uint64
}

// String is the same for the same rows.
func (c Checksum) String() string {
	return fmt.Sprintf("rows=%d xor=%08x sum=%d", c.Rows, c.Xor, c.Sum)
}

// Add adds the text of a row.
func (c *Checksum) Add(text []byte) {
	c.Rows++
	crc := crc32.ChecksumIEEE(text)
	c.Xor ^= crc
	c.Sum += uint64(crc)
}

// OfTables is the checksum of all rows of some tables, as the server computes it from the text of each.
func OfTables(ctx context.Context, db *sql.DB, expression string, tables ...string) (Checksum, error) {
	var all Checksum
	for _, name := range tables {
		// SUM of no rows is NULL.
		query := "SELECT COUNT(*), BIT_XOR(crc), COALESCE(SUM(crc), 0) FROM (SELECT CRC32(" + expression + ") AS crc" +
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

// OfRows is OfTables for a server that does not compute it: the rows are read.
func OfRows(ctx context.Context, db *sql.DB, expression string, tables ...string) (all Checksum, err error) {
	for _, name := range tables {
		if err := workload.EachRow(ctx, db, func(row *sql.Rows) error {
			var text sql.RawBytes
			err := row.Scan(&text)
			all.Add(text)
			return err
		}, "SELECT "+expression+" FROM "+name); err != nil {
			return all, fmt.Errorf("computing the checksum of %s: %w", name, err)
		}
	}
	return all, nil
}

// CheckRows checks that as many rows are in the table as were committed.
func CheckRows(committed, got int64) result.Check {
	return result.Check{
		Name: "rows", Passed: got == committed, Detail: fmt.Sprintf("%d committed, %d in the table", committed, got),
	}
}

// Check checks that the rows of the table are those that were sent.
func Check(got, sent Checksum) result.Check {
	detail := got.String()
	if got != sent {
		detail = fmt.Sprintf("the table has %s, but the load sent %s", got, sent)
	}
	return result.Check{Name: "checksum", Passed: got == sent, Detail: detail}
}

// CountRows is the number of all rows of some tables.
func CountRows(ctx context.Context, db *sql.DB, tables ...string) (rows int64, err error) {
	for _, name := range tables {
		var n int64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+name).Scan(&n); err != nil {
			return 0, fmt.Errorf("counting the rows of %s: %w", name, err)
		}
		rows += n
	}
	return rows, nil
}
