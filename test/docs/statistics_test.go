// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const (
	statisticsPage = "docs/statistics.md"
	tablesFolder   = "docs/reference/statistics/"
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
		if strings.HasPrefix(cells[0], "---") {
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

// The tables of the page that explains the statistics repeat figures of the tables that a program writes.
func TestFiguresOfStatistics(t *testing.T) {
	page := tablesOf(read(t, statisticsPage))
	compare := func(of, row, column, want string) {
		t.Helper()
		must.Same(t, fmt.Sprintf("%s, %s, %s, %s", statisticsPage, of, row, column), want, page[of][row][column])
	}
	figures := 0
	for _, r := range simulated(t, "found") {
		cv := "CV " + r["CV"]
		if cells := page["Plan a comparison"][r["true difference"]]; r["points"] != "1" || cells[cv] == "" {
			continue
		}
		figures++
		compare("Plan a comparison", r["true difference"], cv,
			fmt.Sprintf("%s, %s (%s)", r["found by"], r["rounds (median)"], r["rounds (mean)"]))
	}
	const unseen = "What a verdict cannot see"
	for _, r := range simulated(t, "bias") {
		for column := range page[unseen][r["true difference"]] {
			figures++
			compare(unseen, r["true difference"], column, r[column])
		}
	}
	if want := cells(page["Plan a comparison"]) + cells(page[unseen]); figures != want || want < 10 {
		t.Errorf("%d figures were compared, of %d", figures, want)
	}
}

// cells of a table are counted.
func cells(table map[string]map[string]string) (n int) {
	for _, row := range table {
		n += len(row)
	}
	return n
}

// simulated are the rows of a table that test/statistics writes, by the names of its columns.
func simulated(t *testing.T, name string) []map[string]string {
	t.Helper()
	return rowsOfCSV(t, tablesFolder+name+".csv")
}
