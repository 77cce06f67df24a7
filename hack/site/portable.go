// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
)

var (
	// item is the marker of a list's item, with the spaces behind it.
	item = regexp.MustCompile(`^([-*+]|\d{1,9}[.)])( +)`)
	// first is a marker that may begin a list in the middle of a paragraph.
	first = regexp.MustCompile(`^([-*+]|1[.)]) `)
	// number at the beginning of a line of a paragraph, which the parser of mkdocs may take for a marker.
	number = regexp.MustCompile(`^(\d+)([.)] )`)
)

// step is how far the parser of mkdocs wants each level of a list to be indented.
const step = 4

// lines of a page on the way to the parser of mkdocs.
type lines struct {
	out []string
	// contents are the columns in which the text of the open items begins, from the outermost list to the innermost.
	contents []int
	// fence is how many columns a code block is indented, while one is open; else -1.
	fence int
	// table: the line before was one of a table.
	table bool
	// parts: the last item that was begun has several parts, with empty lines between them.
	parts bool
}

// portable is Markdown that mkdocs reads as a code host reads the original. Its parser wants what belongs to an item indented by
// four columns, where two or three are enough elsewhere, and an empty line before a list, a table, a comment or a code block.
func portable(text string) string {
	l := &lines{fence: -1}
	for line := range strings.SplitSeq(text, "\n") {
		l.add(line)
	}
	return strings.Join(l.out, "\n")
}

func (l *lines) add(line string) {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	fence := strings.HasPrefix(text, "```")
	switch {
	case l.fence >= 0:
		l.put(strings.Repeat(" ", max(0, indent-l.fence)) + text)
		if fence {
			l.fence = -1
		}
	case text == "":
		l.out, l.parts = append(l.out, ""), true
	case fence:
		l.leave(indent)
		l.separate()
		l.fence = indent
		l.put(text)
	default:
		l.prose(text, indent)
	}
	l.table = l.fence < 0 && strings.HasPrefix(text, "|")
}

// prose is a line that is neither empty nor code.
func (l *lines) prose(text string, indent int) {
	marker := item.FindString(text)
	inList := len(l.contents) > 0
	switch {
	case marker != "" && (l.afterEmpty() || inList && indent < l.content() || first.MatchString(text)):
		depth := len(l.contents)
		l.leave(indent)
		if depth == 0 || l.parts {
			l.separate()
		}
		l.put(strings.TrimRight(marker, " ") + " " + text[len(marker):])
		l.contents, l.parts = append(l.contents, indent+len(marker)), false
		return
	case l.afterEmpty() || strings.HasPrefix(text, "#"):
		l.leave(indent)
	}
	if strings.HasPrefix(text, "|") && !l.table || strings.HasPrefix(text, "<!--") {
		l.separate()
	}
	l.put(strings.Repeat(" ", max(0, indent-l.content())) + number.ReplaceAllString(text, `$1\$2`))
}

// leave the items whose text begins further to the right.
func (l *lines) leave(indent int) {
	for len(l.contents) > 0 && indent < l.content() {
		l.contents = l.contents[:len(l.contents)-1]
	}
}

// content is the column in which the text of the innermost open item begins.
func (l *lines) content() int {
	if len(l.contents) == 0 {
		return 0
	}
	return l.contents[len(l.contents)-1]
}

// afterEmpty says whether the line before was empty, or there is none.
func (l *lines) afterEmpty() bool { return len(l.out) == 0 || l.out[len(l.out)-1] == "" }

// separate what follows from the paragraph before.
func (l *lines) separate() {
	if !l.afterEmpty() {
		l.out, l.parts = append(l.out, ""), true
	}
}

// put a line of the innermost open item.
func (l *lines) put(text string) {
	if text != "" {
		text = strings.Repeat(" ", step*len(l.contents)) + text
	}
	l.out = append(l.out, text)
}
