// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// home is the site's first page, and contents lists all others by their sections.
	home     = "README.md"
	contents = "docs/README.md"
)

var (
	section = regexp.MustCompile(`^\*\*(.+)\*\*$`)
	entry   = regexp.MustCompile(`^- \[([^\]]+)\]\(([^)#\s]+\.md)\)`)
)

// navigation is the part of mkdocs.yml that lists the pages: the sections of the page of contents, and what stands at the
// beginning of each of their items. A page that is that of a folder has the folder's pages below it.
func (s *site) navigation() ([]byte, error) {
	nav := []any{map[string]any{"Overview": home}}
	title, list := "", []any(nil)
	end := func() {
		if len(list) > 0 {
			nav = append(nav, map[string]any{title: list})
		}
		list = nil
	}
	for line := range strings.SplitSeq(s.pages[contents], "\n") {
		if match := section.FindStringSubmatch(line); match != nil {
			end()
			title = match[1]
		}
		if match := entry.FindStringSubmatch(line); match != nil {
			page, _ := resolve(contents, match[2])
			if _, known := s.pages[page]; !known || title == "" {
				return nil, fmt.Errorf("%s: %s is no page, or in no section", contents, match[2])
			}
			list = append(list, map[string]any{match[1]: s.below(page)})
		}
	}
	end()
	if len(nav) == 1 {
		return nil, fmt.Errorf("%s has no sections: lines like **Reference**, with lists of links", contents)
	}
	return yaml.Marshal(map[string]any{"nav": nav})
}

// below is a page, or a list of it and of the pages of its folder.
func (s *site) below(page string) any {
	list := []string{page}
	for _, other := range slices.Sorted(maps.Keys(s.pages)) {
		ofFolder := path.Base(page) == index && path.Dir(other) == path.Dir(page) && other != page
		ofSubfolder := path.Dir(path.Dir(other)) == strings.TrimSuffix(page, ".md") && path.Base(other) == index
		if ofFolder || ofSubfolder {
			list = append(list, other)
		}
	}
	if len(list) == 1 {
		return page
	}
	return list
}
