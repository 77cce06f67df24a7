// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// tables is a report of a load of two tables, with and without checks.
func tables() *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	r.Run.Workload = "TPROCHLoad"
	for i, values := range [][][]float64{{{10, 8, 2}, {12, 9.5, 2.5}, {11, 8.5, 2.25}}, {{5, 4, 1}}} {
		parameters := map[string]string{"uniqueChecks": []string{"true", "false"}[i]}
		var records []*result.Record
		for round, v := range values {
			number := len(r.Trials) + 1
			r.Trials = append(r.Trials, report.Trial{Number: number, Round: round + 1, Parameters: parameters})
			record := testutil.Record(number, 1, parameters, 0)
			record.Summary.Metrics = []result.Metric{
				{Name: "totalSeconds", Value: v[0], Unit: "s", Better: "lower"},
				{Name: "ordersSeconds", Value: v[2], Unit: "s", Better: "lower", Part: "ORDERS"},
				{Name: "lineitemSeconds", Value: v[1], Unit: "s", Better: "lower", Part: "LINEITEM"},
			}
			records = append(records, record)
		}
		r.Records = append(r.Records, records...)
		r.Points = append(r.Points, stats.Summarized(parameters, records))
	}
	return r
}

func TestPartsAreShownOnlyIfThereAreAny(t *testing.T) {
	if text := printed(t, report.Summary, tables()); !strings.Contains(text, "Medians by part, s:") {
		t.Errorf("no parts in\n%s", text)
	}
	if text := printed(t, report.Summary, small()); strings.Contains(text, "part") {
		t.Errorf("parts in\n%s", text)
	}
}
