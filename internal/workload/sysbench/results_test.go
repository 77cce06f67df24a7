// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

func TestSysbenchJudge(t *testing.T) {
	tool := newTestSysbench(t, 1, nil)
	e := func(code int, text string) *workload.Execution {
		return &workload.Execution{
			Command: workload.Command{Args: []string{"sysbench", "x", "check"}}, ExitCode: code, Output: text,
			Tail: strings.Split(strings.TrimSpace(text), "\n"),
		}
	}
	for name, tc := range map[string]struct {
		execution *workload.Execution
		says      string
		lost      bool
	}{
		"its own words":        {e(1, "sysbench 1.0.20\ninvalid option: --x=1\n"), "invalid option: --x=1", false},
		"errors and code 0":    {e(0, "FATAL: error 1045: Access denied\nCheck 1: PASSED\n"), "Access denied", false},
		"no connection left":   {e(1, "FATAL: error 1040: Too many connections\n"), "error 1040", false},
		"connection lost":      {e(1, "FATAL: mysql_stmt_execute() returned error 2013 (Lost connection to server during query)\n"), "error 2013", true},
		"nothing of its own":   {e(1, "first\nlast words\n"), "last words", false},
		"long":                 {e(1, "FATAL: "+strings.Repeat("x", 100000)), "FATAL: xxx", false},
		"a check that is mute": {e(0, "done\n"), "neither PASSED nor FAILED", false},
	} {
		_, err := tool.Judge(workload.PhaseVerify, tc.execution)
		if err == nil || !strings.Contains(err.Error(), tc.says) || errors.Is(err, workload.ErrConnectionLost) != tc.lost || len(err.Error()) > 2000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := e(1, "FATAL: error 1040: Too many connections\n")
	if _, err := tool.Judge(workload.PhaseVerify, full); !errors.Is(err, workload.ErrTooManyConnections) {
		t.Errorf("no connection left: %v", err)
	}
	checks, err := tool.Judge(workload.PhasePrepare, e(0, "Check 1: PASSED\nCheck 2: FAILED!!! 3 of 4\n"))
	want := []result.Check{{Name: "before: Check 1", Passed: true}, {Name: "before: Check 2", Detail: "3 of 4"}}
	if diff := cmp.Diff(want, checks); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestSysbenchSeries gives intervals that add up, whatever the rates were rounded to.
func TestSysbenchSeries(t *testing.T) {
	rate := func(v float64) *float64 { return &v }
	report := func(total int64, seconds float64, rates ...float64) *output.Report {
		r := &output.Report{Final: &output.Summary{SQL: &output.SQL{}, Seconds: &seconds}}
		r.Final.SQL.Transactions = total
		for i, v := range rates {
			r.Intervals = append(r.Intervals, output.Interval{Second: int64(i + 1), Events: rate(v), LatencyMillis: rate(1.5)})
		}
		return r
	}
	got := sysbenchSeries(report(10, 3.2, 3.33, 0, 3.34))
	want := []result.Interval{
		{EndMicros: 1e6, Transactions: 3, PercentileMicros: 1500},
		{EndMicros: 2e6, PercentileMicros: 1500},
		{EndMicros: 3e6, Transactions: 4, PercentileMicros: 1500},
		{EndMicros: 3.2e6, Transactions: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	for name, r := range map[string]*output.Report{
		"rates above the total": report(5, 2, 4, 4), "no interval": report(7, 0.4), "a day": report(86400, 86400, slices.Repeat([]float64{1}, 86400)...),
		"a number that is none": {
			Intervals: []output.Interval{{Second: 1}, {Second: 2, Events: rate(4)}},
			Final:     &output.Summary{SQL: &output.SQL{Transactions: 9}, Seconds: rate(2)},
		},
	} {
		sum, last := int64(0), int64(0)
		series := sysbenchSeries(r)
		for _, i := range series {
			if i.EndMicros <= last || i.Transactions < 0 {
				t.Errorf("%s: %+v after %d", name, i, last)
			}
			sum, last = sum+i.Transactions, i.EndMicros
		}
		if sum != r.Final.SQL.Transactions || len(series) > maxSeries {
			t.Errorf("%s: %d in %d intervals", name, sum, len(series))
		}
	}
}

func TestSysbenchRead(t *testing.T) {
	tool := newTestSysbench(t, 1, nil)
	if _, err := tool.Read([]*workload.Execution{{Output: "Threads started!\n"}}); err == nil || !strings.Contains(err.Error(), "sysbench ended with exit code 0 but printed no report") {
		t.Errorf("error is %v", err)
	}
	if _, err := tool.Read([]*workload.Execution{{Output: "General statistics:\n total time: 1.0s\n total number of events: 1\n"}}); err == nil ||
		!strings.Contains(err.Error(), "did not use the database") {
		t.Errorf("error is %v", err)
	}
}

// TestSysbenchReadAddsUp reads what is a transaction, or with bulk_insert a row.
func TestSysbenchReadAddsUp(t *testing.T) {
	text, err := os.ReadFile("output/testdata/1.0.20-real.txt")
	if err != nil {
		t.Fatal(err)
	}
	for script, metric := range map[string]string{"oltp_read_write": "transactionsPerSecond", scriptBulkInsert: "rowsPerSecond"} {
		tool := newTestSysbench(t, 1, func(p *Parameters) { p.Script, p.WarmupSeconds = script, 0 })
		r, err := tool.Read([]*workload.Execution{{Output: string(text)}})
		if err != nil {
			t.Fatal(err)
		}
		var sum result.Totals
		for _, i := range r.Series {
			sum.Rows, sum.Transactions = sum.Rows+i.Rows, sum.Transactions+i.Transactions
		}
		if sum.Rows != r.Totals.Rows || sum.Transactions != r.Totals.Transactions || sum.Rows+sum.Transactions < 100 || r.Metrics[0].Name != metric {
			t.Errorf("%s: the intervals have %+v, the totals %+v, metric %s", script, sum, r.Totals, r.Metrics[0].Name)
		}
	}
}
