// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// values of six trials that scatter by 2% around 100.
var around100 = []float64{99, 101, 100, 98, 102, 100.5}

// times are values multiplied by a factor.
func times(factor float64, values []float64) []float64 {
	var list []float64
	for _, v := range values {
		list = append(list, factor*v)
	}
	return list
}

// runOf has a point of rowsPerCommit for each list of values, 1, 2 and so on.
func runOf(name string, points ...[]float64) *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	r.Run.Name, r.Run.UID, r.Run.Planned = name, "uid of "+name, 0
	r.Run.Spec = json.RawMessage(`{"workload":{"type":"CommitSize","commitSize":{"rows":100}},"database":{"image":"mariadb:11.8"}}`)
	for i, values := range points {
		parameters := map[string]string{"rowsPerCommit": fmt.Sprint(i + 1)}
		var records []*result.Record
		for _, v := range values {
			r.Run.Planned++
			records = append(records, testutil.Record(r.Run.Planned, 1, parameters, v))
		}
		r.Records = append(r.Records, records...)
		r.Points = append(r.Points, stats.Summarized(parameters, records))
	}
	return r
}

func compared(t *testing.T, a, b *report.Report, threshold float64) *report.Compared {
	t.Helper()
	var sides []*report.Side
	for _, r := range []*report.Report{a, b} {
		side, err := report.RunSide(r, "", "ref of "+r.Run.Name)
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, side)
	}
	c, err := report.CompareSides(sides[0], sides[1], 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Threshold = threshold
	return c
}

func printedCompared(t *testing.T, printer func(io.Writer, *report.Compared) error, c *report.Compared) string {
	t.Helper()
	var b strings.Builder
	if err := printer(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everyKind has a regression, a point that became faster, one that is equal, one that cannot be told, and points of one
// side only.
func everyKind() (before, after *report.Report) {
	noisy := []float64{60, 140, 100, 180, 50, 100}
	before = runOf("main", around100, around100, around100, noisy, around100)
	after = runOf("pr-1234", times(0.93, around100), times(2, around100), times(1.001, around100), noisy)
	parameters := map[string]string{"rowsPerCommit": "1024"}
	record := testutil.Record(25, 1, parameters, 100)
	after.Points = append(after.Points, stats.Summarized(parameters, []*result.Record{record}))
	after.Records = append(after.Records, record)
	after.Run.Started = before.Run.Started.Add(90 * time.Minute)
	// Claims, and which points there are, say nothing about what a trial measures.
	after.Run.Spec = json.RawMessage(`{"workload":{"type":"CommitSize","commitSize":{"rows":200,"sweep":{"rowsPerCommit":[1]}}},
		"database":{"image":"mariadb:12.0"},"claims":[{"name":"c"}],"trials":{"repetitions":6}}`)
	after.Run.Findings = []finding.Finding{finding.OfProgram("the disk was not the same for all trials")}
	for _, r := range after.Records {
		r.Summary.Totals.Rows, r.Place.DatabaseNode = 200, "other"
		fingerprint := *r.Fingerprint
		fingerprint.Kernel = "6.2.0"
		r.Fingerprint = &fingerprint
	}
	for _, r := range append(before.Records, after.Records...) {
		r.Summary.Observed = &result.ObservedSummary{Probe: &result.NodeProbe{}}
		r.Summary.Observed.Probe.Fdatasync = result.FsyncLatency{Calls: 75, Median: 100, P95: 150, Max: 200}
		r.Summary.Observed.Probe.CPU.Median = 10_000
		if r.Place.DatabaseNode == "other" {
			r.Summary.Observed.Probe.Fdatasync.Median, r.Summary.Observed.Probe.CPU.Median = 500, 20_000
		}
	}
	return before, after
}

func TestComparedGolden(t *testing.T) {
	before, after := everyKind()
	comparison, err := report.CompareBaseline(reportOfComparison(), "")
	if err != nil {
		t.Fatal(err)
	}
	suffix := map[string]string{"text": "txt", "markdown": "md", "json": "json", "github": "github.md", "junit": "junit.xml"}
	for _, f := range report.ComparedFormats() {
		for name, c := range map[string]*report.Compared{"compared": compared(t, before, after, 0.05), "compared-variants": comparison} {
			text := printedCompared(t, f.Print, c)
			if f.Name == "junit" {
				parseJUnit(t, text)
			}
			testutil.Golden(t, name+"."+suffix[f.Name], []byte(text))
			if f.Print(brokenWriter{}, c) == nil {
				t.Errorf("%s: the writer's error is lost", f.Name)
			}
		}
	}
	for _, want := range []string{
		"CommitSize: pr-1234 is 7% slower than main (4.2–9.7%) at rowsPerCommit=1; slower by more than 5% at 1 of 4 points, 6 trials each  " +
			"REGRESSION\n",
		"rowsPerCommit=5: only in main", "rowsPerCommit=1024: only in pr-1234",
		"spec.workload.commitSize.rows: 100 → 200", "\n  rows per trial: 100 → 200\n",
		"spec.database.image: mariadb:11.8 → mariadb:12.0", "database node: worker → other", "kernel: 6.1.0 → 6.2.0",
		"fdatasync on the data volume before the trials: 100 µs (p95 150 µs) → 500 µs (p95 150 µs)", "work before the trials: 10 µs → 20 µs",
		"pr-1234 began 1h30m0s after main", "pr-1234: the disk was not the same for all trials",
	} {
		if text := printedCompared(t, report.ComparedText, compared(t, before, after, 0.05)); !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}

// Each error is said, and none of them is an answer.
func TestWhatCannotBeCompared(t *testing.T) {
	good := runOf("main", around100)
	if _, err := report.RunSide(runOf("b"), "", ""); err == nil {
		t.Error("a run without points is compared")
	}
	for outcome, r := range map[string]*report.Report{"Failed": runOf("b", around100), report.Unfinished: runOf("b", around100), "": runOf("b")} {
		r.Run.Outcome = outcome
		if _, err := report.RunSide(r, "", ""); err == nil || !strings.Contains(err.Error(), "has not completed") {
			t.Errorf("%q: %v", outcome, err)
		}
	}
	cut := runOf("b", around100)
	cut.Records = cut.Records[:5]
	if _, err := report.RunSide(cut, "", ""); err == nil || !strings.Contains(err.Error(), "5 of 6 trials") {
		t.Errorf("a run without one of its trials: %v", err)
	}
	if _, err := report.RunSide(good, "nothing", ""); err == nil || !strings.Contains(err.Error(), "rowsPerSecond, clientCPUPerRow") {
		t.Errorf("a metric that there is not: %v", err)
	}
	side := func(r *report.Report) *report.Side {
		s, err := report.RunSide(r, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, err := report.CompareSides(side(good), side(good), 5, 0); err == nil || !strings.Contains(err.Error(), "both are main") {
		t.Errorf("a run and itself: %v", err)
	}
	other := single()
	other.Run.UID, other.Run.Planned = "other", 1
	if _, err := report.CompareSides(side(good), side(other), 5, 0); err == nil || !strings.Contains(err.Error(), "no point in common") {
		t.Errorf("other points: %v", err)
	}
}

// Two runs of one name are told apart by what the user calls them.
func TestComparedNames(t *testing.T) {
	after := runOf("main", around100)
	after.Run.UID = "another"
	before := runOf("main", around100)
	a, errA := report.RunSide(before, "", "./old/")
	b, errB := report.RunSide(after, "", "./new/")
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if c, err := report.CompareSides(a, b, 5, 0); err != nil || c.Baseline != "./old/" || c.Variant != "./new/" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Another metric than the first is compared if it is asked for; other units do not compare.
func TestComparedMetric(t *testing.T) {
	before, after := runOf("main", around100), runOf("b", around100)
	for _, r := range after.Records {
		r.Summary.Metrics[1].Value *= 2
	}
	sides := func(metric string) *report.Compared {
		a, errA := report.RunSide(before, metric, "")
		b, errB := report.RunSide(after, metric, "")
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		c, err := report.CompareSides(a, b, 5, 0)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if p := sides("clientCPUPerRow").Pairs[0]; p.Verdict != stats.Slower || p.Ratio != 2 {
		t.Errorf("%+v", p)
	}
	for _, r := range after.Records {
		r.Summary.Metrics[1].Unit = "ns"
	}
	if p := sides("clientCPUPerRow").Pairs[0]; p.Verdict != stats.CannotSay || !strings.Contains(p.String(), "in µs and") {
		t.Errorf("%s", &p)
	}
}

// Where both can speak, benchstat says the same of two runs: of one point, at which neither corrects for others.
func TestBenchstatAgreesWithCompare(t *testing.T) {
	for name, factor := range map[string]float64{"same": 1, "a little slower": 0.985, "slower": 0.95, "faster": 1.3} {
		before, after := runOf("main", around100), runOf("b", times(factor, append([]float64{97}, around100...)))
		verdict := compared(t, before, after, -1).Pairs[0].Verdict
		row := lineOf(benchstat(t, before, after), "CommitSize/rowsPerCommit=1")
		if differ := verdict == stats.Faster || verdict == stats.Slower; differ == strings.Contains(row, "~") || row == "" {
			t.Errorf("%s: %s, but benchstat: %q", name, verdict, row)
		}
	}
}
