// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// repository is a folder with the publications of testdata, measured: a run and a comparison.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	must.Do(t, os.CopyFS(root, os.DirFS("testdata")))
	run := pagetest.CommitSize().Report
	run.Spec = specOf(t, root, "100-commits")
	inOrderOfPlan(t, run)
	measure(t, root, "100-commits", run.Name, func(b *bytes.Buffer) error { return report.JSON(b, run) }, "speed.against_rows")
	comparison := pagetest.Comparison().Report
	comparison.Spec = specOf(t, root, "200-flush")
	inOrderOfPlan(t, comparison)
	measure(t, root, "200-flush", comparison.Name, func(b *bytes.Buffer) error { return report.JSON(b, comparison) }, "ratios")
	return root
}

// inOrderOfPlan gives the trials the numbers that the plan has: pagetest draws an order of its own.
func inOrderOfPlan(t *testing.T, r *report.Report) {
	t.Helper()
	of := new(v1alpha1.BenchmarkRun)
	must.Do(t, json.Unmarshal(r.Spec, &of.Spec))
	p := must.Get(plan.New(of, r.Alternation))(t)
	numbers := map[string][]int{}
	for _, trial := range p.Trials {
		label := stats.Label(p.Points[trial.Point].Parameters)
		for _, side := range trial.Sides {
			label += p.Variants[side]
		}
		numbers[label] = append(numbers[label], trial.Number)
	}
	for _, record := range r.Accepted() {
		label := stats.Label(record.Parameters)
		for _, side := range record.Sides {
			label += side.Variant
		}
		record.Trial, record.Summary.Identity.Trial = numbers[label][0], numbers[label][0]
		numbers[label] = numbers[label][1:]
	}
}

// specOf is what the API server stores of a small file.
func specOf(t *testing.T, root, name string) json.RawMessage {
	t.Helper()
	s := must.Get(readSample(t.Context(), root, samplesFolder+"/"+name+small))(t)
	text := must.Get(json.Marshal(s.objects[0].run.Spec))(t)
	return text
}

// measure leaves what publications.sh does.
func measure(t *testing.T, root, name, object string, results func(*bytes.Buffer) error, plot string) {
	t.Helper()
	var document, digest bytes.Buffer
	must.Do(t, results(&document))
	must.Do(t, run(t.Context(), &digest, []string{"digest", filepath.Join(root, samplesFolder, name+small)}))
	measured := `{"commit": "0123456789abcdef0123456789abcdef01234567", "clean": true, "digest": "` + strings.TrimSpace(digest.String()) + `"}`
	write(t, root, reportsFolder+"/"+name+"/measured.json", measured)
	write(t, root, reportsFolder+"/"+name+"/"+object+"/results.json", document.String())
	write(t, root, reportsFolder+"/"+name+"/"+object+"/"+plot+".svg", "<svg/>")
}

func write(t *testing.T, root, path, text string) {
	t.Helper()
	path = filepath.Join(root, path)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Write(t, path, text)
}

func pagesOf(t *testing.T, root string) (map[string]string, error) {
	t.Helper()
	list, err := load(t.Context(), root)
	if err != nil {
		return nil, err
	}
	return pages(list)
}

// allOf the pages, one after the other.
func allOf(t *testing.T, root string) (string, error) {
	t.Helper()
	all, err := pagesOf(t, root)
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(all)) {
		b.WriteString("==== " + path + "\n\n" + all[path] + "\n")
	}
	return b.String(), err
}

func TestPageGolden(t *testing.T) {
	text := must.Get(allOf(t, repository(t)))(t)
	testutil.Golden(t, "page.golden", []byte(text))
}

// TestUpToDate: the pages in the repository are what this program makes of what was measured: they are never edited.
func TestUpToDate(t *testing.T) {
	all := must.Get(pagesOf(t, "../.."))(t)
	must.Same(t, "pages", 6, len(all))
	for path, want := range all {
		must.Same(t, path+" is not up to date: run `make publications-page`", want, string(must.Get(os.ReadFile("../../"+path))(t)))
	}
}

// What was measured of a file that has changed since says so, also where the tree was not clean; comments do not matter.
func TestChangedFile(t *testing.T) {
	const said = "**The file has changed since then**"
	for name, c := range map[string]struct {
		change func(string) string
		want   bool
	}{
		"a comment": {func(s string) string { return "# Another first line.\n#\n" + s }, false},
		"the order": {func(s string) string {
			return strings.Replace(s, "{parameter: rowsPerCommit, direction: Rising}", "{direction: Rising, parameter: rowsPerCommit}", 1)
		}, false},
		"the rounds": {func(s string) string { return strings.Replace(s, "repetitions: 6", "repetitions: 7", 1) }, true},
		"a claim":    {func(s string) string { return strings.Replace(s, "never falls", "hardly ever falls", 1) }, true},
	} {
		root := repository(t)
		file := filepath.Join(root, samplesFolder, "100-commits"+small)
		text := must.Get(os.ReadFile(file))(t)
		changed := c.change(string(text))
		if changed == string(text) {
			t.Fatalf("%s: nothing was changed", name)
		}
		write(t, root, samplesFolder+"/100-commits"+small, changed)
		got := must.Get(allOf(t, root))(t)
		must.Same(t, name+": the page says that the file has changed", c.want, strings.Contains(got, said))
	}
	root := repository(t)
	write(t, root, reportsFolder+"/100-commits/measured.json", `{"commit": "0123", "clean": false, "digest": "x"}`)
	got, err := allOf(t, root)
	if err != nil || !strings.Contains(got, "at commit 0123, with changes that were not committed") || !strings.Contains(got, said) {
		t.Errorf("%v:\n%s", err, got)
	}
}

// What is missing is named, with what to run.
func TestIncomplete(t *testing.T) {
	const again = "`make publications NAMES=100` measures the publication"
	folder := reportsFolder + "/100-commits"
	for _, c := range map[string]struct {
		spoil func(root string)
		want  string
	}{
		"no results": {
			func(root string) { os.Remove(filepath.Join(root, folder, "commit-size/results.json")) },
			folder + "/commit-size/results.json: it is not there: " + again,
		},
		"no commit": {
			func(root string) { os.Remove(filepath.Join(root, folder, "measured.json")) },
			folder + "/measured.json: it is not there: " + again,
		},
		"no plot": {
			func(root string) { os.Remove(filepath.Join(root, folder, "commit-size/speed.against_rows.svg")) },
			"100-commits: the plot speed.against_rows that the file asks for is not there",
		},
		"another's results": {
			func(root string) {
				other := pagetest.Comparison().Report
				var b bytes.Buffer
				if err := report.JSON(&b, other); err != nil {
					panic(err)
				}
				write(t, root, folder+"/commit-size/results.json", b.String())
			},
			"it is of durable-or-not",
		},
		"a failure": {
			func(root string) {
				failed := pagetest.CommitSize().Report
				failed.Spec, failed.Outcome = specOf(t, root, "100-commits"), "Failed"
				var b bytes.Buffer
				if err := report.JSON(&b, failed); err != nil {
					panic(err)
				}
				write(t, root, folder+"/commit-size/results.json", b.String())
			},
			"commit-size has ended Failed",
		},
		"no hours": {
			func(root string) {
				text, _ := os.ReadFile(filepath.Join(root, samplesFolder, "100-commits.yaml"))
				write(t, root, samplesFolder+"/100-commits.yaml", strings.Replace(string(text), "Sizes and hours", "Sizes", 1))
			},
			`100-commits.yaml: the comment at its head has no paragraph that begins with "Sizes and hours:"`,
		},
		"an invalid file": {
			func(root string) {
				text, _ := os.ReadFile(filepath.Join(root, samplesFolder, "100-commits.yaml"))
				write(t, root, samplesFolder+"/100-commits.yaml", strings.Replace(string(text), "repetitions: 12", "repetitions: -1", 1))
			},
			"100-commits.yaml: spec.trials.repetitions: Invalid value: -1",
		},
	} {
		root := repository(t)
		c.spoil(root)
		must.Refused(allOf(t, root))(t, c.want)
	}
}
