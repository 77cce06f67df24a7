// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

const findingsHead = "# Findings\n\n" +
	"A finding is a remark that travels with a number and must be read with it. A *Notice* says what exactly was measured; a\n" +
	"*Warning* says that something else may be in the number. Words in capital letters stand for what was measured or named;\n" +
	"words in brackets are not always there. `kubectl benchrun explain --finding CODE` prints the same. This page is generated\n" +
	"by `make docs-reference`.\n\n"

// findings has a section for each code.
func findings() []byte {
	var text bytes.Buffer
	text.WriteString(findingsHead)
	for i, code := range finding.Codes() {
		e, _ := finding.Lookup(code)
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "## %s\n\n%s:\n\n```\n%s\n```\n\n%s\n", code, e.Severity, wrapped(e.Pattern()), wrapped(e.Means))
		if e.Do != "" {
			fmt.Fprintf(&text, "\n%s\n", wrapped("What to do: "+e.Do))
		}
	}
	return text.Bytes()
}

// pageWidth is how long a line of a page is.
const pageWidth = 125

// wrapped breaks a text into lines.
func wrapped(text string) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > pageWidth {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
