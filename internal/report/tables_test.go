// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// columns are rows as text, a line each.
func columns(rows [][]string) string {
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "|"))
	}
	return strings.Join(lines, "\n")
}

func oneTable(t *testing.T, list []report.RequestedTable) report.RequestedTable {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%d tables", len(list))
	}
	return list[0]
}

func TestTablesOfRun(t *testing.T) {
	for name, c := range map[string]struct{ spec, rows, csv, remark string }{
		"a row for each point": {
			`{"name":"p","metrics":["rowsPerSecond","durationSeconds"],"published":[
				{"of":{"parameters":{"rowsPerCommit":"1"}},"metric":"durationSeconds","value":"127.50"},
				{"of":{"parameters":{"rowsPerCommit":"1024"}},"metric":"durationSeconds","value":"1.58"}]}`,
			"rowsPerCommit|rowsPerSecond|durationSeconds|published\n1|1000|1|127.5\n1024|14970|1|1.58",
			"rowsPerCommit,round,rowsPerSecond,durationSeconds\n1,1,1000,1\n1,2,1020.5,1\n1,3,980,1\n" +
				"1024,1,14973.25,1\n1024,2,15240,1\n1024,3,14310,1\n", "",
		},
		"a row for each metric": {
			`{"name":"p","among":{"parameters":{"rowsPerCommit":"1"}},"metrics":["durationSeconds","insertedRows","rowsPerSecond","x"],
				"published":[{"value":"70"}]}`,
			"metric|1|published\ndurationSeconds|1|70\ninsertedRows|10000|\nrowsPerSecond|1000|",
			"rowsPerCommit,round,durationSeconds,insertedRows,rowsPerSecond\n1,1,1,10000,1000\n1,2,1,10000,1020.5\n1,3,1,10000,980\n",
			"The table p is incomplete; these were not measured: x.",
		},
		"nothing of it": {`{"name":"p","metrics":["y","x"]}`, "", "", "The table p is incomplete; these were not measured: y, x."},
	} {
		r := small()
		r.Requested = pagetest.File(`{"tables":[` + c.spec + `]}`)
		for _, record := range r.Records {
			if record.Summary != nil {
				record.Summary.Totals = result.Totals{Rows: 10000, Micros: 1_000_000}
			}
		}
		got := oneTable(t, r.RequestedTables())
		must.Same(t, name+": rows", c.rows, columns(got.Texts()))
		must.Same(t, name+": CSV", c.csv, string(got.CSV))
		must.Same(t, name+": remark", c.remark, got.Remark())
	}
}

// Rounds that are not whole are in no table, and two variants are told apart.
func TestTablesOfComparison(t *testing.T) {
	for name, c := range map[string]struct{ spec, rows string }{
		"variants": {
			`{"name":"p","title":"T","metrics":["rowsPerSecond"],"among":{"parameters":{"rowsPerCommit":"1"}},
				"published":[{"of":{"variant":"lazy"},"value":"9"}]}`,
			"variant|rowsPerSecond|published\ndurable|3451|\nlazy|10350|9\nsame|3451|",
		},
		"variants and points": {
			`{"name":"p","metrics":["rowsPerSecond"]}`,
			"variant|rowsPerCommit|rowsPerSecond\ndurable|1|3451\ndurable|1024|12690\nlazy|1|10350\nlazy|1024|12810\n" +
				"same|1|3451\nsame|1024|12690",
		},
		"a row for each metric": {
			`{"name":"p","metrics":["durationSeconds","rowsPerSecond"],"among":{"variant":"lazy","parameters":{"rowsPerCommit":"1"}}}`,
			"metric|lazy, 1\ndurationSeconds|7\nrowsPerSecond|10350",
		},
	} {
		s := reportOfComparison()
		for _, record := range s.Accepted() {
			record.Summary.Totals.Micros = 7_000_000
		}
		s.Requested = pagetest.File(`{"tables":[` + c.spec + `]}`)
		got := oneTable(t, s.RequestedTables())
		must.Same(t, name, c.rows, columns(got.Texts()))
		if lines := strings.Count(string(got.CSV), "\n"); lines != 1+2*len(got.Rows) && name != "a row for each metric" {
			t.Errorf("%s: CSV has %d lines:\n%s", name, lines, got.CSV)
		}
	}
}

// The rows of a comparison say what their servers were asked for, where variants differ.
func TestTableCSVHasSettings(t *testing.T) {
	s := reportOfComparison()
	s.Variants[2].Differences = []plan.Difference{{Name: "innodb_buffer_pool_size", From: "16777216", To: "134217728"}}
	s.Requested = pagetest.File(`{"tables":[{"name":"p","metrics":["rowsPerSecond"],"among":{"parameters":{"rowsPerCommit":"1"}}}]}`)
	want := "variant,innodb_buffer_pool_size,innodb_flush_log_at_trx_commit,round,rowsPerSecond\n" +
		"durable,16777216,1,1,3434\ndurable,16777216,1,2,3468\n" +
		"lazy,16777216,2,1,10302\nlazy,16777216,2,2,10404\n" +
		"same,134217728,1,1,3434\nsame,134217728,1,2,3468\n"
	must.Same(t, "CSV", want, string(oneTable(t, s.RequestedTables()).CSV))
}

// The summary has the tables after those of its own.
func TestSummaryHasRequestedTables(t *testing.T) {
	r := small()
	r.Requested = pagetest.File(`{"tables":[{"name":"p","title":"As published","metrics":["rowsPerSecond","x"],
		"published":[{"of":{"parameters":{"rowsPerCommit":"1"}},"value":"78"}]}]}`)
	var b strings.Builder
	must.Do(t, report.Summary(&b, r))
	want := "As published:\n\n| rowsPerCommit | rowsPerSecond | published |\n| ------------: | ------------: | --------: |\n" +
		"|             1 |          1000 |        78 |\n|          1024 |         14970 |           |\n\n" +
		"The table p is incomplete; these were not measured: x.\n\nClaims:"
	must.Has(t, b.String(), want)
}

// lines of a summary that begin with a prefix.
func lines(text, prefix string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			list = append(list, strings.TrimSuffix(line, "\n"))
		}
	}
	return list
}

// pointsOf makes a report of one trial per point, with a metric of which more or less is better.
func pointsOf(better string, values ...float64) *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	for i, value := range values {
		parameters := map[string]string{"rowsPerCommit": string(rune('a' + i))}
		record := testutil.Record(i+1, 1, parameters, value)
		record.Summary.Metrics[0].Better = better
		r.Records = append(r.Records, record)
		r.Points = append(r.Points, stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: []*result.Record{record}}))
	}
	return r
}

// The points stand in the order of the sweep. What cannot be told apart has no ranks.
func TestSummaryMarksTheBest(t *testing.T) {
	three := func(better string, values ...float64) *report.Report {
		r := pointsOf(better, values...)
		for i := range r.Points {
			for round := range 2 {
				record := testutil.Record(10*round+i, 1, r.Points[i].Parameters, values[i]*(1.01+0.01*float64(round)))
				record.Summary.Metrics[0].Better = better
				r.Points[i].Records = append(r.Points[i].Records, record)
			}
			r.Points[i] = stats.Looks{}.Summarized(stats.Point{Parameters: r.Points[i].Parameters, Records: r.Points[i].Records})
		}
		return r
	}
	cases := map[string]struct {
		report *report.Report
		marks  string
		text   string
	}{
		"higher is better": {three("higher", 20, 40, 10, 20), "a:  b: best c:  d: ", "rowsPerCommit=b is the best."},
		"lower is better":  {three("lower", 20, 40, 10, 20), "a:  b:  c: best d: ", "rowsPerCommit=c is the best."},
		"one trial each":   {pointsOf("higher", 20, 40), "a:  b: ", "No point is ranked best: it takes 3 trials each"},
		"as good":          {three("higher", 20, 40, 40), "a:  b: best? c: as good?", "rowsPerCommit=b has the best median; c may be as good."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := printed(t, report.Summary, tc.report)
			var marks []string
			for _, line := range lines(text, "|")[2:] {
				cells := strings.Split(line, "|")
				marks = append(marks, strings.TrimSpace(cells[1])+": "+strings.TrimSpace(cells[5]))
			}
			must.Same(t, "marks", tc.marks, strings.Join(marks, " "))
			must.Has(t, text, "\n"+tc.text)
		})
	}
}

// Metrics that are shown have a column of their own, empty where a trial has none; the headline is not shown twice.
func TestSummaryShowsFurtherMetrics(t *testing.T) {
	r := pointsOf("higher", 10, 20)
	first := r.Records[0].Summary
	first.Metrics[0].Shown = true
	first.Metrics = append(first.Metrics, result.Metric{Name: "newOrdersPerMinute", Value: 270, Unit: "NOPM", Better: "higher", Shown: true})
	table := lines(printed(t, report.Summary, r), "|")
	must.Has(t, table[0], "| ratio to first (of medians) | newOrdersPerMinute |")
	must.Lack(t, table[0], first.Metrics[0].Name)
	if !strings.Contains(table[2], "1.00 |                270 |") || !strings.Contains(table[3], "2.00 |                    |") {
		t.Errorf("rows\n%s\n%s", table[2], table[3])
	}
}

func TestSummarySaysWhatTheIntervalsAre(t *testing.T) {
	many := pointsOf("higher", 1)
	for i := range 5 {
		record := testutil.Record(i+2, 1, nil, float64(i))
		many.Points[0].Records = append(many.Points[0].Records, record)
	}
	many.Points[0] = stats.Looks{}.Summarized(stats.Point{Parameters: many.Points[0].Parameters, Records: many.Points[0].Records})
	must.Has(t, printed(t, report.Summary, many), "intervals are those of the median at 95% confidence.")
	mixed := pointsOf("higher", 1, 2)
	mixed.Points[0] = many.Points[0]
	must.Has(t, printed(t, report.Summary, mixed), "a 95% interval takes 6 trials")
	single := pointsOf("lower", 1, 2)
	if text := printed(t, report.Summary, single); !strings.Contains(text, "(lower is better); with one trial each") ||
		strings.Contains(text, "–") {
		t.Errorf("points of one value:\n%s", text)
	}
}

// Points of several parameters have long names: few are named, many are counted.
func TestSummaryWarningOfManyPoints(t *testing.T) {
	for warned, want := range map[int]string{
		2: "- connections=2, rowsPerCommit=a; connections=2, rowsPerCommit=b: x", 5: "- 5 of 6 points: x", 6: "- everywhere: x",
	} {
		r := pointsOf("higher", make([]float64, 6)...)
		for i := range r.Points {
			r.Points[i].Parameters["connections"] = "2"
			if i < warned {
				r.Points[i].Warnings = []finding.Finding{finding.OfProgram("x").InTrials(1, 1)}
			}
		}
		text, _, _ := strings.Cut(printed(t, report.Summary, r), "\nEnvironment:")
		must.Same(t, "warnings", []string{want}, lines(text, "- "))
	}
}

// A warning says how many trials of its points it is about, if not about all.
func TestSummaryWarningOfSomeTrials(t *testing.T) {
	r := pointsOf("higher", 1, 2, 3)
	r.Points[0].Warnings = []finding.Finding{finding.OfProgram("x").InTrials(1, 3)}
	r.Points[2].Warnings = []finding.Finding{finding.OfProgram("x").InTrials(3, 3)}
	must.Has(t, printed(t, report.Summary, r), "\n- rowsPerCommit=a, c: x (4 of 6 trials)\n")
}

func TestSummaryWarnings(t *testing.T) {
	x, y := finding.OfProgram("x"), finding.OfProgram("y")
	cases := map[string]struct {
		warnings [][]finding.Finding
		want     []string
	}{
		"none":                {[][]finding.Finding{nil, nil}, nil},
		"of one point":        {[][]finding.Finding{nil, {x}}, []string{"- rowsPerCommit=b: x"}},
		"of some points":      {[][]finding.Finding{{x}, nil, {x}}, []string{"- rowsPerCommit=a, c: x"}},
		"of all points, once": {[][]finding.Finding{{x, y}, {x}}, []string{"- everywhere: x", "- rowsPerCommit=a: y"}},
		"of the only point":   {[][]finding.Finding{{x}}, []string{"- x"}},
		"with other figures": {
			[][]finding.Finding{{finding.Retried(7, 5)}, nil, {x, finding.Retried(3, 6)}},
			[]string{
				"- rowsPerCommit=a, c: 3–7 transactions (5.0–6.0% of all) were rolled back and retried", "- rowsPerCommit=c: x",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := pointsOf("higher", make([]float64, len(tc.warnings))...)
			for i := range r.Points {
				for _, f := range tc.warnings[i] {
					r.Points[i].Warnings = append(r.Points[i].Warnings, f.InTrials(1, 1))
				}
			}
			text, _, _ := strings.Cut(printed(t, report.Summary, r), "\nEnvironment:")
			must.Same(t, "warnings", tc.want, lines(text, "- "))
		})
	}
}

// What the probe could not read is said to be unknown.
func TestSummaryOfAnUnknownMachine(t *testing.T) {
	r := single()
	f := r.Records[0].Fingerprint
	f.MemoryBytes, f.FdatasyncMicros = -1, result.FsyncLatency{Median: -1, P95: -1, Max: -1}
	text := printed(t, report.Summary, r)
	must.Has(t, text, "- node memory: unknown\n")
	must.Lack(t, text, "fdatasync")
	f.BlockIO, f.FdatasyncMicros = "write 100/s on 254:0", result.FsyncLatency{Calls: 90, Median: 250, Mean: 21_000, P95: 98_000}
	text = printed(t, report.Summary, r)
	must.Has(t, text,
		"- block I/O limit on the data: write 100/s on 254:0\n",
		"- fdatasync on the data volume: 21000 µs on average, 250 µs (median of 90; p95 98000 µs, longest 0 µs)\n",
	)
	r.Records[0].Fingerprint = nil
	must.Has(t, printed(t, report.Summary, r), "- loader nodes: worker2\n- digest of all")
}

// A title says what a run is, and stands before its name.
func TestTitle(t *testing.T) {
	r := pointsOf("higher", 1000)
	for title, want := range map[string]string{
		"": "# commit-size\n", "Commit sizes on NVMe": "# Commit sizes on NVMe (commit-size)\n",
	} {
		r.Title = title
		var summary, document strings.Builder
		must.Do(t, errors.Join(report.Summary(&summary, r), report.JSON(&document, r)))
		if !strings.HasPrefix(summary.String(), want) || strings.Contains(document.String(), `"title"`) != (title != "") {
			t.Errorf("title %q: %.80s", title, summary.String())
		}
	}
}
