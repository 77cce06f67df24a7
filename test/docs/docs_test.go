// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs checks the documentation: its links, and that it covers what it lists.
package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/hack/prose"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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

// TestWorkloads: every workload has a page, and the index lists it.
func TestWorkloads(t *testing.T) {
	names := regexp.MustCompile(`self\.type == '(\w+)'\) == has`).FindAllStringSubmatch(read(t, "api/v1alpha1/workload_types.go"), -1)
	index := read(t, "docs/reference/workloads/README.md")
	for _, name := range names {
		page := strings.ToLower(name[1]) + ".md"
		if !strings.HasPrefix(read(t, "docs/reference/workloads/"+page), "# "+name[1]+"\n") {
			t.Errorf("%s does not begin with # %s", page, name[1])
		}
		must.Has(t, index, "[`"+name[1]+"`]("+page+")")
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
	out := must.Get(command.Output())(t)
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
	text := must.Get(os.ReadFile(filepath.Join(root, file)))(t)
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

// What a specification may have: a rule that looks at several fields is one that its author must know.
const (
	maxRules   = 16
	maxRule    = 400
	maxCRDSize = 240_000 // compact JSON, of which client-side apply takes 262,144 bytes with all that it adds
)

// The rules that stand on the specification of a run, and its CRD, grow with each parameter unless they are counted. The
// architecture page has the figures: a change that makes one larger is a change of that page, to be seen in its review.
func TestRulesOfTheSpecification(t *testing.T) {
	crd, size := customResource(t, "benchmarkruns")
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	transitions, longest := 0, 0
	for _, rule := range spec.XValidations {
		longest = max(longest, len(rule.Rule))
		if strings.Contains(rule.Rule, "oldSelf") {
			transitions++
		}
	}
	if len(spec.XValidations) > maxRules || longest > maxRule || size > maxCRDSize {
		t.Errorf("%d rules, one of %d characters, in a CRD of %d bytes: at most %d, %d and %d", len(spec.XValidations), longest,
			size, maxRules, maxRule, maxCRDSize)
	}
	want := fmt.Sprintf("The specification itself has %d rules that look at several fields, and %d about what may change. The longest has %d "+
		"characters. As compact JSON, the CRD has %d kB.", len(spec.XValidations)-transitions, transitions, longest, size/1000)
	must.Has(t, strings.Join(strings.Fields(read(t, "docs/architecture.md")), " "), want)
}

// customResource is the definition of a resource, and its size as compact JSON, in which kubectl and the API server keep it.
func customResource(t *testing.T, plural string) (apiextensionsv1.CustomResourceDefinition, int) {
	t.Helper()
	text := must.Get(yaml.YAMLToJSON([]byte(read(t, "config/crd/bases/benchrun.dev_"+plural+".yaml"))))(t)
	var crd apiextensionsv1.CustomResourceDefinition
	must.Do(t, yaml.Unmarshal(text, &crd))
	return crd, len(text)
}

// The README begins with a run with variants: that of the sample which it names, whatever its layout, in 14 lines.
func TestReadmeRun(t *testing.T) {
	const most, widest = 14, 100
	block := between(t, read(t, "README.md"), "```yaml\n", "```\n")
	if lines := strings.Count(block, "\n"); lines > most {
		t.Errorf("the run has %d lines", lines)
	}
	for line := range strings.SplitSeq(block, "\n") {
		if len(line) > widest {
			t.Errorf("a code host cuts this line off: %s", line)
		}
	}
	var shown, sample any
	for text, into := range map[string]*any{block: &shown, read(t, "config/samples/durable-or-not.yaml"): &sample} {
		must.Do(t, yaml.Unmarshal([]byte(text), into))
	}
	must.Same(t, "the sample in README.md", sample, shown)
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
	must.Has(t, text, "`"+interval[1]+"` is the **interval**", "until the answer is known, here "+spelled[rounds[1]]+".")
}

// What the README says of the project in its first lines is so.
func TestReadmeFacts(t *testing.T) {
	facts := between(t, read(t, "README.md"), "[Install]", "```")
	for fact, c := range map[string]struct{ file, has string }{
		"Apache-2.0":               {"LICENSE", "Apache License\n                           Version 2.0"},
		"Kubernetes 1.31 or later": {"charts/benchrun/Chart.yaml", `kubeVersion: ">=1.31.`},
		"no release yet":           {"CHANGELOG.md", "There is no release yet."},
	} {
		must.Has(t, facts, fact)
		must.Has(t, read(t, c.file), c.has)
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

// naming are the fields of the API that name an object of the namespace.
var naming = regexp.MustCompile(`json:"([a-zA-Z]*(?:SecretName|From))[,"]`)

// TestSecurityNamesWhatIsMounted: everything that the author of a run can have mounted is named where administrators look.
func TestSecurityNamesWhatIsMounted(t *testing.T) {
	var fields []string
	for _, file := range tracked(t, "api/v1alpha1/*_types.go") {
		for _, match := range naming.FindAllStringSubmatch(read(t, file), -1) {
			fields = append(fields, match[1])
		}
	}
	slices.Sort(fields)
	if fields = slices.Compact(fields); len(fields) < 6 {
		t.Errorf("%d fields: %v", len(fields), fields)
	}
	for _, field := range fields {
		must.Has(t, read(t, "SECURITY.md"), field+"`")
	}
}
