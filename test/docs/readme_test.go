// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// The README begins with a comparison: that of the sample which it names, whatever its layout, in about 20 lines.
func TestReadmeComparison(t *testing.T) {
	const most, widest = 24, 100
	block := between(t, read(t, "README.md"), "```yaml\n", "```\n")
	if lines := strings.Count(block, "\n"); lines > most {
		t.Errorf("the comparison has %d lines", lines)
	}
	for line := range strings.SplitSeq(block, "\n") {
		if len(line) > widest {
			t.Errorf("a code host cuts this line off: %s", line)
		}
	}
	var shown, sample any
	for text, into := range map[string]*any{block: &shown, read(t, "config/samples/comparison-durable-or-not.yaml"): &sample} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(sample, shown); diff != "" {
		t.Errorf("README.md is not the sample (-sample +README):\n%s", diff)
	}
}

// The README's answer is that of the recorded demo, and its words say the same figures.
func TestReadmeAnswer(t *testing.T) {
	answer := strings.Trim(between(t, read(t, "README.md"), "<!-- answer -->\n", "<!-- /answer -->"), "`\n")
	demo := between(t, read(t, "docs/quick-start.md"), "<!-- demo -->\n", "<!-- /demo -->")
	if answer == "" || !strings.Contains(demo, "\n"+answer+"\n") {
		t.Errorf("docs/quick-start.md, which make readme records, does not have\n%s", answer)
	}
	interval := regexp.MustCompile(`\(([0-9.]+–[0-9.]+×)\)`).FindStringSubmatch(answer)
	rounds := regexp.MustCompile(`Decided +([0-9]+)/`).FindStringSubmatch(answer)
	if interval == nil || rounds == nil {
		t.Fatalf("no interval and rounds in\n%s", answer)
	}
	spelled := map[string]string{"6": "six", "7": "seven", "8": "eight", "9": "nine", "10": "ten", "11": "eleven", "12": "twelve"}
	text := strings.Join(strings.Fields(read(t, "README.md")), " ")
	for _, want := range []string{"`" + interval[1] + "` is the **interval**", "until the answer is known, here " + spelled[rounds[1]] + "."} {
		if !strings.Contains(text, want) {
			t.Errorf("README.md does not say: %s", want)
		}
	}
}

// What the README says of the project in its first lines is so.
func TestReadmeFacts(t *testing.T) {
	facts := between(t, read(t, "README.md"), "[Install]", "```")
	for fact, c := range map[string]struct{ file, has string }{
		"Apache-2.0":               {"LICENSE", "Apache License\n                           Version 2.0"},
		"Kubernetes 1.31 or later": {"charts/benchrun/Chart.yaml", `kubeVersion: ">=1.31.`},
		"no release yet":           {"CHANGELOG.md", "There is no release yet."},
	} {
		if !strings.Contains(facts, fact) {
			t.Errorf("the first lines do not say %q", fact)
		}
		if !strings.Contains(read(t, c.file), c.has) {
			t.Errorf("%s does not say so: %s", c.file, fact)
		}
	}
}

// between two marks, of which the first must be there.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, from)
	part, _, also := strings.Cut(rest, to)
	if !found || !also {
		t.Fatalf("there is nothing between %q and %q", from, to)
	}
	return part
}
