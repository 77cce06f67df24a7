// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

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

// writeCSV writes rows that a spreadsheet takes no formula from: a text that would be one has an apostrophe before it. Numbers
// stay as they are.
func writeCSV(w io.Writer, rows [][]string) error {
	cw := csv.NewWriter(w)
	for _, cells := range rows {
		safe := make([]string, len(cells))
		for i, c := range cells {
			safe[i] = c
			if _, err := strconv.ParseFloat(c, 64); err != nil && c != "" && strings.ContainsAny(c[:1], "=+-@\t\r") {
				safe[i] = "'" + c
			}
		}
		if err := cw.Write(safe); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
