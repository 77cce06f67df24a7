// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// plain is a text in one line that is nothing but a text, without emphasis too.
func plain(text string) string { return strings.ReplaceAll(report.MarkdownCell(text), "*", `\*`) }

// table of rows, of which the first is the header. Cells are Markdown.
func table(rows [][]string) string {
	var b strings.Builder
	for n, cells := range rows {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if n == 0 {
			b.WriteString(strings.Repeat("| --- ", len(cells)) + "|\n")
		}
	}
	return b.String()
}

// prose is a paragraph of a file's comment as Markdown: tables keep their columns.
func (p *paragraph) prose() string {
	if p.table {
		return "```text\n" + p.text + "\n```\n"
	}
	return p.text + "\n"
}
