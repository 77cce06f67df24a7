// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"
)

// Ceilings of words, as `wc -w` counts them: code and tables included. A page that needs more takes it from another.
const (
	// maxRead are those of all that is read, and maxLookedUp those of all that is looked up.
	maxRead     = 25_000
	maxLookedUp = 21_000
	// maxPath are those between a reader's first line and the first thing that the reader can do.
	maxPath = 900
)

// collections of pages, by git's patterns. What a command writes is in none.
var collections = []struct {
	name     string
	most     int
	patterns []string
}{
	{"what is read", maxRead, []string{
		"README.md", ":(glob)docs/*.md", "docs/how-to/*.md", "docs/tutorials/*.md", "docs/decisions/*.md", "hack/README.md",
		"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ":(exclude)docs/publications.md", ":(exclude)docs/first-hour.md",
		":(exclude)docs/reliability.md", ":(exclude)docs/test-results.md",
	}},
	{"docs/reference", maxLookedUp, []string{"docs/reference/*.md"}},
}

func TestWords(t *testing.T) {
	for _, c := range collections {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			for _, file := range tracked(t, c.patterns...) {
				n += len(strings.Fields(read(t, file)))
			}
			t.Logf("%d words", n)
			if n > c.most {
				t.Errorf("%d words, at most %d: shorten a page", n, c.most)
			}
		})
	}
}

// paths of readers: each reads the first part of the README, and then one page.
var paths = map[string]string{
	"DBA":               "docs/tutorials/compare-two-settings.md",
	"author of queries": "docs/tutorials/is-my-query-faster.md",
	"CI engineer":       "docs/tutorials/gate-in-ci.md",
	"platform engineer": "docs/operations.md",
}

// quickStart is the README's section of that name, and endOfSection the heading of the next.
var (
	quickStart   = regexp.MustCompile(`(?m)^## (?:Quick start|Try it)$`)
	endOfSection = regexp.MustCompile(`(?m)^## `)
)

// A reader reaches a first result by few words, and finds the page in the README or in the list of pages.
func TestPathsOfReaders(t *testing.T) {
	start := firstPart(t, read(t, "README.md"))
	for reader, page := range paths {
		t.Run(reader, func(t *testing.T) {
			n := len(strings.Fields(start)) + len(strings.Fields(read(t, page)))
			t.Logf("%d words", n)
			if n > maxPath {
				t.Errorf("README.md and %s have %d words, at most %d", page, n, maxPath)
			}
			if !strings.Contains(read(t, "README.md"), "]("+page) &&
				!strings.Contains(read(t, "docs/README.md"), "]("+strings.TrimPrefix(page, "docs/")) {
				t.Errorf("neither README.md nor docs/README.md links to %s", page)
			}
		})
	}
}

// firstPart of the README ends where its quick start ends.
func firstPart(t *testing.T, text string) string {
	t.Helper()
	section := quickStart.FindStringIndex(text)
	if section == nil {
		t.Fatal("README.md has no quick start")
	}
	if end := endOfSection.FindStringIndex(text[section[1]:]); end != nil {
		return text[:section[1]+end[0]]
	}
	return text
}
