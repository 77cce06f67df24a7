// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
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
	// Class is for its look, Title is shown to those who point at it.
	Class, Title string
	// Notes are the numbers of remarks below the table.
	Notes []int
}

// tableOf so many rows, which are still empty. Readers may want another order of three or more.
func tableOf(name string, rows int) *Table {
	return &Table{Name: name, Sorted: rows > 2, Rows: make([]Row, rows)}
}

// add a column with its cell in each row.
func (t *Table) add(head Column, cell func(row int) Cell) {
	t.Head = append(t.Head, head)
	for i := range t.Rows {
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell(i))
	}
}

func (t *Table) addText(name string, text func(row int) string) {
	t.add(Column{Text: name}, func(i int) Cell { return Words(text(i)) })
}

// addParameters are columns of swept parameters, with these values in each row. A row without any is about all points.
func (t *Table) addParameters(names []string, points []map[string]string) {
	for _, name := range names {
		words := slices.ContainsFunc(points, func(p map[string]string) bool {
			value, has := p[name]
			return has && !isNumber(value)
		})
		t.add(Column{Text: name, Number: !words}, func(i int) Cell {
			if points[i] == nil {
				return None()
			}
			return Setting(points[i][name])
		})
	}
}

// Texts are the rows for a printer of texts, the names of the columns first.
func (t *Table) Texts() [][]string {
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

// Texts are columns of words.
func Texts(names ...string) []Column {
	var list []Column
	for _, name := range names {
		list = append(list, Column{Text: name})
	}
	return list
}

// inUnit is a column of numbers with a unit; an empty one is none.
func inUnit(unit, name string) Column { return Column{Text: name, Unit: unit, Number: true} }

func isNumber(text string) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// Words is a cell of text.
func Words(text string) Cell { return Cell{Text: text} }

// numberCell is a cell of a text with numbers, which a page shows with their thousands set apart, and a printer of texts without.
func numberCell(value float64, text func(number func(float64) string) string) Cell {
	return Cell{Text: text(stats.Number), Plain: text(stats.Format), Value: exact(value), Number: true}
}

// AmountCell is a cell of a number.
func AmountCell(v float64) Cell {
	return numberCell(v, func(number func(float64) string) string { return number(v) })
}

// Whole is a cell of a number of things, with all its digits.
func Whole[N int | int64](n N) Cell {
	text := strconv.FormatInt(int64(n), 10)
	return Cell{Text: stats.Grouped(text), Plain: text, Value: text, Number: true}
}

// Setting is a cell of a parameter's value, or of another one that somebody has written.
func Setting(text string) Cell {
	if isNumber(text) {
		return Cell{Text: text, Value: text, Number: true}
	}
	return Words(text)
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
