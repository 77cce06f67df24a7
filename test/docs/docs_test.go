// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs checks the documentation: its links, and that it covers what it lists.
package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/hack/prose"
)

const root = "../.."

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`^#+ (.+)$`)
	// mentioned is a page that comments of samples, of the chart and of the code refer to.
	mentioned = regexp.MustCompile(`\bdocs/[A-Za-z0-9_/-]+\.md\b`)
)

// TestLinks follows every relative link of every Markdown file, to its heading.
func TestLinks(t *testing.T) {
	links := 0
	for _, file := range tracked(t, "*.md") {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(prose.Of(read(t, file)), ""), -1) {
			target, fragment, _ := strings.Cut(match[1], "#")
			if strings.Contains(match[1], "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %s: no such file", file, match[1])
			} else if fragment != "" && !anchors(read(t, path))[fragment] {
				t.Errorf("%s: %s: no such heading", file, match[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
}

// TestMentions looks for the pages that other files refer to by their path.
func TestMentions(t *testing.T) {
	for _, file := range tracked(t, "*.go", "*.yaml", "*.yml", "*.sh", "*.txt", "Makefile", "*.md") {
		for _, page := range mentioned.FindAllString(read(t, file), -1) {
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				t.Errorf("%s refers to %s: no such file", file, page)
			}
		}
	}
}

// TestWidth: lines have at most 130 columns, except in tables, in generated files and in what a program has printed.
func TestWidth(t *testing.T) {
	for _, file := range tracked(t, "*.md") {
		if strings.Contains(file, "testdata/") || file == "docs/reference/api.md" || strings.HasPrefix(file, "docs/publications") {
			continue
		}
		for n, line := range strings.Split(prose.Of(read(t, file)), "\n") {
			if columns := utf8.RuneCountInString(line); columns > 130 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d columns", file, n+1, columns)
			}
		}
	}
}

// TestTroubleshooting: every reason for which a run ends is explained. (Package lifecycle has the causes of attempts.)
func TestTroubleshooting(t *testing.T) {
	page := read(t, "docs/troubleshooting.md")
	_, failed, _ := strings.Cut(read(t, "api/v1alpha1/condition_types.go"), "Reasons for which a run ends Failed.")
	reasons := regexp.MustCompile(`Reason\w+ = "(\w+)"`).FindAllStringSubmatch(failed, -1)
	if len(reasons) < 13 {
		t.Errorf("%d reasons were found in the code", len(reasons))
	}
	for _, reason := range reasons {
		if !strings.Contains(page, "| `"+reason[1]+"` |") {
			t.Errorf("docs/troubleshooting.md has no row for %s", reason[1])
		}
	}
}

// TestWorkloads: every workload has a page, and the index lists it.
func TestWorkloads(t *testing.T) {
	names := regexp.MustCompile(`self\.type == '(\w+)'\) == has`).FindAllStringSubmatch(read(t, "api/v1alpha1/workload_types.go"), -1)
	index := read(t, "docs/reference/workloads/README.md")
	for _, name := range names {
		page := strings.ToLower(name[1]) + ".md"
		if !strings.HasPrefix(read(t, "docs/reference/workloads/"+page), "# "+name[1]+"\n") {
			t.Errorf("%s does not begin with # %s", page, name[1])
		}
		if !strings.Contains(index, "[`"+name[1]+"`]("+page+")") {
			t.Errorf("the index of the workloads does not list %s", name[1])
		}
	}
	if len(names) < 6 {
		t.Errorf("%d workloads were found in the API", len(names))
	}
}

// tracked are the files in the repository, also those that are not committed yet.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, patterns...)...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for file := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(file, "test/frozen/recorded/") {
			continue // they stay as they were
		}
		if _, err := os.Stat(filepath.Join(root, file)); err == nil {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Fatalf("git lists no file like %v", patterns)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors are the fragments by which GitHub links to the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.SplitSeq(prose.Of(text), "\n") {
		match := heading.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		found[strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
				return unicode.ToLower(c)
			}
			return -1
		}, match[1])] = true
	}
	return found
}
