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
	fields, err := r.read(n)
	if err != nil {
		return r.reader.Line(), nil
	}
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
	numeric, temporal := numericType.MatchString(c.sqlType), temporalType.MatchString(c.sqlType)
	switch {
	case value == nil:
		return `. The file says NULL: \N, or an empty field with dataFrom.emptyIs`
	case len(value) == 0:
		return `. An empty field is an empty text and not NULL: set dataFrom.emptyIs to "NULL" (with the quotation marks), or write \N`
	case line == 1 && strings.EqualFold(string(value), c.Name):
		return ". Is the line a header? Set dataFrom.headerLines to 1"
	case temporal && dayFirst.Match(value):
		return ". A date is written year-month-day, as in 2026-02-28"
	case numeric && bytes.IndexByte(value, ',') >= 0:
		return ". A number has a point before its decimals, and nothing between thousands"
	case bytes.EqualFold(value, []byte("NULL")):
		return `. NULL is written \N`
	}
	return ""
}
