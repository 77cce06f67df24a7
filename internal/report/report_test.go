// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func run(outcome, message string) report.Run {
	return report.Run{
		Namespace: "bench", Name: "commit-size", UID: "01234567-89ab-cdef-0123-456789abcdef", Workload: "CommitSize", Seed: 42, Planned: 6,
		SpecDigest: "v1:sha256:1234", Outcome: outcome, Message: message, Started: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
		Spec: json.RawMessage(`{"seed":42}`),
	}
}

// small is a report of two points with three trials each, one disturbed attempt, and a warning.
func small() *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	points := []map[string]string{{"rowsPerCommit": "1"}, {"rowsPerCommit": "1024"}}
	values := [][]float64{{1000, 1020.5, 980}, {14973.25, 15240, 14310}}
	byPoint := make([][]*result.Record, len(points))
	for round := range 3 {
		for i, parameters := range points {
			number := len(r.Trials) + 1
			r.Trials = append(r.Trials, report.Trial{Number: number, Round: round + 1, Parameters: parameters})
			attempt := 1
			if number == 4 {
				attempt = 2
				r.Records = append(r.Records, &result.Record{
					Version: 1, Trial: 4, Attempt: 1, Instance: 1, Parameters: parameters, Outcome: result.OutcomeInvalidated,
					Cause: result.CauseEvicted, Message: "EvictionByEvictionAPI: Eviction API: evicting",
					Recorded: time.Date(2026, 1, 2, 3, 5, 3, 0, time.UTC),
				})
			}
			record := testutil.Record(number, attempt, parameters, values[i][round])
			if number == 5 {
				record.Summary.Findings = []finding.Finding{finding.OfProgram("the client was held back at its CPU limit")}
			}
			r.Records = append(r.Records, record)
			byPoint[i] = append(byPoint[i], record)
		}
	}
	for i, parameters := range points {
		r.Points = append(r.Points, stats.Summarized(parameters, byPoint[i]))
	}
	r.Claims = []claims.Judgement{
		{
			Name: "tenfold", Statement: "ten times as fast", Metric: "rowsPerSecond", Verdict: claims.Holds,
			Detail: "15× (14–16×; claimed: at least 10×)", Published: claims.DoesNotHold, PublishedDetail: "7.60×",
		},
		{Name: "level", Metric: "rowsPerSecond", Verdict: claims.CannotSay, Detail: "too few trials, 2"},
	}
	return r
}

// unmeasured is the report of a run that failed at its first attempt.
func unmeasured() *report.Report {
	parameters := map[string]string{"rowsPerCommit": "1"}
	return &report.Report{
		Run:    run("Failed", "LoaderFailed: trial 1 (rowsPerCommit=1): Table 't' already exists"),
		Trials: []report.Trial{{Number: 1, Round: 1, Parameters: parameters}},
		Points: []stats.Point{stats.Summarized(parameters, nil)},
		Records: []*result.Record{{
			Version: 1, Trial: 1, Attempt: 1, Instance: 1, Parameters: parameters, Outcome: result.OutcomeFailed,
			Cause: "SQL", Message: "Table 't' already exists", Recorded: time.Date(2026, 1, 2, 3, 5, 1, 0, time.UTC),
		}},
	}
}

// single is the report of a run without a sweep.
func single() *report.Report {
	record := testutil.Record(1, 1, nil, 1000)
	return &report.Report{
		Run: run("Complete", ""), Trials: []report.Trial{{Number: 1, Round: 1}}, Records: []*result.Record{record},
		Points: []stats.Point{stats.Summarized(nil, []*result.Record{record})},
	}
}

func reports() map[string]*report.Report {
	return map[string]*report.Report{"small": small(), "unmeasured": unmeasured(), "single": single(), "tables": tables()}
}

func TestFilesGolden(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			files, err := report.Files(r)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
				if f.Binary || !utf8.Valid(f.Data) {
					t.Errorf("%s is not text", f.Name)
				}
				testutil.Golden(t, name+"."+f.Name, f.Data)
			}
			// The first one is what stays readable when all of them are too large.
			if diff := cmp.Diff([]string{"summary.md", "results.csv", "results.bench", "results.json"}, names); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// printed is what a printer makes of a report.
func printed(t *testing.T, printer func(io.Writer, *report.Report) error, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := printer(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBenchIsReadByBenchfmt(t *testing.T) {
	r := benchfmt.NewReader(strings.NewReader(printed(t, report.Bench, small())), "results.bench")
	type line struct {
		Name    string
		Iters   int
		PerSec  float64
		CPU     float64
		Commits float64
	}
	var got []line
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.Result:
			perSec, _ := record.Value("rows/s")
			cpu, _ := record.Value("clientCPUPerRow-µs")
			commits, _ := record.Value("p99-commit-µs")
			got = append(got, line{string(record.Name), record.Iters, perSec, cpu, commits})
			if len(record.Values) != 4 || len(record.Config) != 0 {
				t.Errorf("%d values, configuration %v", len(record.Values), record.Config)
			}
		case *benchfmt.SyntaxError:
			t.Errorf("line %d: %s", record.Line, record.Msg)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	var want []line
	for _, value := range []float64{1000, 14973.25, 1020.5, 15240, 980, 14310} {
		name := "CommitSize/rowsPerCommit=1"
		if value > 2000 {
			name += "024"
		}
		want = append(want, line{name, 100, value, 12.5, 250})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestBenchKeepsToTheFormat(t *testing.T) {
	r := single()
	r.Records[0].Parameters = map[string]string{"mode": "a b/c\td"}
	r.Points[0].Parameters = r.Records[0].Parameters
	r.Records[0].Summary.Totals.Rows = 0
	text := printed(t, report.Bench, r)
	if want := "\nBenchmarkCommitSize/mode=a_b_c_d 1 1000 rows/s "; !strings.Contains(text, want) {
		t.Errorf("%s\nlacks %q", text, want)
	}
}

func TestCSVIsRectangular(t *testing.T) {
	for name, r := range reports() {
		// The reader refuses rows of different lengths.
		rows, err := csv.NewReader(strings.NewReader(printed(t, report.CSV, r))).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		accepted := 0
		for _, record := range r.Records {
			if record.Outcome == result.OutcomeAccepted {
				accepted++
			}
		}
		if len(rows) != accepted+1 {
			t.Errorf("%s: %d rows of %d trials", name, len(rows), accepted)
		}
	}
}

// A metric or an operation that some trials lack leaves their cells empty.
func TestCSVWithHoles(t *testing.T) {
	r := small()
	s := r.Records[0].Summary
	s.Metrics, s.Latencies = s.Metrics[:1], nil
	extra := r.Records[1].Summary
	extra.Metrics = append(extra.Metrics, result.Metric{Name: "extra", Value: 0.000001, Unit: "x", Better: "lower"})
	rows, err := csv.NewReader(strings.NewReader(printed(t, report.CSV, r))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(row int, column string) string {
		for i, name := range rows[0] {
			if name == column {
				return rows[row][i]
			}
		}
		t.Fatalf("there is no column %s in %v", column, rows[0])
		return ""
	}
	got := []string{
		cell(1, "clientCPUPerRow"), cell(1, "extra"), cell(1, "commitP99Micros"),
		cell(2, "clientCPUPerRow"), cell(2, "extra"), cell(2, "commitP99Micros"),
	}
	if diff := cmp.Diff([]string{"", "", "", "12.5", "0.000001", "250"}, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestJSONHoldsEverything(t *testing.T) {
	var got struct {
		Version  int
		Run      report.Run
		Plan     []report.Trial
		Attempts []*result.Record
	}
	r := small()
	if err := json.Unmarshal([]byte(printed(t, report.JSON, r)), &got); err != nil {
		t.Fatal(err)
	}
	var spec bytes.Buffer
	if err := json.Compact(&spec, got.Run.Spec); err != nil {
		t.Fatal(err)
	}
	got.Run.Spec = spec.Bytes()
	if diff := cmp.Diff(r.Run, got.Run); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Trials, got.Plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Records, got.Attempts); diff != "" || got.Version != 1 {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}
