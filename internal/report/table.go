// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Table is a table of a report. Printers of text write its texts; the page also sorts, colours and explains its cells.
type Table struct {
	// Name of the table, which is its caption.
	Name string
	Head []Column
	Rows []Row
	// Sorted says that readers may want another order.
	Sorted bool
}

// Column of a table.
type Column struct {
	// Text is its name, below which Unit stands. Plain is the name in a text, where it is another one.
	Text, Unit, Plain string
	Number            bool
	// Wide: only a page has room for it.
	Wide bool
}

// Row of a table. Class is for its look on a page: best, rival, differs.
type Row struct {
	Class string
	Cells []Cell
}

// Cell of a table.
type Cell struct {
	// Text is what it shows. Plain is what a printer of texts writes, if that is something else.
	Text, Plain string
	// Value is what a column of numbers is sorted by; empty is the text.
	Value string
	// Number: it stands to the right.
	Number bool
	// Written says that the number is shown as somebody has written it.
	Written bool
	// Class is for its look, Title is shown to those who point at it.
	Class, Title string
	// Notes are the numbers of remarks below the table.
	Notes []int
}

// texts are the rows for a printer of texts, the names of the columns first.
func (t *Table) texts() [][]string {
	rows := make([][]string, len(t.Rows)+1)
	for i, column := range t.Head {
		if column.Wide {
			continue
		}
		rows[0] = append(rows[0], strings.TrimSpace(cmp.Or(column.Plain, column.Text)))
		for n := range t.Rows {
			cell := &t.Rows[n].Cells[i]
			rows[n+1] = append(rows[n+1], cmp.Or(cell.Plain, cell.Text))
		}
	}
	return rows
}

// Texts are columns of words, Numbers columns of numbers without a unit, InUnit columns of numbers with one.
func Texts(names ...string) []Column { return columns(false, "", names) }

// Numbers are columns of numbers without a unit.
func Numbers(names ...string) []Column { return columns(true, "", names) }

// InUnit are columns of numbers with a unit.
func InUnit(unit string, names ...string) []Column { return columns(true, unit, names) }

func columns(number bool, unit string, names []string) []Column {
	var list []Column
	for _, name := range names {
		list = append(list, Column{Text: name, Unit: unit, Number: number})
	}
	return list
}

// ofParameters are the columns of swept parameters, of which these are the values at all points.
func ofParameters(names []string, points []map[string]string) []Column {
	var list []Column
	for _, name := range names {
		column := Column{Text: name, Number: true}
		for _, point := range points {
			if value, has := point[name]; has && !isNumber(value) {
				column.Number = false
			}
		}
		list = append(list, column)
	}
	return list
}

func isNumber(text string) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// Words is a cell of text.
func Words(text string) Cell { return Cell{Text: text} }

// AmountCell is a cell of a number; Whole is one of a number of things, with all its digits.
func AmountCell(v float64) Cell { return Cell{Text: stats.Format(v), Value: exact(v), Number: true} }

// Whole is a cell of a number of things.
func Whole[N int | int64](n N) Cell {
	text := strconv.FormatInt(int64(n), 10)
	return Cell{Text: text, Value: text, Number: true}
}

// Setting is a cell of a parameter's value, or of another one that somebody has written.
func Setting(text string) Cell {
	c := Cell{Text: text, Number: isNumber(text), Written: true}
	if c.Number {
		c.Value = text
	}
	return c
}

// None is a cell of a number that there is none of.
func None() Cell { return Cell{Number: true} }

// MedianCell is a cell of the median of some values.
func MedianCell(values []float64) Cell {
	if len(values) == 0 {
		return None()
	}
	return AmountCell(stats.Summarize(values).Median)
}

// exact is a number for a program; empty if there is none.
func exact(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
