// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/hack/prose"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// mostWords are those of a page that is read from top to bottom, without its tables and code.
const mostWords = 2500

// isReference says of a page that it is looked up, or printed by a program.
func isReference(file string) bool {
	return strings.HasPrefix(file, "docs/reference/") || strings.Contains(file, "testdata/") ||
		strings.HasPrefix(file, "docs/publications/") && filepath.Base(file) == "summary.md"
}

// A page that is too long is not read to its end.
func TestLength(t *testing.T) {
	pages := 0
	for _, file := range tracked(t, "*.md") {
		if isReference(file) {
			continue
		}
		pages++
		if n := words(read(t, file)); n > mostWords {
			t.Errorf("%s has %d words, more than %d: split it", file, n, mostWords)
		}
	}
	if pages < 50 {
		t.Errorf("%d pages", pages)
	}
	const text = "# Two words\n\nOne [more](x.md).\n\n| a | table |\n|---|---|\n\n```\nsome code\n```\n"
	must.Same(t, "words", 4, words(text))
}

// words of a page, without its tables and code.
func words(text string) int {
	n := 0
	for line := range strings.SplitSeq(prose.Of(text), "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "|") {
			n += len(strings.Fields(strings.TrimLeft(line, "#")))
		}
	}
	return n
}

// A decision says what the situation was, what was decided and what follows, in a few lines. The page of decisions lists them all,
// in the order of their numbers.
func TestDecisions(t *testing.T) {
	const fewest, most = 10, 150
	index := read(t, "docs/decisions/README.md")
	files := tracked(t, "docs/decisions/0*.md")
	if len(files) < fewest {
		t.Errorf("%d decisions", len(files))
	}
	for i, file := range files {
		text := read(t, file)
		title := regexp.MustCompile(`^# (\d+)\. (.+)\n`).FindStringSubmatch(text)
		if title == nil {
			t.Errorf("%s does not begin with its number and title", file)
			continue
		}
		if row := "| " + title[1] + " | [" + title[2] + "](" + filepath.Base(file) + ") |"; !strings.Contains(index, row) {
			t.Errorf("docs/decisions/README.md has no row %s", row)
		}
		if number := strings.TrimLeft(filepath.Base(file)[:4], "0"); number != title[1] {
			t.Errorf("%s is number %s, at place %d", file, title[1], i+1)
		}
		at := 0
		for _, part := range []string{"\n## Context\n", "\n## Decision\n", "\n## Consequences\n"} {
			found := strings.Index(text[at:], part)
			if found < 0 {
				t.Errorf("%s has no %q, or not in this order", file, strings.TrimSpace(part))
				break
			}
			at += found
		}
		if n := len(strings.Fields(text)); n > most {
			t.Errorf("%s has %d words, at most %d", file, n, most)
		}
	}
}

// The page of concepts explains each term once, in alphabetical order.
func TestTerms(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/concepts.md"), "\n## Terms\n")
	terms := regexp.MustCompile(`(?m)^\| ([^|]+?) \| .+ \|$`).FindAllStringSubmatch(table, -1)[1:]
	if len(terms) < 20 {
		t.Errorf("%d terms", len(terms))
	}
	for i := 1; i < len(terms); i++ {
		if a, b := strings.ToLower(terms[i-1][1]), strings.ToLower(terms[i][1]); a >= b {
			t.Errorf("%q stands before %q", a, b)
		}
	}
}

// The citation file has what version 1.2 of its format requires, and what the licence and the repository are.
func TestCitation(t *testing.T) {
	var citation struct {
		Version string `json:"cff-version"`
		Message string `json:"message"`
		Title   string `json:"title"`
		Authors []struct {
			Name string `json:"name"`
		} `json:"authors"`
		License    string `json:"license"`
		Repository string `json:"repository-code"`
	}
	must.Do(t, yaml.Unmarshal([]byte(read(t, "CITATION.cff")), &citation))
	if citation.Version != "1.2.0" || citation.Message == "" || citation.Title != "Benchrun" || len(citation.Authors) != 1 ||
		citation.Authors[0].Name != "The Benchrun Authors" || citation.License != "Apache-2.0" {
		t.Errorf("%+v", citation)
	}
	if module, _, _ := strings.Cut(read(t, "go.mod"), "\n"); module != "module "+strings.TrimPrefix(citation.Repository, "https://") {
		t.Errorf("%s is not at %s", module, citation.Repository)
	}
}

// What Artifact Hub shows of the chart is the kind's own definition and the sample.
func TestArtifactHub(t *testing.T) {
	parsed := func(text string) (value any) {
		must.Do(t, yaml.Unmarshal([]byte(text), &value))
		return value
	}
	annotations := parsed(read(t, "charts/benchrun/Chart.yaml")).(map[string]any)["annotations"].(map[string]any)
	shown := func(name string) []any { return parsed(annotations["artifacthub.io/"+name].(string)).([]any) }
	must.Same(t, "crdsExamples", []any{parsed(read(t, "config/samples/commit-size.yaml"))}, shown("crdsExamples"))
	crd := parsed(read(t, "config/crd/bases/benchrun.dev_benchmarkruns.yaml")).(map[string]any)
	spec, shownKind := crd["spec"].(map[string]any), shown("crds")[0].(map[string]any)
	must.Same(t, "name", crd["metadata"].(map[string]any)["name"], shownKind["name"])
	must.Same(t, "kind", spec["names"].(map[string]any)["kind"], shownKind["kind"])
	must.Same(t, "version", spec["versions"].([]any)[0].(map[string]any)["name"], shownKind["version"])
}

// A second push to a pull request is a run of its own, and so is a job that is started again: the workflow of the tutorial must
// give each of them another name, because a run with a name that exists is not measured again.
func TestGateMeasuresEachPush(t *testing.T) {
	page := read(t, "docs/tutorials/gate-in-ci.md")
	found := regexp.MustCompile(`(?m)^ *NAME: (.+)$`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the workflow has no NAME")
	}
	names := map[string]bool{}
	for _, run := range []struct{ event, id, attempt string }{
		{"7", "1234567890123", "1"}, {"7", "1234567890124", "1"}, {"7", "1234567890124", "2"}, {"8", "1234567890125", "1"},
	} {
		name := strings.NewReplacer("${{ github.event.number }}", run.event, "${{ github.run_id }}", run.id,
			"${{ github.run_attempt }}", run.attempt).Replace(found[1])
		if !regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`).MatchString(name) || len(name) > 40 {
			t.Errorf("%q is no name of a run", name)
		}
		names[name] = true
	}
	must.Same(t, fmt.Sprintf("four jobs have the names %v", names), 4, len(names))
}
