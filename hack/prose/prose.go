// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prose finds what of a page of the documentation is text.
package prose

import "strings"

// Of a page is its Markdown with empty code blocks; lines keep their numbers.
func Of(text string) string {
	lines := strings.Split(text, "\n")
	inCode := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			inCode = !inCode
		}
		if fence || inCode {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
