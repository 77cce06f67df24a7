// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// measuredRun is a report of a point with these values.
func measuredRun(better string, values ...float64) *report.Report {
	parameters := map[string]string{"rowsPerCommit": "16"}
	var records []*result.Record
	for i, v := range values {
		record := testutil.Record(i+1, 1, parameters, v)
		record.Summary.Metrics[0].Better = better
		records = append(records, record)
	}
	return &report.Report{Run: run("Complete", ""), Points: []stats.Point{stats.Summarized(parameters, records)}}
}

func TestReproduce(t *testing.T) {
	there := []float64{1000, 1010, 990, 1005, 995, 1001}
	times := func(factor float64) []float64 {
		var values []float64
		for _, v := range there {
			values = append(values, v*factor)
		}
		return values
	}
	for name, c := range map[string]struct {
		better  string
		here    []float64
		within  float64
		verdict report.ReproductionVerdict
		detail  string
	}{
		"the same":               {"higher", times(1), 0, report.Reproduced, ""},
		"more":                   {"higher", times(1.2), 0, report.FasterHere, ""},
		"less":                   {"higher", times(0.8), 0, report.SlowerHere, ""},
		"more, lower is better":  {"lower", times(1.2), 0, report.SlowerHere, ""},
		"less, lower is better":  {"lower", times(0.8), 0, report.FasterHere, ""},
		"more, within":           {"higher", times(1.05), 0.1, report.Reproduced, ""},
		"less, within":           {"higher", times(0.95), 0.1, report.Reproduced, ""},
		"more than within":       {"higher", times(1.2), 0.1, report.FasterHere, ""},
		"the same, within":       {"higher", times(1), 0.1, report.Reproduced, ""},
		"scatter within 2":       {"higher", []float64{700, 1300, 800, 1200, 1000, 900}, 0, report.Reproduced, ""},
		"scatter":                {"higher", []float64{200, 3000, 400, 2500, 1000, 900}, 0, report.NotComparable, "scatter too much"},
		"scatter, little within": {"higher", []float64{700, 1300, 800, 1200, 1000, 900}, 0.1, report.NotComparable, "scatter too much"},
		"too few":                {"higher", []float64{1000}, 0, report.NotComparable, "too few trials, 6 and 1"},
		"nothing":                {"higher", nil, 0, report.NotComparable, "it was not measured here"},
	} {
		got := report.Reproduce(measuredRun(c.better, there...), measuredRun(c.better, c.here...), c.within).Points[0]
		if got.Verdict != c.verdict || !strings.Contains(got.Detail, c.detail) || c.detail == "" && got.Detail != "" {
			t.Errorf("%s: %+v, want %s %q", name, got, c.verdict, c.detail)
		}
	}
	missing := report.Reproduce(measuredRun("higher", there...), &report.Report{}, 0)
	if p := missing.Points[0]; p.Verdict != report.NotComparable || p.Detail != "it was not measured here" {
		t.Errorf("%+v", p)
	}
}

// A suite is reproduced if its ratios are: the machine may be another one.
func TestReproduceSuite(t *testing.T) {
	there := reportOfSuite()
	there.Pairs = there.Pairs[:2]
	for name, c := range map[string]struct {
		change  func(p *stats.Paired)
		verdict report.ReproductionVerdict
	}{
		"the same":  {func(*stats.Paired) {}, report.Reproduced},
		"overlap":   {func(p *stats.Paired) { p.Ratio, p.Low, p.High = 3.3, 3.1, 3.5 }, report.Reproduced},
		"more":      {func(p *stats.Paired) { p.Ratio, p.Low, p.High = 4, 3.3, 5 }, report.OtherRatio},
		"less":      {func(p *stats.Paired) { p.Ratio, p.Low, p.High = 1.1, 1.05, 1.2 }, report.OtherRatio},
		"no answer": {func(p *stats.Paired) { p.Verdict, p.Low, p.High = stats.CannotSay, 0, math.Inf(1) }, report.NotComparable},
	} {
		here := reportOfSuite()
		c.change(&here.Pairs[0])
		r := report.ReproduceSuite(there, here)
		if r.Points[0].Verdict != c.verdict || r.Points[1].Verdict != report.Reproduced {
			t.Errorf("%s: %+v", name, r.Points)
		}
	}
	here := reportOfSuite()
	here.Pairs = here.Pairs[:1]
	if got := report.ReproduceSuite(there, here).Answer(); got != "reproduced at 1, cannot say at 1 of 2 points" {
		t.Error(got)
	}
}

func TestReproductionPrinted(t *testing.T) {
	r := report.Reproduce(measuredRun("higher", 1000, 1010, 990, 1005, 995, 1001), measuredRun("higher", 1002, 1009, 991, 1004, 996, 1000), 0)
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# commit-size: reproduced\n", "1000 rows/s", "reproduced", "nothing that Benchrun knows of"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &b)
		}
	}
	r.Differences, r.Points[0].Verdict, r.Points[0].Detail = []string{"kernel: 6.1 there, 6.6 here"}, report.NotComparable, "why"
	b.Reset()
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cannot say at 1 of 1 points", "- kernel: 6.1 there, 6.6 here", "- rowsPerCommit=16: why"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &b)
		}
	}
}
