// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// columns are rows as text, a line each.
func columns(rows [][]string) string {
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "|"))
	}
	return strings.Join(lines, "\n")
}

func oneTable(t *testing.T, list []report.RequestedTable, err error) report.RequestedTable {
	t.Helper()
	if err != nil || len(list) != 1 {
		t.Fatalf("%d tables, %v", len(list), err)
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
		r.Run.Spec = json.RawMessage(`{"tables":[` + c.spec + `]}`)
		for _, record := range r.Records {
			if record.Summary != nil {
				record.Summary.Totals = result.Totals{Rows: 10000, Micros: 1_000_000}
			}
		}
		list, err := r.RequestedTables()
		got := oneTable(t, list, err)
		for what, diff := range map[string]string{
			"rows": cmp.Diff(c.rows, columns(got.Rows)), "CSV": cmp.Diff(c.csv, string(got.CSV)), "remark": cmp.Diff(c.remark, got.Remark()),
		} {
			if diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
		}
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
		for i := range s.Runs {
			seconds := report.ComparisonMetric{Metric: "durationSeconds", Unit: "s"}
			for _, v := range s.Runs[i].Values {
				seconds.Values = append(seconds.Values, report.ComparisonValue{Parameters: v.Parameters, Value: 7})
			}
			s.Runs[i].Others = []report.ComparisonMetric{seconds}
		}
		late := s.Runs[0]
		late.Round = 3
		s.Runs = append(s.Runs, late)
		s.Spec = json.RawMessage(`{"tables":[` + c.spec + `]}`)
		list, err := s.RequestedTables()
		got := oneTable(t, list, err)
		if diff := cmp.Diff(c.rows, columns(got.Rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if lines := strings.Count(string(got.CSV), "\n"); lines != 1+2*(len(got.Rows)-1) && name != "a row for each metric" {
			t.Errorf("%s: CSV has %d lines:\n%s", name, lines, got.CSV)
		}
	}
}

// The rows of a comparison say what their servers were asked for, where variants differ.
func TestTableCSVHasSettings(t *testing.T) {
	s := reportOfComparison()
	s.Variants[2].Differences = []plan.Difference{{Name: "innodb_buffer_pool_size", From: "16777216", To: "134217728"}}
	s.Spec = json.RawMessage(`{"tables":[{"name":"p","metrics":["rowsPerSecond"],"among":{"parameters":{"rowsPerCommit":"1"}}}]}`)
	list, err := s.RequestedTables()
	want := "variant,innodb_buffer_pool_size,innodb_flush_log_at_trx_commit,round,rowsPerSecond\n" +
		"durable,16777216,1,1,3434\ndurable,16777216,1,2,3468\n" +
		"lazy,16777216,2,1,10302\nlazy,16777216,2,2,10404\n" +
		"same,134217728,1,1,3434\nsame,134217728,1,2,3468\n"
	if diff := cmp.Diff(want, string(oneTable(t, list, err).CSV)); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
}

// Figures are what programs read: the numbers of the cells, with the published ones beside them.
func TestFiguresOfTables(t *testing.T) {
	s := reportOfComparison()
	s.Spec = json.RawMessage(`{"tables":[{"name":"p","metrics":["rowsPerSecond"],"among":{"variant":"lazy"},
		"published":[{"of":{"parameters":{"rowsPerCommit":"1"}},"value":"9.5"}]}]}`)
	list, err := s.RequestedTables()
	lazy := func(rows string) claims.Series {
		return claims.Series{Variant: "lazy", Parameters: map[string]string{"rowsPerCommit": rows}}
	}
	want := []report.Figure{
		{Series: lazy("1"), Metric: "rowsPerSecond", Unit: "rows/s", Median: 10353, Trials: 2, Published: 9.5},
		{Series: lazy("1024"), Metric: "rowsPerSecond", Unit: "rows/s", Median: 12814.375, Trials: 2},
	}
	table := oneTable(t, list, err)
	if diff := cmp.Diff(want, table.Figures); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	f := &table.Figures[1]
	if diff := cmp.Diff([]string{"rowsPerCommit"}, table.By); diff != "" || f.Label("rowsPerCommit") != "1024" || f.Label("variant") != "lazy" {
		t.Errorf("they differ in: %s; labels %q, %q", diff, f.Label("rowsPerCommit"), f.Label("variant"))
	}
}

// The summary has the tables after those of its own.
func TestSummaryHasRequestedTables(t *testing.T) {
	r := small()
	r.Run.Spec = json.RawMessage(`{"tables":[{"name":"p","title":"As published","metrics":["rowsPerSecond","x"],
		"published":[{"of":{"parameters":{"rowsPerCommit":"1"}},"value":"78"}]}]}`)
	var b strings.Builder
	if err := report.Summary(&b, r); err != nil {
		t.Fatal(err)
	}
	want := "As published:\n\n| rowsPerCommit | rowsPerSecond | published |\n| ------------: | ------------: | --------: |\n" +
		"|             1 |          1000 |        78 |\n|          1024 |         14970 |           |\n\n" +
		"The table p is incomplete; these were not measured: x.\n\nClaims:"
	if !strings.Contains(b.String(), want) {
		t.Errorf("there is no\n%s\nin\n%s", want, b.String())
	}
}
