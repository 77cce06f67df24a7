// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Text writes a report for a terminal: the answer first, columns that are aligned, and no Markdown.
func Text(w io.Writer, r *Report) error { return writeText(w, r.headline(), r.blocks()) }

// ComparisonText writes the report of a comparison for a terminal.
func ComparisonText(w io.Writer, s *Comparison) error { return writeText(w, s.headline(), s.blocks()) }

func writeText(w io.Writer, headline string, blocks []block) error {
	var b strings.Builder
	b.WriteString(plain(headline) + "\n")
	for _, part := range blocks {
		if part.empty() {
			continue
		}
		b.WriteString("\n")
		if part.title != "" {
			b.WriteString(plain(part.title) + ":\n")
		}
		writeColumns(&b, part.rows)
		if len(part.rows) > 0 && len(part.lines) > 0 {
			b.WriteString("\n")
		}
		for _, line := range part.lines {
			if part.list {
				b.WriteString("  ")
			}
			b.WriteString(plain(line) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain is a line without emphasis and without anything that a terminal would obey.
func plain(text string) string { return OneLine(strings.ReplaceAll(text, "**", "")) }

// writeColumns writes rows with columns that are aligned to the right, two spaces apart.
func writeColumns(b *strings.Builder, rows [][]string) {
	var widths []int
	for n, cells := range rows {
		for i, c := range cells {
			if n == 0 {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(plain(c)))
		}
	}
	for _, cells := range rows {
		var line strings.Builder
		for i, c := range cells {
			c = plain(c)
			line.WriteString(strings.Repeat(" ", 2+widths[i]-utf8.RuneCountInString(c)) + c)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
