// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// hostile is a report whose names and messages have everything that some format gives a meaning.
func hostile() *report.Report {
	const nasty = "a|b <img src=x> & \"q\" 'x' `c` \\ @all\n# EOF\x1b[31m\x00 ünï 日本 **b** {x=\"1\"},;"
	r := small()
	r.Name, r.Outcome, r.Message, r.Workload = nasty, "Failed", nasty, nasty
	r.Findings = []finding.Finding{finding.OfProgram(nasty)}
	for i := range r.Points {
		r.Points[i].Parameters = map[string]string{"a b": nasty + fmt.Sprint(i), "a-b": "", "a_b": "1"}
		for _, record := range r.Points[i].Records {
			record.Parameters = r.Points[i].Parameters
			record.Summary.Metrics[1].Name, record.Summary.Metrics[1].Unit = nasty, nasty
			record.Summary.Latencies[0].Operation = nasty
		}
	}
	r.Claims[0].Name, r.Claims[0].Verdict, r.Claims[0].Detail = nasty, claims.DoesNotHold, nasty
	for _, record := range r.Records {
		record.Message = nasty
	}
	return r
}

// thousand is a report of 1,000 points, each with a warning of its own, and a disturbed attempt for each.
func thousand() *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	for i := range 1000 {
		parameters := map[string]string{"rowsPerCommit": fmt.Sprint(i), "secondaryIndexes": fmt.Sprint(i % 7)}
		record := testutil.Record(i+1, 2, parameters, float64(1000+i))
		record.Summary.Findings = []finding.Finding{finding.OfProgram(fmt.Sprintf("warning %d: %s", i, strings.Repeat("long ", 1000)))}
		r.Records = append(r.Records, record, &result.Record{
			Version: 1, Trial: i + 1, Attempt: 1, Parameters: parameters, Outcome: result.OutcomeInvalidated, Cause: result.CauseEvicted,
			Message: strings.Repeat("evicted ", 100),
		})
		r.Points = append(r.Points, stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: []*result.Record{record}}))
	}
	return r
}

// The formats that Files does not have.
func TestFormatsGolden(t *testing.T) {
	all := reports()
	all["comparison"] = reportOfComparison()
	for _, f := range report.Formats() {
		for name, r := range all {
			published := f.File == report.SummaryFile || f.File == report.CSVFile || f.File == report.JSONFile
			if !published && (name == "comparison" || !f.Variants && f.File != report.BenchFile) {
				testutil.Golden(t, name+"."+f.File, []byte(printed(t, f.Print, r)))
			}
		}
	}
}

// Every format prints every report as valid UTF-8 that ends with a newline, the same each time, and hands on a writer's
// error.
func TestFormats(t *testing.T) {
	all := reports()
	all["hostile"], all["thousand"], all["empty"], all["comparison"] = hostile(), thousand(), new(report.Report), reportOfComparison()
	names, files := map[string]bool{}, map[string]bool{}
	for _, f := range report.Formats() {
		if names[f.Name] || files[f.File] || strings.ContainsAny(f.File, "/\\ ") {
			t.Errorf("%s, %s: not the only one, or no name of a file", f.Name, f.File)
		}
		names[f.Name], files[f.File] = true, true
		for name, r := range all {
			if r.Spec == nil {
				r.Spec = json.RawMessage("{}")
			}
			text := printed(t, f.Print, r)
			if !utf8.ValidString(text) || text != printed(t, f.Print, r) || text != "" && !strings.HasSuffix(text, "\n") {
				t.Errorf("%s of %s:\n%.500s", f.Name, name, text)
			}
			if text != "" && f.Print(brokenWriter{}, r) == nil {
				t.Errorf("%s of %s: the writer's error is lost", f.Name, name)
			}
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// A terminal gets no escape sequences from a database's messages.
func TestTextIsHarmless(t *testing.T) {
	for _, c := range printed(t, report.Text, hostile()) {
		if c != '\n' && (c < ' ' || c == 0x7f) {
			t.Errorf("it has the control character %q", c)
		}
	}
}

func TestSummaryNamesInputs(t *testing.T) {
	r := small()
	data := result.Input{Name: "own.csv", Bytes: 120, Rows: 7, SHA256: strings.Repeat("a", 64)}
	schema := result.Input{Name: "own.sql", Bytes: 30, SHA256: strings.Repeat("b", 64)}
	for _, record := range r.Records {
		if record.Summary != nil {
			record.Summary.Inputs = []result.Input{schema, data}
		}
	}
	summary := func() string {
		var b strings.Builder
		must.Do(t, report.Summary(&b, r))
		return b.String()
	}
	text := summary()
	must.Has(t, text,
		"- input own.csv: 7 rows, 120 bytes, sha256 "+data.SHA256+"\n", "- input own.sql: 30 bytes, sha256 "+schema.SHA256+"\n",
	)
	must.Lack(t, text, "not the same")
	data.SHA256 = strings.Repeat("c", 64)
	r.Records[1].Summary.Inputs = []result.Input{schema, data}
	want := "- input own.csv changed between trials: sha256 " + strings.Repeat("a", 64) + " for trial 1, 3, 4, 5, 6; sha256 " +
		data.SHA256 + " for trial 2\n"
	if text := summary(); !strings.Contains(text, want) || strings.Contains(text, "input own.sql was") {
		t.Errorf("%q is missing in\n%s", want, text)
	}
}
