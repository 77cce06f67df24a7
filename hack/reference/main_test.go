// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// TestPage: the page in the repository is that of the commands, and names no folder of a machine.
func TestPage(t *testing.T) {
	t.Setenv("HOME", "$HOME")
	want, err := os.ReadFile("../../docs/reference/kubectl.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(page()); got != string(want) {
		t.Error("docs/reference/kubectl.md is not up to date: run `make docs-reference`")
	}
	if strings.Contains(string(want), "$HOME") {
		t.Error("the page names a folder of whoever made it")
	}
}

// TestFindings: the page in the repository is that of the table, and has every code. Troubleshooting links to it.
func TestFindings(t *testing.T) {
	want, err := os.ReadFile("../../docs/reference/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(findings()); got != string(want) {
		t.Error("docs/reference/findings.md is not up to date: run `make docs-reference`")
	}
	troubleshooting, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(troubleshooting), "](reference/findings.md)") {
		t.Error("docs/troubleshooting.md does not link to the page of findings")
	}
	for _, code := range finding.Codes() {
		if !strings.Contains(string(want), "\n## "+string(code)+"\n") {
			t.Errorf("docs/reference/findings.md has no section %s", code)
		}
	}
}

// TestMessages: the page in the repository is that of the source, and has texts of each package, as they are put together there.
func TestMessages(t *testing.T) {
	want, err := os.ReadFile("../../docs/reference/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	got, err := messages("../..")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/reference/messages.md is not up to date: run `make docs-reference`")
	}
	for _, section := range strings.Split(string(got), "\n## ")[1:] {
		if title, list, _ := strings.Cut(section, "\n"); strings.Count(list, "\n```\n") < 2 {
			t.Errorf("%s has no message", title)
		}
	}
}

// TestTemplates: which literals are messages, and how they are written.
func TestTemplates(t *testing.T) {
	for name, tc := range map[string]struct {
		expression string
		want       []string
	}{
		"a sentence":         {`fail("no loader ran")`, []string{"no loader ran"}},
		"a format":           {`fmt.Errorf("reading run %[2]s: %.2f%% of %w", a, b)`, []string{"reading run ‹…›: ‹…›% of ‹…›"}},
		"a sum":              {`"node " + n.Name + " is " + "tuned"`, []string{"node ‹…› is tuned"}},
		"a text in a sum":    {`"the run " + fmt.Sprintf("has %d lost trials", n)`, []string{"has ‹…› lost trials", "the run ‹…›"}},
		"a value of a field": {`Failure{Message: "no loader ran"}`, []string{"no loader ran"}},
		"each once, sorted":  {`f("two words", "one word", "two words")`, []string{"one word", "two words"}},
		"a name":             {`f("Name", "a.b/c", "%s: %d")`, nil},
		"what is logged":     {`log.Info("no loader ran")`, nil},
		"a command's help":   {`Command{Short: "Print a report"}`, nil},
		"SQL":                {`f("SELECT a FROM some table")`, nil},
		"XML":                {"f(`<circle cx=\"%d\" cy=\"%d\"/>`)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nvar _ = "+tc.expression, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, templates(file)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
