// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/report/plot"
)

// table of a page.
type table struct {
	// Name of the table, which is its caption.
	Name string
	Head []head
	Rows []row
	// Sorted says that readers may want another order.
	Sorted bool
}

// head of a column. Unit stands below its name.
type head struct {
	Text, Unit string
	Number     bool
}

// texts are heads of columns of words, numbers those of columns of numbers without a unit.
func texts(names ...string) []head { return heads(false, "", names) }

func numbers(names ...string) []head { return heads(true, "", names) }

// inUnit are heads of columns of numbers.
func inUnit(unit string, names ...string) []head { return heads(true, unit, names) }

func heads(number bool, unit string, names []string) []head {
	var list []head
	for _, name := range names {
		list = append(list, head{name, unit, number})
	}
	return list
}

// row of a table. Class is for its look: best, rival, differs.
type row struct {
	Class string
	Cells []cell
}

// cell of a table.
type cell struct {
	Text string
	// Value is what a column of numbers is sorted by; empty is the text.
	Value string
	// Number: it stands to the right.
	Number bool
	// Class is for its look.
	Class string
	// Title is shown to who points at the cell.
	Title string
	// Notes are the numbers of remarks below the table.
	Notes []int
}

// words is a cell of text.
func words(text string) cell { return cell{Text: text} }

// amount is a cell of a number.
func amount(v float64) cell {
	return cell{Text: plot.Number(v), Value: strconv.FormatFloat(v, 'g', -1, 64), Number: true}
}

// whole is a cell of a number of things, with all its digits.
func whole(n int64) cell {
	text := strconv.FormatInt(n, 10)
	return cell{Text: plot.Grouped(text), Value: text, Number: true}
}

// count is a cell of a number of things.
func count(n int) cell { return whole(int64(n)) }

// setting is a cell of a parameter's value, as it was written.
func setting(text string) cell {
	_, numeric := plot.Numbers([]string{text})
	c := cell{Text: text, Number: numeric}
	if numeric {
		c.Value = text
	}
	return c
}

// none is a cell of a number that there is none of.
func none() cell { return cell{Number: true} }
