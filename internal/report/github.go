// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// A GitHub job summary is refused as a whole above 1 MiB, and so are those of all steps together that are too many: this
// one stays well below.
const (
	// githubBytes is how long the text is at most, in bytes.
	githubBytes = 512 << 10
	// githubRows is how many rows of a table are shown, and how many lines of a list.
	githubRows = 200
	// githubLine is how long a line of a list, or a cell, is at most, in bytes.
	githubLine = 2 << 10
)

// GitHub writes a job summary for GitHub Actions: the answer first. It stays below the limit of 1
// MiB: a table that is too long ends with a line that says how many rows are left out.
func GitHub(w io.Writer, r *Report) error { return writeGitHub(w, r.headline(), r.blocks()) }

// ComparisonGitHub writes a job summary of a comparison.
func ComparisonGitHub(w io.Writer, s *Comparison) error {
	return writeGitHub(w, s.headline(), s.blocks())
}

func writeGitHub(w io.Writer, headline string, blocks []block) error {
	var b strings.Builder
	b.WriteString("### " + escaped(headline) + "\n")
	for _, part := range blocks {
		if part.empty() {
			continue
		}
		if text := githubBlock(part); b.Len()+len(text) <= githubBytes {
			b.WriteString(text)
			continue
		}
		b.WriteString("\n*The rest is left out, because a job summary must be short: " + SummaryFile + " has all of it.*\n")
		break
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func githubBlock(part block) string {
	var b strings.Builder
	b.WriteString("\n")
	if part.title != "" {
		b.WriteString("**" + escaped(part.title) + "**\n\n")
	}
	if len(part.rows) > 0 {
		githubTable(&b, part.rows)
	}
	for i, line := range part.lines {
		if part.list && i == githubRows {
			fmt.Fprintf(&b, "- *%d more are left out: %s has all of them*\n", len(part.lines)-i, SummaryFile)
			break
		}
		switch {
		case part.list:
			b.WriteString("- ")
		case i > 0 || len(part.rows) > 0:
			b.WriteString("\n")
		}
		b.WriteString(escaped(line) + "\n")
	}
	return b.String()
}

func githubTable(b *strings.Builder, rows [][]string) {
	for n, cells := range rows {
		if n > githubRows {
			fmt.Fprintf(b, "\n*%d more rows are left out: %s and %s have all of them.*\n", len(rows)-n, SummaryFile, CSVFile)
			return
		}
		for _, c := range cells {
			b.WriteString("| " + escaped(c) + " ")
		}
		b.WriteString("|\n")
		if n == 0 {
			b.WriteString(strings.Repeat("| ---: ", len(cells)) + "|\n")
		}
	}
}

// githubMarkup is what makes more than a text of a text.
var githubMarkup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "@", "&#64;",
	"[", "&#91;", `\`, "&#92;")

// escaped text has no HTML and no links, ends no cell and mentions nobody; it keeps the emphasis. It is one line that is not too
// long.
func escaped(text string) string {
	text = result.Truncate(strings.Join(strings.Fields(OneLine(text)), " "), githubLine)
	return githubMarkup.Replace(text)
}
