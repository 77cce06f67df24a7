// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func run(outcome, message string) report.Run {
	return report.Run{
		Namespace: "bench", Name: "commit-size", UID: "01234567-89ab-cdef-0123-456789abcdef", Workload: "CommitSize", Seed: 42,
		Outcome: outcome, Message: message, Started: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
		Planned: 6, SpecDigest: "v1:sha256:1234", Spec: json.RawMessage(`{"seed":42}`),
	}
}

// small is a report of two points with three trials each, one disturbed attempt, and a warning.
func small() *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	points := []map[string]string{{"rowsPerCommit": "1"}, {"rowsPerCommit": "1024"}}
	values := [][]float64{{1000, 1020.5, 980}, {14973.25, 15240, 14310}}
	byPoint := make([][]*result.Record, len(points))
	number := 0
	for round := range 3 {
		for i, parameters := range points {
			number++
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
		r.Points = append(r.Points, stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: byPoint[i]}))
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
		Points: []stats.Point{stats.Looks{}.Summarized(stats.Point{Parameters: parameters})},
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
		Run: run("Complete", ""), Records: []*result.Record{record},
		Points: []stats.Point{stats.Looks{}.Summarized(stats.Point{Records: []*result.Record{record}})},
	}
}

func reports() map[string]*report.Report {
	return map[string]*report.Report{"small": small(), "unmeasured": unmeasured(), "single": single(), "tables": tables()}
}

func TestFilesGolden(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			files := must.Get(report.Files(r))(t)
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
				if f.Binary || !utf8.Valid(f.Data) {
					t.Errorf("%s is not text", f.Name)
				}
				testutil.Golden(t, name+"."+f.Name, f.Data)
			}
			// The first one is what stays readable when all of them are too large.
			must.Same(t, "files", []string{"summary.md", "results.csv", "results.bench", "results.json"}, names)
		})
	}
}

// printed is what a printer makes of a report.
func printed(t *testing.T, printer func(io.Writer, *report.Report) error, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, printer(&b, r))
	return b.String()
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

// A metric or an operation that some trials lack leaves their cells empty.
func TestCSVWithHoles(t *testing.T) {
	r := small()
	s := r.Records[0].Summary
	s.Metrics, s.Latencies = s.Metrics[:1], nil
	extra := r.Records[1].Summary
	extra.Metrics = append(extra.Metrics, result.Metric{Name: "extra", Value: 0.000001, Unit: "x", Better: "lower"})
	rows := must.Get(csv.NewReader(strings.NewReader(printed(t, report.CSV, r))).ReadAll())(t)
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
	must.Same(t, "cells", []string{"", "", "", "12.5", "0.000001", "250"}, got)
}

// claimed is a run of two points, three times each, that claims 16 rows a commit to be twice as fast.
func claimed() *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("sizes", "bench").Sweep(1, 16).Repetitions(3).With(func(run *v1alpha1.BenchmarkRun) {
		run.UID, run.Spec.Seed = "run", ptr.To[int64](7)
		run.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))}
		run.Spec.Claims = v1alpha1.Claims{{Name: "twice", Ratio: &v1alpha1.RatioClaim{
			Of: testutil.AtRows("16"), To: testutil.AtRows("1"), AtLeast: "2",
		}}}
	}).Obj()
}

// measured are accepted records of the first n trials: 16 rows a commit are four times as fast.
func measured(t *testing.T, run *v1alpha1.BenchmarkRun, n int) (*plan.Plan, []*result.Record) {
	t.Helper()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	var records []*result.Record
	for _, trial := range p.Trials[:n] {
		point := p.Points[trial.Point].Parameters
		value := 1000 + 10*float64(trial.Round)
		if point["rowsPerCommit"] == "16" {
			value *= 4
		}
		records = append(records, testutil.Record(trial.Number, 1, point, value))
	}
	return p, records
}

func reportOf(t *testing.T, run *v1alpha1.BenchmarkRun, n int, outcome string) *report.Report {
	t.Helper()
	p, records := measured(t, run, n)
	rep := must.Get(report.Of(run, p, records, nil, outcome, ""))(t)
	return rep
}

func TestOfRun(t *testing.T) {
	run := claimed()
	rep := reportOf(t, run, 6, v1alpha1.ConditionComplete)
	digest := must.Get(plan.Digest(&run.Spec))(t)
	want := report.Run{
		Namespace: "bench", Name: "sizes", UID: "run", Workload: "CommitSize", Seed: 7,
		Outcome: "Complete", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Planned: 6, SpecDigest: digest,
	}
	must.Same(t, "run", want, rep.Run, cmpopts.IgnoreFields(report.Run{}, "Spec"))
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal(rep.Spec, &spec); err != nil || cmp.Diff(run.Spec, spec, cmpopts.EquateEmpty()) != "" {
		t.Errorf("the specification is %s: %v", rep.Spec, err)
	}
	for _, p := range rep.Points {
		must.Same(t, "rounds of the trials", []int{1, 2, 3}, p.Rounds)
	}
	if len(rep.Points) != 2 || !slices.Equal(rep.Points[0].Values, []float64{1010, 1020, 1030}) ||
		!slices.Equal(rep.Points[1].Values, []float64{4040, 4080, 4120}) {
		t.Errorf("points %+v", rep.Points)
	}
	if len(rep.Claims) != 1 || rep.Claims[0].Verdict != "Holds" {
		t.Errorf("claims %+v", rep.Claims)
	}
}

// Every report of the same records, in whichever order they are read, prints the same numbers.
func TestOfRunIsDeterministic(t *testing.T) {
	run := claimed()
	p, records := measured(t, run, 6)
	text := func(records []*result.Record) string {
		rep := must.Get(report.Of(run, p, records, nil, v1alpha1.ConditionComplete, ""))(t)
		return printed(t, report.Summary, rep)
	}
	want := text(records)
	must.Same(t, "the report of the same records", want, text(records))
	other := slices.Clone(records)
	other[0], other[3] = other[3], other[0] // the last one stays: where it ran stands below the table
	must.Same(t, "the report in another order of reading", want, text(other))
	if records[0].Trial != 1 || len(records) != 6 {
		t.Error("the records were changed")
	}
}

// What is between nothing and everything: points without a value are there, and have none.
func TestOfRunWithoutEveryTrial(t *testing.T) {
	run := claimed()
	rep := reportOf(t, run, 0, report.Unfinished)
	if len(rep.Points) != 2 || len(rep.Measured()) != 0 || rep.Planned != 6 {
		t.Errorf("nothing measured: %+v", rep)
	}
	for _, c := range rep.Claims {
		must.Same(t, fmt.Sprintf("nothing measured, and %s", c.Name), claims.Verdict("CannotSay"), c.Verdict)
	}
	p, records := measured(t, run, 2)
	records[1].Outcome, records[1].Cause = result.OutcomeInvalidated, result.CauseEvicted
	stranger := testutil.Record(99, 1, map[string]string{"rowsPerCommit": "1"}, 1e9)
	rep = must.Get(report.Of(run, p, append(records, stranger), nil, report.Unfinished, ""))(t)
	if points := rep.Measured(); len(points) != 1 || points[0].Summary.N != 1 || points[0].Summary.Median > 1e6 {
		t.Errorf("one trial that counts, one that does not, and one that is not planned: %+v", points)
	}
}

// The results that were published give the report that they were printed from: all files that are printed from it are the same.
func TestFromResults(t *testing.T) {
	for name, rep := range map[string]*report.Report{
		"complete": reportOf(t, claimed(), 6, v1alpha1.ConditionComplete),
		"precise": reportOf(t, testutil.MakeRun("precise", "bench").Sweep(1, 16).With(func(run *v1alpha1.BenchmarkRun) {
			run.Spec.Trials.Repetitions = nil
			run.Spec.Trials.Precision = &v1alpha1.PrecisionSpec{TargetRelativeCIPercent: 5, Min: 6, Max: 12}
		}).Obj(), 14, v1alpha1.ConditionFailed),
		"nothing": reportOf(t, claimed(), 0, v1alpha1.ConditionFailed),
	} {
		want := must.Get(report.Files(rep))(t)
		i := slices.IndexFunc(want, func(f result.File) bool { return f.Name == report.JSONFile })
		read := must.Get(report.FromResults(want[i].Data))(t)
		got := must.Get(report.Files(read))(t)
		for i := range want {
			if !bytes.Equal(want[i].Data, got[i].Data) {
				t.Errorf("%s: %s is\n%s\nand was\n%s", name, want[i].Name, got[i].Data, want[i].Data)
			}
		}
	}
}

// resultsWith are results.json of a complete run, with a part replaced.
func resultsWith(t *testing.T, old, replacement string) []byte {
	t.Helper()
	text := printed(t, report.JSON, reportOf(t, claimed(), 6, v1alpha1.ConditionComplete))
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in %s", old, text)
	}
	return []byte(strings.Replace(text, old, replacement, 1))
}

func TestFromResultsRefuses(t *testing.T) {
	for _, tc := range map[string]struct{ old, replacement, want string }{
		"a plan that is a word": {`"trials": {`, `"trials": "many", "x": {`, "reading the specification"},
		"no values":             {`"rowsPerCommit": [`, `"none": [`, "lists no values"},
		"too many trials":       {`"repetitions": 3`, `"repetitions": 1000000000`, "at most 5000 trials"},
		"fewer than no trials":  {`"repetitions": 3`, `"repetitions": -3`, "at least one"},
		"no workload":           {`"type": "CommitSize"`, `"type": "Other"`, "Other"},
		"variants of another":   {`"attempts": [`, `"variants": [{"name": "a"}], "attempts": [`, "has 1 variants, and its specification 0"},
	} {
		must.Refused(report.FromResults(resultsWith(t, tc.old, tc.replacement)))(t, tc.want)
	}
}

// Results are what a stranger sends: they are refused, or printed in every format.
func FuzzFromResults(f *testing.F) {
	for _, seed := range []string{
		`{"version":2,"run":{"name":"a","spec":{"workload":{"type":"CommitSize","commitSize":{"rows":10}}}}}`,
		`{"version":2,"run":{"name":"a","spec":{"trials":{"precision":{"targetRelativeCIPercent":5,"min":9,"max":3}},"workload":{"type":"CommitSize",` +
			`"commitSize":{"rows":10,"sweep":{"rowsPerCommit":[1,2]}}}}},"attempts":[{"trial":1,"outcome":"Accepted","summary":{}}]}`,
		`{"version":2,"run":{"name":"a","planned":-1,"spec":{"trials":{"repetitions":2},"workload":{"type":"CommitSize","commitSize":` +
			`{"rows":10}}}},"attempts":[{"trial":2,"outcome":"Accepted","summary":{"metrics":[{"value":-1e308}],"latencies":[{}]}},` +
			`{"trial":1,"outcome":"Accepted","summary":{"metrics":[{"value":1e308},{"name":"b","shown":true}]}},{"outcome":"Failed"}]}`,
		`{"version":2,"rounds":1,"alternation":"Trials","variants":[{"name":"a","baseline":true},{"name":"b"}],"run":{"name":"a","spec":{` +
			`"variants":[{"name":"a"},{"name":"b"}],"workload":{"type":"CommitSize","commitSize":{"rows":10}}}},"attempts":[{"trial":1,` +
			`"outcome":"Accepted","sides":[{"variant":"a"},{"variant":"c"}],"summary":{"metrics":[{"value":1}],"sides":[{"variant":"a"}]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		rep, err := report.FromResults(text)
		if err != nil {
			return
		}
		for _, format := range report.Formats() {
			var b bytes.Buffer
			_ = format.Print(&b, rep) // an error says what cannot be printed; a panic would be ours
		}
	})
}
