// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Summary writes what a person wants to know first, as Markdown that also reads well on a terminal.
func Summary(w io.Writer, r *Report) error {
	if r.HasVariants() {
		return markdownForm.write(w, r.headline(), r.blocks())
	}
	return markdownForm.write(w, r.Heading(), r.blocks())
}

// ComparedMarkdown writes a comparison as Markdown that also reads well on a terminal.
func ComparedMarkdown(w io.Writer, c *Compared) error {
	return markdownForm.write(w, c.headline(), c.blocks())
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

var (
	markdownForm = form{"# ", "- ", markdown, markdownTable, true}
	textForm     = form{"", "  ", plain, writeColumns, false}
)

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
func Text(w io.Writer, r *Report) error { return textForm.write(w, r.headline(), r.blocks()) }

// plain is a line without emphasis and without anything that a terminal would obey.
func plain(text string) string { return OneLine(strings.ReplaceAll(text, "**", "")) }

// writeColumns writes rows with columns that are aligned to the right, two spaces apart.
func writeColumns(b *strings.Builder, rows [][]string) {
	for _, cells := range aligned(rows, 0, plain) {
		b.WriteString(strings.TrimRight("  "+strings.Join(cells, "  "), " ") + "\n")
	}
}

// AllWarnings are what must be read with the numbers: about the run, and about its points.
func (r *Report) AllWarnings() []string { return inLines(r.sideFindings()) }

// ComparedFinding is a finding about one side of a comparison, or about both.
type ComparedFinding struct {
	// Of is the side; empty if it is about both.
	Of string `json:"of,omitempty"`
	// Points are the parameters of those that it is about; none if it is about all of them.
	Points []map[string]string `json:"points,omitempty"`
	finding.Finding
	// place is what to say of the points, before the finding.
	place string
}

func inLines(list []ComparedFinding) []string {
	var lines []string
	for _, f := range list {
		line := f.place + f.String()
		if f.Of != "" {
			line = f.Of + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// sideFindings are those of the report, with the points that they are about.
func (r *Report) sideFindings() []ComparedFinding {
	var list []ComparedFinding
	for _, f := range r.runFindings() {
		list = append(list, ComparedFinding{Finding: f})
	}
	if r.HasVariants() {
		return list
	}
	for _, f := range stats.PlacedAt(r.Points) {
		list = append(list, ComparedFinding{Finding: f.Finding, Points: f.Points, place: where(f.Points, f.Measured)})
	}
	return list
}

func (r *Report) runFindings() []finding.Finding {
	if r.HasVariants() {
		return r.Findings
	}
	return slices.Concat(r.Findings, r.ChangedInputs())
}

// where is what to say before a text about some points, given by their parameters, of all that were measured.
func where(some []map[string]string, measured int) string {
	switch place := stats.Place(some, measured); {
	case place != "":
		return place + ": "
	case measured > 1:
		return "everywhere: "
	}
	return ""
}

// claimLines are what the numbers say of claims, a line for each: what is said, and whether it holds, here and as published.
func claimLines(list []claims.Judgement) []string {
	var lines []string
	for _, j := range list {
		line := fmt.Sprintf("%s **%s**: %s", j.Name, stats.Words(j.Verdict), j.Detail)
		if j.Statement != "" {
			line = fmt.Sprintf("%s, %q, **%s**: %s", j.Name, j.Statement, stats.Words(j.Verdict), j.Detail)
		}
		if j.Published != "" {
			line += "; " + PublishedText(&j)
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		lines = append(lines, "each end of these intervals holds at 95% confidence, across all claims")
	}
	return lines
}

// PublishedText is what the published figures say of a claim, of which there are some.
func PublishedText(j *claims.Judgement) string {
	if j.Published == claims.CannotSay {
		return "the published data cannot say: " + j.PublishedDetail
	}
	return fmt.Sprintf("in the published data it %s: %s", stats.Words(j.Published), j.PublishedDetail)
}

// Command says whether a terminal obeys a character instead of showing it, or shows others in another order because of it. Line
// feeds and tabs are not among them.
func Command(c rune) bool {
	switch {
	case c == '\n', c == '\t':
		return false
	case c < ' ', c >= 0x7f && c < 0xa0: // controls, of one byte and of two
		return true
	}
	return c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 // overrides of the direction of writing
}

// OneLine is a text in one line, without commands.
func OneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || Command(c) {
			return ' '
		}
		return c
	}, text)
}

// markup is what makes links, images and HTML of a text in Markdown, and what ends a cell. Emphasis is kept: reports have it.
var markup = strings.NewReplacer(`\`, `\\`, "[", `\[`, "<", `\<`)

// markdown is a text in one line that is nothing but a text, apart from emphasis.
func markdown(text string) string { return markup.Replace(OneLine(text)) }

// MarkdownCell is the same in a table.
func MarkdownCell(text string) string { return strings.ReplaceAll(markdown(text), "|", `\|`) }

// writeCSV writes rows that a spreadsheet takes no formula from: a text that would be one, and is no number, gets an apostrophe.
func (t *Table) writeCSV(w io.Writer) error {
	rows := t.Texts()
	for _, cells := range rows {
		for i, c := range cells {
			if _, err := strconv.ParseFloat(c, 64); err != nil && c != "" && strings.ContainsAny(c[:1], "=+-@\t\r") {
				cells[i] = "'" + c
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func label(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return stats.Label(parameters) + ": "
}
