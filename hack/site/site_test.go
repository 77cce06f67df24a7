// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestPortable(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a list after a paragraph": {"Text:\n- one\n  goes on\n- two\n", "Text:\n\n- one\n    goes on\n- two\n"},
		"a lazy line":              {"- one\ngoes on\n", "- one\n    goes on\n"},
		"numbers":                  {"1. one\n   goes on\n\n   | a |\n   |---|\n2. two\n", "1. one\n    goes on\n\n    | a |\n    |---|\n\n2. two\n"},
		"lists in lists":           {"- one\n  - inner\n    goes on\n- two\n", "- one\n    - inner\n        goes on\n- two\n"},
		"code in a list":           {"1. Do:\n   ```\n   a\n     b\n   ```\n   then\n\nText\n", "1. Do:\n\n    ```\n    a\n      b\n    ```\n    then\n\nText\n"},
		"code that looks like one": {"```\n- a\n  b\n# c\n```\n", "```\n- a\n  b\n# c\n```\n"},
		"the end of a list":        {"- one\n\nText\n  more\n", "- one\n\nText\n  more\n"},
		"a paragraph of an item":   {"- one\n\n  Text\n- two\n", "- one\n\n    Text\n\n- two\n"},
		"a table":                  {"Text\n| a |\n|---|\n| b |\n<!-- end -->\n", "Text\n\n| a |\n|---|\n| b |\n\n<!-- end -->\n"},
		"a heading after a list":   {"- one\n## Next\nText\n", "- one\n## Next\nText\n"},
		"a year at a line's start": {"It was in\n2026. And then\n", "It was in\n2026\\. And then\n"},
		"a year in a list":         {"1. It was in\n   2026. And then\n2. it was\n", "1. It was in\n    2026\\. And then\n2. it was\n"},
		"emphasis":                 {"**a** b\n*c* d\n-5% e\n", "**a** b\n*c* d\n-5% e\n"},
	} {
		must.Same(t, name, c.want, portable(c.in))
	}
}

// inDocs is a text in which DOCS is the folder of the documentation: TestMentions looks for pages of that name.
func inDocs(text string) string { return strings.ReplaceAll(text, "DOCS/", "docs/") }

// folder with some pages.
func folder(t *testing.T, files map[string]string) (root string, pages []string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		name = inDocs(name)
		file := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Write(t, file, text)
		if strings.HasSuffix(name, ".md") {
			pages = append(pages, name)
		}
	}
	return root, pages
}

var some = map[string]string{
	"README.md":                "[samples](samples), [docs](docs/README.md), `[no](link)`, [elsewhere](https://example.com/x)\n\n[p]: docs/p.png\n",
	"samples/a.yaml":           "a: 1\n",
	"samples/b.yaml":           "b: 1\n",
	"docs/README.md":           "# All\n\n**First**\n\n- [One](one.md): text, [two](two/README.md)\n- [Two](two/README.md)\n\n**Second**\n\n- [Three](three.md)\n",
	"DOCS/one.md":              "# One\n\n[a](../samples/a.yaml#x)\n",
	"DOCS/two/README.md":       "# Two\n",
	"DOCS/two/below.md":        "# Below\n",
	"DOCS/three.md":            "# Three\n",
	"DOCS/three/x/README.md":   "# X\n",
	"docs/p.png":               "picture",
	"hack/site/site.css":       "p {}\n",
	"not/linked.yaml":          "c: 1\n",
	"DOCS/two/not-a-page.json": "{}\n",
}

func TestSite(t *testing.T) {
	root, pages := folder(t, some)
	s := must.Get(readSite(root, pages))(t)
	want := []string{"docs/p.png", "samples/a.yaml", "samples/b.yaml"}
	must.Same(t, "files", want, slices.Sorted(maps.Keys(s.files)))
	out := t.TempDir()
	must.Do(t, s.write(out))
	for name, want := range map[string]string{
		"README.md":         wide + "[samples](samples/README.md), [docs](docs/README.md), `[no](link)`, [elsewhere](https://example.com/x)\n\n[p]: docs/p.png\n",
		"samples/README.md": "# samples\n\nThe files of this folder:\n\n- [a.yaml](a.yaml)\n- [b.yaml](b.yaml)\n",
		"samples/b.yaml":    "b: 1\n",
		"site.css":          "p {}\n",
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if diff := cmp.Diff(want, string(text)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestNavigation(t *testing.T) {
	root, pages := folder(t, some)
	s := must.Get(readSite(root, pages))(t)
	got := must.Get(s.navigation())(t)
	const want = `nav:
- Overview: README.md
- First:
  - One: DOCS/one.md
  - Two:
    - DOCS/two/README.md
    - DOCS/two/below.md
- Second:
  - Three:
    - DOCS/three.md
    - DOCS/three/x/README.md
`
	must.Same(t, "navigation", inDocs(want), string(got))
}

// What is wrong is named.
func TestMistakes(t *testing.T) {
	for _, c := range map[string]struct{ file, text, want string }{
		"a broken link":   {"DOCS/one.md", "[a](../samples/c.yaml)", "DOCS/one.md: the link to ../samples/c.yaml leads nowhere"},
		"no sections":     {"docs/README.md", "- [One](one.md)\n", "in no section"},
		"an empty page":   {"docs/README.md", "", "has no sections"},
		"an unknown page": {"docs/README.md", "**First**\n\n- [One](none.md)\n", "none.md"},
	} {
		files := maps.Clone(some)
		files[c.file] = c.text
		root, pages := folder(t, files)
		s, err := readSite(root, pages)
		if err == nil {
			_, err = s.navigation()
		}
		must.Fail(t, err, inDocs(c.want))
	}
}

// The pages of the repository can be laid out, and each page in docs is reached by the navigation.
func TestRepository(t *testing.T) {
	const root = "../.."
	names := must.Get(markdown(t.Context(), root))(t)
	s := must.Get(readSite(root, names))(t)
	text := must.Get(s.navigation())(t)
	var nav struct {
		Nav []any `json:"nav"`
	}
	must.Do(t, yaml.Unmarshal(text, &nav))
	for name := range s.pages {
		ofReport := strings.HasPrefix(name, "docs/publications/") && strings.Count(name, "/") > 3
		if strings.HasPrefix(name, "docs/") && name != contents && !ofReport && !strings.Contains(string(text), name+"\n") {
			t.Errorf("%s does not list %s", contents, name)
		}
	}
	if len(nav.Nav) < 6 || len(s.pages) < 70 {
		t.Errorf("%d sections, %d pages", len(nav.Nav), len(s.pages))
	}
}
