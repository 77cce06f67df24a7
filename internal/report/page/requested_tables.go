// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import "github.com/benchrun-dev/benchrun/internal/report"

// addTables adds the tables that a specification asks for, with remarks about what they lack.
func (f *frame) addTables(tables []report.RequestedTable, err error) error {
	if err != nil {
		return err
	}
	for i := range tables {
		requested := &tables[i]
		if words := requested.Remark(); words != "" {
			f.TableRemarks = append(f.TableRemarks, words)
		}
		if len(requested.Rows) > 1 {
			f.Tables = append(f.Tables, requestedTable(requested))
		}
	}
	return nil
}

// requestedTable has numbers to the right of its labels.
func requestedTable(of *report.RequestedTable) *table {
	t := &table{Name: of.Title, Sorted: len(of.Rows) > 3}
	for i, name := range of.Rows[0] {
		t.Head = append(t.Head, head{Text: name, Number: i >= of.Labels})
	}
	for _, texts := range of.Rows[1:] {
		var cells []cell
		for i, text := range texts {
			c := setting(text)
			c.Number = c.Number || i >= of.Labels
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}
