// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/delimited"
)

// Comparison of a table's rows with the text that they were loaded from: of those columns that give back the text that they
// were given. A date that was written otherwise, or a floating-point number, comes back as another text, and is right.
type Comparison struct {
	columns []Column
	// left says of a column why its values are not compared; empty if they are.
	left []string
}

// NewComparison is one of all columns whose type allows it, in the order of a row's fields.
func NewComparison(columns []Column) *Comparison {
	c := &Comparison{columns: columns, left: make([]string, len(columns))}
	for i, col := range columns {
		if col.Kind.family == incomparable {
			c.left[i] = "its type is " + col.sqlType
		}
	}
	return c
}

// check finds a value that the table could not have as it stands in the file, although the server would take it: text that is not
// UTF-8, or a number or a time that would be rounded.
func (c *Comparison) check(line int64, fields [][]byte) error {
	for i, field := range fields {
		var reason string
		column := &c.columns[i]
		switch {
		case !column.binary && !utf8.Valid(field):
			reason = fmt.Sprintf("%q is not UTF-8: convert the file, for example with iconv -f ISO-8859-1 -t UTF-8", shown(field))
		case !column.Kind.canonical(field) && column.Kind.rounds(field):
			reason = fmt.Sprintf("%s would be rounded or cut to %s: round it in the file, or change the column's type", shown(field),
				column.sqlType)
		default:
			continue
		}
		return &delimited.Error{Line: line, Reason: fmt.Sprintf("field %d (column %s): %s", i+1, column.Name, reason)}
	}
	return nil
}

// shown is as much of a value as a message has.
func shown(field []byte) string { return result.Truncate(string(field), 40) }

// look leaves columns out for whose type the row has text that is not a server's own.
func (c *Comparison) look(fields [][]byte) {
	for i, field := range fields {
		if c.left[i] == "" && field != nil && !c.columns[i].Kind.canonical(field) {
			c.left[i] = fmt.Sprintf("a %s is written %q", c.columns[i].sqlType, shown(field))
		}
	}
}

// Compared says whether there is a column whose values are compared.
func (c *Comparison) Compared() bool { return slices.Contains(c.left, "") }

// String says what is compared and what is not.
func (c *Comparison) String() string {
	var compared, left []string
	for i, why := range c.left {
		if why == "" {
			compared = append(compared, c.columns[i].Name)
			continue
		}
		left = append(left, fmt.Sprintf("%s (%s)", c.columns[i].Name, why))
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
func (c *Comparison) appendText(dst []byte, fields [][]byte) []byte {
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
func (c *Comparison) add(sum *checksum.Checksum, buf []byte, fields [][]byte) []byte {
	buf = c.appendText(buf[:0], fields)
	sum.Rows++
	sum.Add(buf)
	return buf
}

// Expression is the same text in SQL. Collations differ between columns, so all become bytes first.
func (c *Comparison) Expression() string {
	var parts []string
	for i, col := range c.columns {
		if c.left[i] != "" {
			continue
		}
		value := QuotedName(col.Name)
		if col.encoded {
			value = "CONVERT(" + value + " USING utf8mb4)"
		}
		parts = append(parts, fmt.Sprintf("COALESCE(CAST(%s AS BINARY), '%s')", value, textNull))
	}
	return fmt.Sprintf("CONCAT_WS('%c', %s)", textSeparator, strings.Join(parts, ", "))
}
