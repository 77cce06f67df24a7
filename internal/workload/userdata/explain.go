// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/delimited"
)

// What servers say about a row of a statement and a column, for example: Data too long for column 'b' at row 2, Incorrect integer
// value: 'x' for column `bench`.`own`.`a` at row 1, Column 'b' cannot be null.
var (
	errorRow    = regexp.MustCompile(` at row (\d+)`)
	errorColumn = regexp.MustCompile("[Cc]olumn (?:'([^']+)'|(?:`[^`]+`\\.)*`([^`]+)`)")
	dayFirst    = regexp.MustCompile(`^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b`)

	numericType  = regexp.MustCompile(`(?i)int|decimal|float|double|numeric`)
	temporalType = regexp.MustCompile(`(?i)date|time|year`)
)

// Explain says of the server's error about a statement with the rows first to last on which line of the file the row is that it
// is about, and what its value is, as far as the server says so.
func (r *RowReader) Explain(first, last int64, err error) string {
	text := err.Error()
	if match := errorRow.FindStringSubmatch(text); match != nil {
		if n, _ := strconv.ParseInt(match[1], 10, 64); n >= 1 && first+n-1 <= last {
			first, last = first+n-1, first+n-1
			text = strings.Replace(text, match[0], "", 1)
		}
	}
	column := r.columnIn(text)
	if first < last && column >= 0 && strings.Contains(text, "cannot be null") {
		first, last = r.firstNull(first, last, column)
	}
	from, fields := r.look(first)
	if first < last {
		until, _ := r.look(last)
		return fmt.Sprintf("inserting %s, lines %d to %d: %s", r.file.Name, from, until, text)
	}
	where := fmt.Sprintf("inserting %s, line %d", r.file.Name, from)
	if column < 0 || column >= len(fields) {
		return where + ": " + text
	}
	c := &r.file.Comparison.columns[column]
	value := "NULL"
	if fields[column] != nil {
		value = strconv.Quote(shown(fields[column]))
	}
	return fmt.Sprintf("%s, field %d (column %s), %s: %s%s", where, column+1, c.Name, value, text, advice(c, fields[column], from))
}

// look reads row n: its line and its fields; none if it cannot be read.
func (r *RowReader) look(n int64) (line int64, fields [][]byte) {
	fields, _ = r.read(n)
	return r.reader.Line(), fields
}

// columnIn is the place of the column that a text names; -1 if it names none of the file's.
func (r *RowReader) columnIn(text string) int {
	match := errorColumn.FindStringSubmatch(text)
	if match == nil || r.file.Comparison == nil {
		return -1
	}
	return slices.IndexFunc(r.file.Comparison.columns, func(c Column) bool { return strings.EqualFold(c.Name, match[1]+match[2]) })
}

// firstNull is the first of the rows whose field is NULL; all of them if none is.
func (r *RowReader) firstNull(first, last int64, column int) (from, until int64) {
	for n := first; n <= last; n++ {
		if _, fields := r.look(n); column < len(fields) && fields[column] == nil {
			return n, n
		}
	}
	return first, last
}

// advice is what is probably wrong with a value that a server did not take.
func advice(c *Column, value []byte, line int64) string {
	switch {
	case value == nil:
		return `. The file says NULL: \N, or an empty field with dataFrom.emptyIs`
	case len(value) == 0:
		return `. An empty field is an empty text and not NULL: set dataFrom.emptyIs to "NULL" (with the quotation marks), or write \N`
	case line == 1 && strings.EqualFold(string(value), c.Name):
		return ". Is the line a header? Set dataFrom.headerLines to 1"
	case temporalType.MatchString(c.sqlType) && dayFirst.Match(value):
		return ". A date is written year-month-day, as in 2026-02-28"
	case numericType.MatchString(c.sqlType) && bytes.IndexByte(value, ',') >= 0:
		return ". A number has a point before its decimals, and nothing between thousands"
	case bytes.EqualFold(value, []byte("NULL")):
		return `. NULL is written \N`
	}
	return ""
}

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
