// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// junitRules are what the usual JUnit schemas (those of Jenkins and of Surefire) allow: the attributes and children of
// each element, the children in this order, and which attributes must be there.
var junitRules = map[string]struct{ required, optional, children []string }{
	"testsuites": {[]string{"name", "tests", "failures", "errors", "time"}, nil, []string{"testsuite"}},
	"testsuite": {
		[]string{"name", "tests", "failures", "errors", "skipped", "time"},
		[]string{"timestamp"},
		[]string{"testcase"},
	},
	"testcase":   {[]string{"name", "classname", "time"}, nil, []string{"skipped", "error", "failure", "system-out"}},
	"skipped":    {[]string{"message"}, nil, nil},
	"error":      {[]string{"message", "type"}, nil, nil},
	"failure":    {[]string{"message", "type"}, nil, nil},
	"system-out": {},
}

var junitTime = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)

// element of a JUnit report.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
}

// parseJUnit reads a report as strictly as the schemas do.
func parseJUnit(t *testing.T, text string) *element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	root := &element{name: "document"}
	stack := []*element{root}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			rules, known := junitRules[e.name]
			if !known {
				t.Errorf("there is no element %s", e.name)
			}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
				if !slices.Contains(slices.Concat(rules.required, rules.optional), a.Name.Local) {
					t.Errorf("%s has no attribute %s", e.name, a.Name.Local)
				}
			}
			for _, name := range rules.required {
				if _, found := e.attrs[name]; !found {
					t.Errorf("%s must have the attribute %s", e.name, name)
				}
			}
			if time, found := e.attrs["time"]; found && !junitTime.MatchString(time) {
				t.Errorf("%s is no time", time)
			}
			parent := stack[len(stack)-1]
			parent.children = append(parent.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		}
	}
	if len(root.children) != 1 || root.children[0].name != "testsuites" {
		t.Fatalf("it has no root testsuites:\n%s", text)
	}
	checkOrder(t, root.children[0])
	checkSums(t, root.children[0])
	return root.children[0]
}

func checkOrder(t *testing.T, e *element) {
	t.Helper()
	last := 0
	for _, child := range e.children {
		at := slices.Index(junitRules[e.name].children, child.name)
		if at < last {
			t.Errorf("%s in %s is not allowed, or comes too late", child.name, e.name)
		}
		last = at
		checkOrder(t, child)
	}
}

// checkSums of a comparison, and that a case has one outcome.
func checkSums(t *testing.T, root *element) {
	t.Helper()
	for _, comparison := range root.children {
		counts := map[string]int{"tests": len(comparison.children)}
		names := map[string]bool{}
		for _, c := range comparison.children {
			outcomes := 0
			for _, child := range c.children {
				counts[map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}[child.name]]++
				if child.name != "system-out" {
					outcomes++
				}
			}
			if name := c.attrs["classname"] + " " + c.attrs["name"]; outcomes > 1 || names[name] {
				t.Errorf("%s has %d outcomes, or is there twice", name, outcomes)
			} else {
				names[name] = true
			}
		}
		for _, name := range []string{"tests", "failures", "errors", "skipped"} {
			if comparison.attrs[name] != strconv.Itoa(counts[name]) || name != "skipped" && root.attrs[name] != comparison.attrs[name] {
				t.Errorf("%s is %s, and not %d", name, comparison.attrs[name], counts[name])
			}
		}
	}
}

// outcomes of test cases by name: the element that is not system-out, or "passed".
func outcomes(root *element) map[string]string {
	found := map[string]string{}
	for _, comparison := range root.children {
		for _, c := range comparison.children {
			found[c.attrs["name"]] = "passed"
			for _, child := range c.children {
				if child.name != "system-out" {
					found[c.attrs["name"]] = child.name
				}
			}
		}
	}
	return found
}

func TestJUnitIsReadStrictly(t *testing.T) {
	all := reports()
	all["hostile"], all["thousand"] = hostile(), thousand()
	for _, r := range all {
		parseJUnit(t, printed(t, report.JUnit, r))
	}
	unfinished := unmeasured()
	unfinished.Outcome = report.Unfinished
	for _, test := range []struct {
		root *element
		want map[string]string
	}{
		{parseJUnit(t, printed(t, report.JUnit, small())), map[string]string{
			"finished": "passed", "rowsPerCommit=1": "passed", "rowsPerCommit=1024": "passed", "tenfold": "passed", "level": "skipped",
		}},
		{parseJUnit(t, printed(t, report.JUnit, unmeasured())), map[string]string{"finished": "error", "rowsPerCommit=1": "error"}},
		{parseJUnit(t, printed(t, report.JUnit, unfinished)), map[string]string{"finished": "skipped", "rowsPerCommit=1": "skipped"}},
		{parseJUnit(t, printed(t, report.JUnit, single())), map[string]string{"finished": "passed", "CommitSize": "passed"}},
		{parseJUnit(t, printed(t, report.JUnit, reportOfComparison())), map[string]string{
			"finished": "passed", "lazy / durable at rowsPerCommit=1": "passed", "lazy / durable at rowsPerCommit=1024": "passed",
			"same / durable at rowsPerCommit=1": "passed", "same / durable at rowsPerCommit=1024": "skipped", "threefold": "failure",
		}},
	} {
		must.Same(t, "outcomes", test.want, outcomes(test.root))
	}
}

// repeated is a report of two points with six trials each; the values are those of small, multiplied. It has a metric in the unit
// of the headline.
func repeated(name string, factor float64) *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	r.Name, r.SpecDigest, r.Seed = name, "v1:sha256:"+name, int64(len(name))
	r.Points = small().Points
	for trial := range 12 {
		record := testutil.Record(trial+1, 1, r.Points[trial%2].Parameters, factor*float64(1000+14000*(trial%2)+trial))
		record.Summary.ServerVersion, record.Summary.SettingsDigest = "11.8.3-"+name, "sha256:"+name
		record.Summary.Metrics = append(record.Summary.Metrics, result.Metric{
			Name: "terminalRowsPerSecond", Value: 10, Unit: "rows/s", Better: "higher",
		})
		r.Records = append(r.Records, record)
	}
	return r
}

// benchstat is what the program itself says about the reports of two runs.
func benchstat(t *testing.T, before, after *report.Report) string {
	t.Helper()
	dir := t.TempDir()
	arguments := []string{"tool", "benchstat"}
	for name, r := range map[string]*report.Report{"a.bench": before, "b.bench": after} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(printed(t, report.Bench, r)), 0o600))
	}
	arguments = append(arguments, filepath.Join(dir, "a.bench"), filepath.Join(dir, "b.bench"))
	out, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// benchstat compares two runs of different names, specifications, seeds, servers and settings: it has a row per point, with the
// difference of the headline, and a table per metric.
func TestBenchstatCompares(t *testing.T) {
	text := benchstat(t, repeated("old", 1), repeated("new", 1.5))
	headline, _, _ := strings.Cut(text, "clientCPUPerRow")
	for _, point := range []string{"CommitSize/rowsPerCommit=1", "CommitSize/rowsPerCommit=1024"} {
		must.Has(t, lineOf(headline, point), "+50.0", "(p=0.002 n=6)")
	}
	if strings.Count(text, "rowsPerCommit=1024") != 5 || strings.Contains(text, "n=12") {
		t.Errorf("there are not five metrics of six trials each")
	}
	if t.Failed() {
		t.Log("\n" + text)
	}
}

// lineOf is the first line that begins with that word.
func lineOf(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, word+" ") {
			return line
		}
	}
	return ""
}

// benchstat has a column for each variant of a comparison, the baseline first.
func TestBenchstatComparesVariants(t *testing.T) {
	s := reportOfComparison()
	slices.Reverse(s.Variants)
	s.Records = s.Records[:12] // what is whole
	for _, m := range s.Measurements() {
		for round := 3; round <= 4; round++ {
			addSide(s, m.Variant, round, m.Parameters, m.Summary.Metrics[0].Value*(1+float64(round)/1000))
		}
	}
	file := filepath.Join(t.TempDir(), "comparison.bench")
	must.Do(t, os.WriteFile(file, []byte(printed(t, report.Bench, s)), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-col", "variant", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	header := strings.Fields(strings.NewReplacer("│", " ").Replace(strings.Split(string(out), "\n")[0]))
	must.Same(t, "columns", []string{"durable", "same", "lazy"}, header)
	must.Has(t, lineOf(string(out), "CommitSize/rowsPerCommit=1"), "+200.00%", "(p=0.002 n=6)", "~ (p=1.000 n=6)")
}
