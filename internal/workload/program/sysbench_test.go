// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

func newTestSysbench(t *testing.T, seed int64, change func(*result.Sysbench)) *sysbenchTool {
	t.Helper()
	p := &result.Sysbench{
		Script: "oltp_read_write", Commands: []string{"cleanup", "prepare"}, Threads: 4, Rate: 50, Seconds: 60, WarmupSeconds: 5,
		Percentile: 99, RandType: "pareto", Options: map[string]string{"range_size": "10", "auto_inc": "off"},
	}
	if change != nil {
		change(p)
	}
	tool, err := NewSysbench(workload.ToolInput{
		Config: &result.Config{
			Seed: seed, Server: result.Server{Host: "db", Port: 3306, Schema: "bench"},
			Workload: result.Workload{Type: "Sysbench", Sysbench: p},
		},
		Dir: "/tool", User: "u", Password: `se'c"ret`,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool.(*sysbenchTool)
}

func TestSysbenchCommands(t *testing.T) {
	tool := newTestSysbench(t, 42, nil)
	want := []string{
		"sysbench", "oltp_read_write", "--auto_inc=off", "--range_size=10", "--db-driver=mysql", "--mysql-host=db",
		"--mysql-port=3306", "--mysql-user=u", "--mysql-db=bench", "--threads=4", "--rate=50", "--percentile=99",
		"--rand-type=pareto", "--rand-seed=42", "--events=0", "--time=60", "--report-interval=1", "--histogram=on", "run",
	}
	measure := tool.Commands(workload.PhaseMeasure)
	if diff := cmp.Diff(want, measure[0].Args); diff != "" || len(measure) != 1 {
		t.Errorf("%d commands (-want +got):\n%s", len(measure), diff)
	}
	for _, phase := range []workload.ToolPhase{workload.PhasePrepare, workload.PhaseWarmup, workload.PhaseMeasure, workload.PhaseVerify, workload.PhaseCleanup} {
		for _, c := range tool.Commands(phase) {
			if text := strings.Join(c.Args, " "); strings.Contains(text, `c"ret`) || !slices.Contains(c.Env, `MYSQL_PWD=se'c"ret`) {
				t.Errorf("the password is in %s, or not in the environment", text)
			}
			if !slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--rand-seed=") && a != "--rand-seed=0" }) {
				t.Errorf("%s has no seed", c.Args)
			}
		}
	}
	warm := tool.Commands(workload.PhaseWarmup)[0].Args
	if slices.Contains(warm, "--rand-seed=42") || !slices.Contains(warm, "--time=5") {
		t.Errorf("warm-up %q", warm)
	}
	tpcc := newTestSysbench(t, 1, func(p *result.Sysbench) { p.Script = "tpcc" })
	if args := tpcc.Commands(workload.PhaseMeasure)[0].Args; args[1] != "/tool/tpcc.lua" || !slices.Contains(args, "--scale=1") ||
		!strings.Contains(tpcc.Files()["tpcc.lua"], "function event()") {
		t.Errorf("tpcc: %q", args)
	}
}

func TestSysbenchSeeds(t *testing.T) {
	seen := map[string]int64{}
	for _, seed := range []int64{0, 1, 42, 1<<31 - 1, 1 << 31, 1<<53 - 1} {
		got := newTestSysbench(t, seed, nil).seed()
		if other, twice := seen[got]; twice || got == "0" || len(got) > 10 {
			t.Errorf("seed %d is %s, as that of %d", seed, got, other)
		}
		seen[got] = seed
	}
	if seen["42"] != 42 {
		t.Error("42 is not 42")
	}
}

func TestSysbenchDataset(t *testing.T) {
	of := func(seed int64, change func(*result.Sysbench)) string {
		return newTestSysbench(t, seed, func(p *result.Sysbench) {
			p.KeepData = true
			if change != nil {
				change(p)
			}
		}).Dataset()
	}
	same := of(1, nil)
	if same == "" || same != of(1, func(p *result.Sysbench) { p.Threads, p.Seconds, p.Rate = 64, 1, 9 }) {
		t.Error("how the data are used makes other data")
	}
	size := int64(7)
	if same == of(2, nil) || same == of(1, func(p *result.Sysbench) { p.TableSize = &size }) {
		t.Error("other data count as the same")
	}
	if newTestSysbench(t, 1, nil).Dataset() != "" {
		t.Error("data are kept that nobody wants to keep")
	}
}

func TestSysbenchJudge(t *testing.T) {
	tool := newTestSysbench(t, 1, nil)
	e := func(code int, output string) *workload.Execution {
		return &workload.Execution{
			Command: workload.Command{Args: []string{"sysbench", "x", "check"}}, ExitCode: code, Output: output,
			Tail: strings.Split(strings.TrimSpace(output), "\n"),
		}
	}
	for name, tc := range map[string]struct {
		execution *workload.Execution
		says      string
		lost      bool
	}{
		"its own words":        {e(1, "sysbench 1.0.20\ninvalid option: --x=1\n"), "invalid option: --x=1", false},
		"errors and code 0":    {e(0, "FATAL: error 1045: Access denied\nCheck 1: PASSED\n"), "Access denied", false},
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
	checks, err := tool.Judge(workload.PhasePrepare, e(0, "Check 1: PASSED\nCheck 2: FAILED!!! 3 of 4\n"))
	want := []result.Check{{Name: "before: Check 1", Passed: true}, {Name: "before: Check 2", Detail: "3 of 4"}}
	if diff := cmp.Diff(want, checks); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestSysbenchSeries gives intervals that add up, whatever the rates were rounded to.
func TestSysbenchSeries(t *testing.T) {
	rate := func(v float64) *float64 { return &v }
	report := func(total int64, seconds float64, rates ...float64) *sysbench.Report {
		r := &sysbench.Report{Final: &sysbench.Summary{SQL: &sysbench.SQL{}, Seconds: &seconds}}
		r.Final.SQL.Transactions.Total = total
		for i, v := range rates {
			r.Intervals = append(r.Intervals, sysbench.Interval{Second: int64(i + 1), Events: rate(v), LatencyMillis: rate(1.5)})
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
	for name, r := range map[string]*sysbench.Report{
		"rates above the total": report(5, 2, 4, 4), "no interval": report(7, 0.4), "a day": report(86400, 86400, slices.Repeat([]float64{1}, 86400)...),
		"a number that is none": {
			Intervals: []sysbench.Interval{{Second: 1}, {Second: 2, Events: rate(4)}},
			Final:     &sysbench.Summary{SQL: &sysbench.SQL{Transactions: sysbench.Count{Total: 9}}, Seconds: rate(2)},
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
		if sum != r.Final.SQL.Transactions.Total || len(series) > maxSeries {
			t.Errorf("%s: %d in %d intervals", name, sum, len(series))
		}
	}
}

func TestSysbenchRead(t *testing.T) {
	tool := newTestSysbench(t, 1, nil)
	if _, err := tool.Read([]*workload.Execution{{Output: "Threads started!\n"}}); err == nil || !strings.Contains(err.Error(), "silence is failure") {
		t.Errorf("error is %v", err)
	}
	if _, err := tool.Read([]*workload.Execution{{Output: "General statistics:\n total time: 1.0s\n total number of events: 1\n"}}); err == nil ||
		!strings.Contains(err.Error(), "did not use the database") {
		t.Errorf("error is %v", err)
	}
}

// TestSysbenchReadAddsUp reads what is a transaction, or with bulk_insert a row.
func TestSysbenchReadAddsUp(t *testing.T) {
	output, err := os.ReadFile("../sysbench/testdata/1.0.20-real.txt")
	if err != nil {
		t.Fatal(err)
	}
	for script, metric := range map[string]string{"oltp_read_write": "transactionsPerSecond", scriptBulkInsert: "rowsPerSecond"} {
		tool := newTestSysbench(t, 1, func(p *result.Sysbench) { p.Script = script })
		r, err := tool.Read([]*workload.Execution{{Output: string(output)}})
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
