// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// repeated is a report of two points with six trials each; the values are those of small, multiplied. It has a metric in the unit
// of the headline.
func repeated(name string, factor float64) *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	r.Run.Name, r.Run.SpecDigest, r.Run.Seed = name, "v1:sha256:"+name, int64(len(name))
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
		if err := os.WriteFile(filepath.Join(dir, name), []byte(printed(t, report.Bench, r)), 0o600); err != nil {
			t.Fatal(err)
		}
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
		row := lineOf(headline, point)
		if !strings.Contains(row, "+50.0") || !strings.Contains(row, "(p=0.002 n=6)") {
			t.Errorf("%s: the row is %q", point, row)
		}
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
	s.Runs = s.Runs[:6]
	for round := 2; round <= 3; round++ {
		for _, run := range s.Runs[:6] {
			run.Values = slices.Clone(run.Values)
			for i := range run.Values {
				run.Values[i].Value *= 1 + float64(round)/1000
			}
			s.Runs = append(s.Runs, run)
		}
	}
	file := filepath.Join(t.TempDir(), "comparison.bench")
	if err := os.WriteFile(file, []byte(printedComparison(t, report.ComparisonBench, s)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-col", "variant", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	header := strings.Fields(strings.NewReplacer("│", " ").Replace(strings.Split(string(out), "\n")[0]))
	if diff := cmp.Diff([]string{"durable", "same", "lazy"}, header); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	row := lineOf(string(out), "CommitSize/rowsPerCommit=1")
	if !strings.Contains(row, "+200.00%") || !strings.Contains(row, "(p=0.002 n=6)") || !strings.Contains(row, "~ (p=1.000 n=6)") {
		t.Errorf("the row is %q of\n%s", row, out)
	}
}
