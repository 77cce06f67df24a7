// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Summary writes what a person wants to know first, as Markdown that also reads well on a terminal.
func Summary(w io.Writer, r *Report) error {
	if r.HasVariants() {
		return writeMarkdown(w, r.headline(), r.blocks())
	}
	return writeMarkdown(w, r.Heading(), r.blocks())
}

// ComparedMarkdown writes a comparison as Markdown that also reads well on a terminal.
func ComparedMarkdown(w io.Writer, c *Compared) error {
	return writeMarkdown(w, c.headline(), c.blocks())
}

// form is how a printer of texts writes a report.
type form struct {
	// headline and bullet are before a headline, and before a line of a list.
	headline, bullet string
	text             func(string) string
	table            func(*strings.Builder, [][]string)
	// apart says that a table stands apart from its title.
	apart bool
}

func writeMarkdown(w io.Writer, headline string, blocks []block) error {
	return form{"# ", "- ", markdown, markdownTable, true}.write(w, headline, blocks)
}

func writeText(w io.Writer, headline string, blocks []block) error {
	return form{"", "  ", plain, writeColumns, false}.write(w, headline, blocks)
}

func (f form) write(w io.Writer, headline string, blocks []block) error {
	var b strings.Builder
	b.WriteString(f.headline + f.text(headline) + "\n")
	for _, part := range blocks {
		if len(part.rows) == 0 && len(part.lines) == 0 {
			continue
		}
		b.WriteString("\n")
		if part.title != "" {
			b.WriteString(f.text(part.title) + ":\n")
		}
		if len(part.rows) > 0 {
			if part.title != "" && f.apart {
				b.WriteString("\n")
			}
			f.table(&b, part.rows)
			if len(part.lines) > 0 {
				b.WriteString("\n")
			}
		}
		for _, line := range part.lines {
			if part.list {
				b.WriteString(f.bullet)
			}
			b.WriteString(f.text(line) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// aligned are rows of cells that a function writes, padded on the left to the width of their columns: so much at least.
func aligned(rows [][]string, least int, text func(string) string) [][]string {
	widths, list := make([]int, len(rows[0])), make([][]string, len(rows))
	for n, cells := range rows {
		for i, c := range cells {
			list[n] = append(list[n], text(c))
			widths[i] = max(widths[i], utf8.RuneCountInString(list[n][i]), least)
		}
	}
	for _, cells := range list {
		for i, c := range cells {
			cells[i] = strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)) + c
		}
	}
	return list
}

// markdownTable writes rows with aligned columns, numbers to the right; the first row is the header.
func markdownTable(b *strings.Builder, rows [][]string) {
	for n, cells := range aligned(rows, 2, MarkdownCell) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if n == 0 {
			for _, c := range cells {
				b.WriteString("| " + strings.Repeat("-", utf8.RuneCountInString(c)-1) + ": ")
			}
			b.WriteString("|\n")
		}
	}
}

// Text writes a report for a terminal: the answer first, columns that are aligned, and no Markdown.
func Text(w io.Writer, r *Report) error { return writeText(w, r.headline(), r.blocks()) }

// plain is a line without emphasis and without anything that a terminal would obey.
func plain(text string) string { return OneLine(strings.ReplaceAll(text, "**", "")) }

// writeColumns writes rows with columns that are aligned to the right, two spaces apart.
func writeColumns(b *strings.Builder, rows [][]string) {
	for _, cells := range aligned(rows, 0, plain) {
		b.WriteString(strings.TrimRight("  "+strings.Join(cells, "  "), " ") + "\n")
	}
}
