// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"regexp"
	"strings"
	"sync"

	"github.com/benchrun-dev/benchrun/docs"
)

// advice explains a reason, a cause or a finding: what it means, and what to do, which is empty if there is nothing to be done.
type advice struct{ means, do string }

// lines are both, for a person; none of what is not explained.
func (a advice) lines() []string {
	if a.means == "" {
		return nil
	}
	means := a.means
	if first, _, _ := strings.Cut(means, " "); !strings.Contains(first, ".") { // no field's path
		means = strings.ToUpper(means[:1]) + means[1:]
	}
	return append([]string{means}, a.remedy()...)
}

// remedy is a line that says what to do, or none.
func (a advice) remedy() []string {
	if a.do == "" {
		return nil
	}
	return []string{"What to do: " + a.do}
}

// reasons, causes and findings are what their pages say of them.
var (
	reasons  = sync.OnceValue(func() map[string]advice { return advised(docs.Reasons, "## Reasons\n", "\n## ") })
	causes   = sync.OnceValue(func() map[string]advice { return advised(docs.Reasons, "## Causes of LoaderFailed\n", "\n# ") })
	findings = sync.OnceValue(func() map[string]advice { return advised(docs.Findings, "## Warnings\n", "\n# ") })
)

var (
	quotedName = regexp.MustCompile("`(\\w+)`")
	pageLink   = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// advised reads the tables between two places of a page: names in backquotes come first, and last what they mean, and what to do.
func advised(page, from, to string) map[string]advice {
	_, text, _ := strings.Cut(page, from)
	text, _, _ = strings.Cut(text, to)
	all := map[string]advice{}
	for row := range strings.Lines(text) {
		cells := strings.Split(row, "|") // before the first and after the last is nothing
		if len(cells) < 5 {
			continue
		}
		last := len(cells) - 2
		for _, name := range quotedName.FindAllStringSubmatch(cells[1], -1) {
			all[name[1]] = advice{sentence(cells[last-1]), sentence(cells[last])}
		}
	}
	return all
}

// sentence is a cell of a page's table as it reads in a terminal.
func sentence(cell string) string {
	text := strings.ReplaceAll(pageLink.ReplaceAllString(strings.TrimSpace(cell), "$1"), "`", "")
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
