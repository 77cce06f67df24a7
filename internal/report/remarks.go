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

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

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

// inLines are findings for people, a line for each.
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

// runFindings are those about the run as a whole.
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
