// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"strings"
	"testing"
)

const (
	statisticsPage = "docs/statistics.md"
	tablesPage     = "docs/reference/statistics-tables.md"
)

// tablesOf a page: the rows of each table that begin with a difference in percent, by its header and the first cell, with the
// other cells by their column.
func tablesOf(content string) map[string]map[string]map[string]string {
	tables := map[string]map[string]map[string]string{}
	title := ""
	var header []string
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if heading := strings.TrimLeft(line, "#"); heading != line {
			title = strings.TrimSpace(heading)
		}
		if !strings.HasPrefix(line, "|") {
			header = nil
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		if header == nil {
			header = cells
			continue
		}
		if tables[title] == nil {
			tables[title] = map[string]map[string]string{}
		}
		row := map[string]string{}
		for i, cell := range cells[1:] {
			row[header[i+1]] = cell
		}
		tables[title][cells[0]] = row
	}
	return tables
}

// The tables of the page that explains the statistics repeat figures of the page that a program writes.
func TestFiguresOfStatistics(t *testing.T) {
	simulated := tablesOf(read(t, tablesPage))
	compare := func(row, of, from string) {
		t.Helper()
		cells := tablesOf(read(t, statisticsPage))[of][row]
		if len(cells) == 0 {
			t.Errorf("%s: %s has no row %s", statisticsPage, of, row)
		}
		for column, cell := range cells {
			if want := simulated[from][row][column]; want != cell {
				t.Errorf("%s, %s, %s, %s: %s, but the tables have %q", statisticsPage, of, row, column, cell, want)
			}
		}
	}
	for _, difference := range []string{"2%", "5%", "10%", "20%"} {
		compare(difference, "Plan a comparison", "A difference at 1 of 1 points: found by, and rounds")
	}
	compare("5%", "What a verdict cannot see", "The difference that is stated, in the mean")
}
