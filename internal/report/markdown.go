// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Summary writes what a person wants to know first, as Markdown that also reads well on a terminal: a table of the points
// in the order of the sweep, what must be read with the numbers, and where they were measured.
func Summary(w io.Writer, r *Report) error { return writeMarkdown(w, r.Run.Heading(), r.blocks()) }

// ComparisonSummary writes what a person wants to know first, as Markdown that also reads well on a terminal: the answer, a
// table of the pairs, why the comparison stopped, what the variants differ in, and what must be read with the answer.
func ComparisonSummary(w io.Writer, s *Comparison) error {
	return writeMarkdown(w, s.headline(), s.blocks())
}

// ComparedMarkdown writes a comparison as Markdown that also reads well on a terminal.
func ComparedMarkdown(w io.Writer, c *Compared) error {
	return writeMarkdown(w, c.headline(), c.blocks())
}

func writeMarkdown(w io.Writer, headline string, blocks []block) error {
	var b strings.Builder
	b.WriteString("# " + markdown(headline) + "\n")
	for _, part := range blocks {
		if part.empty() {
			continue
		}
		b.WriteString("\n")
		if part.title != "" {
			b.WriteString(markdown(part.title) + ":\n")
		}
		if len(part.rows) > 0 {
			if part.title != "" {
				b.WriteString("\n")
			}
			markdownTable(&b, part.rows)
			if len(part.lines) > 0 {
				b.WriteString("\n")
			}
		}
		for _, line := range part.lines {
			if part.list {
				b.WriteString("- ")
			}
			b.WriteString(markdown(line) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownTable writes rows with aligned columns, numbers to the right; the first row is the header.
func markdownTable(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(MarkdownCell(c)), 2)
		}
	}
	for n, cells := range rows {
		for i, c := range cells {
			c = MarkdownCell(c)
			b.WriteString("| " + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)) + c + " ")
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				b.WriteString("| " + strings.Repeat("-", width-1) + ": ")
			}
			b.WriteString("|\n")
		}
	}
}
