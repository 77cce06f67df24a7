// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// site OUT lays the Markdown of the repository in the current folder out for mkdocs: pages and what they link to in OUT/pages,
// the configuration in OUT/mkdocs.yml. site.sh calls it, and then mkdocs.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/hack/prose"
)

// configuration is what mkdocs reads, without the navigation.
const configuration = "hack/site/mkdocs.yml"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site OUT")
		os.Exit(2)
	}
	if err := run(context.Background(), ".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, out string) error {
	names, err := markdown(ctx, root)
	if err != nil {
		return err
	}
	s, err := readSite(root, names)
	if err != nil {
		return err
	}
	if err := s.write(filepath.Join(out, "pages")); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, configuration))
	if err != nil {
		return err
	}
	nav, err := s.navigation()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "mkdocs.yml"), append(text, nav...), 0o644)
}

// markdown lists the pages of the repository, also those that are not committed yet. Those of tests are none.
func markdown(ctx context.Context, root string) ([]string, error) {
	command := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "*.md")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing pages: %w", err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil && !strings.Contains(name, "testdata/") {
			names = append(names, name)
		}
	}
	return names, nil
}

// index is the page of a folder.
const index = "README.md"

// site is what mkdocs is given, by the paths that files have in the repository.
type site struct {
	root string
	// pages are Markdown as it stands in the repository, or was made for a folder that has no page.
	pages map[string]string
	// files are linked to and are no Markdown.
	files map[string]bool
}

var (
	// inline are links and pictures, and reference the lines that name the target of one.
	inline    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	reference = regexp.MustCompile(`(?m)^\[[^\]\n]+\]:\s+(\S+)\s*$`)
	span      = regexp.MustCompile("`[^`\n]*`")
)

// readSite reads the pages of these names, and finds what they link to.
func readSite(root string, names []string) (*site, error) {
	s := &site{root: root, pages: map[string]string{}, files: map[string]bool{}}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		s.pages[name] = string(text)
	}
	for _, name := range names {
		if err := s.follow(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s, nil
}

// follow the links of a page to what is no page: files are copied, and a folder gets a page that lists its files.
func (s *site) follow(name string) error {
	for _, to := range targets(s.pages[name]) {
		at, local := resolve(name, to)
		if _, known := s.pages[at]; !local || known {
			continue
		}
		info, err := os.Stat(filepath.Join(s.root, at))
		if err != nil {
			return fmt.Errorf("the link to %s leads nowhere", to)
		}
		if !info.IsDir() {
			s.files[at] = true
			continue
		}
		if _, known := s.pages[path.Join(at, index)]; !known {
			if err := s.list(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// list makes the page of a folder, and takes its files.
func (s *site) list(folder string) error {
	entries, err := os.ReadDir(filepath.Join(s.root, folder))
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThe files of this folder:\n\n", folder)
	for _, entry := range entries {
		if !entry.IsDir() {
			s.files[path.Join(folder, entry.Name())] = true
			fmt.Fprintf(&b, "- [%[1]s](%[1]s)\n", entry.Name())
		}
	}
	s.pages[path.Join(folder, index)] = b.String()
	return nil
}

// targets of the links of a page, without those in code.
func targets(text string) []string {
	text = span.ReplaceAllString(prose.Of(text), "")
	var list []string
	for _, match := range slices.Concat(inline.FindAllStringSubmatch(text, -1), reference.FindAllStringSubmatch(text, -1)) {
		list = append(list, match[1])
	}
	return list
}

// resolve says which file of the repository a link of a page leads to, if it leads to one.
func resolve(page, to string) (file string, local bool) {
	to, _, _ = strings.Cut(to, "#")
	if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return "", false
	}
	return path.Join(path.Dir(page), to), true
}

// wide is what a page begins with that has the room of the table of contents too.
const wide = "---\nhide: [toc]\n---\n"

func (s *site) write(folder string) error {
	for name, text := range s.pages {
		text = portable(s.linked(name, text))
		if name == home {
			text = wide + text
		}
		if err := s.save(folder, name, []byte(text)); err != nil {
			return err
		}
	}
	for name := range s.files {
		text, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			return err
		}
		if err := s.save(folder, name, text); err != nil {
			return err
		}
	}
	const style = "site.css"
	text, err := os.ReadFile(filepath.Join(s.root, "hack", "site", style))
	if err != nil {
		return err
	}
	return s.save(folder, style, text)
}

func (s *site) save(folder, name string, text []byte) error {
	file := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// linked is a page whose links to folders lead to their pages: a code host shows a folder, a web server a file.
func (s *site) linked(name, text string) string {
	return inline.ReplaceAllStringFunc(text, func(link string) string {
		to := inline.FindStringSubmatch(link)[1]
		at, local := resolve(name, to)
		if _, is := s.pages[path.Join(at, index)]; !local || !is || at == "." || strings.HasSuffix(to, ".md") {
			return link
		}
		return "](" + strings.TrimSuffix(to, "/") + "/" + index + ")"
	})
}

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
