// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// asking is a run of a workload.
func asking(w v1alpha1.WorkloadSpec) *object {
	return &object{variants: []variant{{spec: &v1alpha1.BenchmarkRunSpec{Workload: w}}}}
}

func figure(variant, metric, unit string, published, here float64, parameters map[string]string) report.Figure {
	f := report.Figure{
		Series: claims.Series{Variant: variant, Parameters: parameters}, Metric: metric, Unit: unit, Published: published, Median: here,
	}
	if here > 0 {
		f.Trials = 6
	}
	return f
}

// A twentieth of the data takes a twentieth of the time: what grows with the data is shown by its size, and each table's time as
// its share of the whole.
func TestSecondsOfUnequalSizes(t *testing.T) {
	of := func(factor v1alpha1.TPROCHScaleFactor) *object {
		return asking(v1alpha1.WorkloadSpec{TPROCHLoad: &v1alpha1.TPROCHLoadWorkload{ScaleFactor: factor}})
	}
	r := &reported{of: of("0.05"), full: of("1"), headline: result.Metric{Name: "totalSeconds", Unit: "s", Better: "lower"}}
	got := r.comparedTable(&report.RequestedTable{By: []string{"variant"}, Figures: []report.Figure{
		figure("off", "lineitemSeconds", "s", 115.075, 2.5, nil), figure("off", "totalSeconds", "s", 140.364, 3.25, nil),
		figure("on", "lineitemSeconds", "s", 107.87, 2, nil), figure("on", "totalSeconds", "s", 134.897, 2.5, nil),
	}})
	want := `| metric | variant | published | of totalSeconds | × first | here | of totalSeconds | × first |
| --- | --- | --- | --- | --- | --- | --- | --- |
| lineitemSeconds, s per unit of scale factor | off | 115.1 | 82.0% | 1.00 | 50 | 76.9% | 1.00 |
| lineitemSeconds, s per unit of scale factor | on | 107.9 | 80.0% | 0.94 | 40 | 80.0% | 0.80 |
| totalSeconds, s per unit of scale factor | off | 140.4 | 100.0% | 1.00 | 65 | 100.0% | 1.00 |
| totalSeconds, s per unit of scale factor | on | 134.9 | 100.0% | 0.96 | 50 | 100.0% | 0.77 |
`
	must.Same(t, "table", want, got.table())
}

// A load that its limit ended is divided by the rows that it inserted, an estimate by those that were planned; rates are not
// divided. A figure that was not measured here has its published one alone.
func TestFiguresOfUnfinishedLoads(t *testing.T) {
	of := func(rows int64) *object {
		return asking(v1alpha1.WorkloadSpec{IIBench: &v1alpha1.IIBenchWorkload{Rows: rows}})
	}
	at := func(engine string) map[string]string { return map[string]string{"storageEngine": engine} }
	r := &reported{
		of: of(300_000), full: of(1_000_000_000), headline: result.Metric{Name: "terminalRowsPerSecond", Unit: "rows/s", Better: "higher"},
		rows: map[string]float64{"storageEngine=InnoDB": 100_000, "storageEngine=MyISAM": 300_000},
	}
	got := r.comparedTable(&report.RequestedTable{By: []string{"storageEngine"}, Figures: []report.Figure{
		figure("", "elapsedSeconds", "s", 1_693_440, 30, at("InnoDB")),
		figure("", "estimatedSeconds", "s", 0, 90, at("InnoDB")),
		figure("", "terminalRowsPerSecond", "rows/s", 404, 3000, at("InnoDB")),
		figure("", "unpublished", "rows/s", 0, 3000, at("InnoDB")),
		figure("", "elapsedSeconds", "s", 0, 6, at("MyISAM")),
		figure("", "estimatedSeconds", "", 10_454_400, 0, at("MyISAM")),
		figure("", "terminalRowsPerSecond", "rows/s", 93, 60_000, at("MyISAM")),
		figure("", "unpublished", "rows/s", 0, 3000, at("MyISAM")),
	}})
	want := `| metric | storageEngine | published | × first | here | × first |
| --- | --- | --- | --- | --- | --- |
| elapsedSeconds, s per million rows | InnoDB | 1693 | 1.00 | 300 | 1.00 |
| elapsedSeconds, s per million rows | MyISAM |  |  | 20 | 0.07 |
| estimatedSeconds, s per million rows | InnoDB |  |  | 300 |  |
| estimatedSeconds, s per million rows | MyISAM | 10450 |  |  |  |
| terminalRowsPerSecond, rows/s | InnoDB | 404 | 1.00 | 3000 | 1.00 |
| terminalRowsPerSecond, rows/s | MyISAM | 93 | 0.23 | 60000 | 20.00 |
`
	must.Same(t, "table", want, got.table())
}

// Loads of the same size, and loads that are measured by time, are shown as they are; a table without published figures is none.
func TestFiguresAsTheyAre(t *testing.T) {
	equal := asking(v1alpha1.WorkloadSpec{BulkInsert: &v1alpha1.BulkInsertWorkload{Rows: 1000}})
	timed := asking(v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{}})
	for _, r := range []*reported{{of: equal, full: equal}, {of: timed, full: equal}} {
		got := r.comparedTable(&report.RequestedTable{Figures: []report.Figure{figure("", "durationSeconds", "s", 10, 12, nil)}})
		want := "| metric | published | × first | here | × first |\n| --- | --- | --- | --- | --- |\n" +
			"| durationSeconds, s | 10 | 1.00 | 12 | 1.00 |\n"
		must.Same(t, "table", want, got.table())
		if got := r.comparedTable(&report.RequestedTable{Figures: []report.Figure{figure("", "durationSeconds", "s", 0, 12, nil)}}); got != nil {
			t.Errorf("a table without published figures:\n%s", got.table())
		}
	}
}
