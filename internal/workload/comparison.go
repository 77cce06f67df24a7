// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// comparison of a table's rows with the text that they were loaded from: of those columns that give back the text that they
// were given. A date that was written otherwise, or a floating-point number, comes back as another text, and is right.
type comparison struct {
	columns []column
	// left says of a column why its values are not compared; empty if they are.
	left []string
}

// newComparison is one of all columns whose type allows it, in the order of a row's fields.
func newComparison(columns []column) *comparison {
	c := &comparison{columns: columns, left: make([]string, len(columns))}
	for i, col := range columns {
		if col.kind.family == incomparable {
			c.left[i] = "its type is " + col.sqlType
		}
	}
	return c
}

// look leaves columns out for whose type the row has text that is not a server's own.
func (c *comparison) look(fields [][]byte) {
	for i, field := range fields {
		if c.left[i] == "" && field != nil && !c.columns[i].kind.canonical(field) {
			c.left[i] = fmt.Sprintf("a %s is written %q", c.columns[i].sqlType, result.Truncate(string(field), 40))
		}
	}
}

// compared says whether there is a column whose values are compared.
func (c *comparison) compared() bool { return slices.Contains(c.left, "") }

// String says what is compared and what is not.
func (c *comparison) String() string {
	var compared, left []string
	for i, why := range c.left {
		if why == "" {
			compared = append(compared, c.columns[i].name)
			continue
		}
		left = append(left, fmt.Sprintf("%s (%s)", c.columns[i].name, why))
	}
	text := "compared by their text: " + strings.Join(compared, ", ")
	if len(compared) == 0 {
		text = "no values were compared"
	}
	if len(left) > 0 {
		text += "; not compared: " + strings.Join(left, ", ")
	}
	return text
}

// Between two values of a row's text, and in place of NULL.
const (
	textSeparator = ':'
	textNull      = "NULL"
)

// appendText appends the text of a row, of the columns that are compared.
func (c *comparison) appendText(dst []byte, fields [][]byte) []byte {
	first := true
	for i, field := range fields {
		if c.left[i] != "" {
			continue
		}
		if !first {
			dst = append(dst, textSeparator)
		}
		first = false
		if field == nil {
			dst = append(dst, textNull...)
			continue
		}
		dst = append(dst, field...)
	}
	return dst
}

// add adds a row to a checksum. The buffer is used for its text, and returned for the next one.
func (c *comparison) add(sum *Checksum, buf []byte, fields [][]byte) []byte {
	buf = c.appendText(buf[:0], fields)
	sum.Rows++
	sum.include(buf)
	return buf
}

// expression is the same text in SQL. Collations differ between columns, so all become bytes first.
func (c *comparison) expression() string {
	var parts []string
	for i, col := range c.columns {
		if c.left[i] != "" {
			continue
		}
		value := quotedName(col.name)
		if col.encoded {
			value = "CONVERT(" + value + " USING utf8mb4)"
		}
		parts = append(parts, fmt.Sprintf("COALESCE(CAST(%s AS BINARY), '%s')", value, textNull))
	}
	return fmt.Sprintf("CONCAT_WS('%c', %s)", textSeparator, strings.Join(parts, ", "))
}

// serverChecksum is the checksum of all rows of some tables, as the server computes it from the text of each.
func serverChecksum(ctx context.Context, db *sql.DB, expression string, tables ...string) (Checksum, error) {
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

// countRows is the number of all rows of some tables.
func countRows(ctx context.Context, db *sql.DB, tables ...string) (rows int64, err error) {
	for _, name := range tables {
		var n int64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+name).Scan(&n); err != nil {
			return 0, fmt.Errorf("counting the rows of %s: %w", name, err)
		}
		rows += n
	}
	return rows, nil
}

// quotedName is an identifier in SQL.
func quotedName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quotedNames(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, quotedName(name))
	}
	return strings.Join(all, ", ")
}
