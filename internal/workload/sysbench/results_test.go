// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
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

// named are parameters with a script that takes no options, on small tables.
func named(script string) func(*Parameters) {
	return func(p *Parameters) {
		p.Script, p.Options, p.Tables, p.TableSize = script, nil, ptr.To[int32](2), ptr.To[int64](500)
	}
}

// ofScript are the arguments of the measured command from the script on, without those that all scripts have.
func ofScript(t *testing.T, name string) (file string, options []string) {
	t.Helper()
	args := newTestSysbench(t, 42, named(name)).Commands(workload.PhaseMeasure)[0].Args
	from, to := slices.Index(args, "--table-size=500"), slices.Index(args, "--rand-seed=42")
	if from < 0 || to < from {
		t.Fatalf("%s: the options of the script are not between those of the tables and of the phase: %q", name, args)
	}
	return args[1], args[from+1 : to]
}

func TestMicrobenchmarks(t *testing.T) {
	if len(microbenchmarks) != 33 {
		t.Errorf("%d microbenchmarks", len(microbenchmarks))
	}
	for name, want := range map[string][]string{
		"point-query":         {"oltp_point_select"},
		"hot-points":          {"/tool/points.lua", "--hot=on", "--key=id", "--points=100", "--select=*"},
		"points-covered-si":   {"/tool/points.lua", "--hot=off", "--key=k", "--points=100", "--select=k"},
		"range-notcovered-si": {"/tool/ranges.lua", "--key=k", "--range_size=100", "--ranges=1", "--select=c"},
		"read-only-sum": {
			"oltp_read_only", "--distinct_ranges=0", "--order_ranges=0", "--point_selects=0", "--range_size=1000", "--simple_ranges=0",
			"--skip_trx=on", "--sum_ranges=1",
		},
		"scan":        {"/tool/scan.lua"},
		"update-one":  {"oltp_update_non_index", "--table_size=1", "--tables=1"},
		"update-zipf": {"/tool/updates.lua", "--points=1", "--zipf=0.8"},
	} {
		file, options := ofScript(t, name)
		if diff := cmp.Diff(want, append([]string{file}, options...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each script of Benchrun's is in the tool's folder, with what it loads.
func TestMicrobenchmarkFiles(t *testing.T) {
	loads := regexp.MustCompile(`loadfile\(folder \.\. "([a-z_]+\.lua)"\)`)
	for name, s := range microbenchmarks {
		files := newTestSysbench(t, 1, named(name)).Files()
		file, own := strings.CutPrefix(newTestSysbench(t, 1, named(name)).file(), "/tool/")
		if own != strings.HasSuffix(s.lua, luaSuffix) || own != (len(files) > 0) {
			t.Errorf("%s: script %s, %d files", name, file, len(files))
		}
		for own && file != "" {
			text, found := files[file]
			if !found {
				t.Fatalf("%s: %s is missing", name, file)
			}
			file = ""
			if match := loads.FindStringSubmatch(text); match != nil {
				file = match[1]
			}
		}
	}
}

// What belongs to the measured load is not there when tables are prepared: update-one has a table of one row for it alone.
func TestMicrobenchmarksPrepareTheSameTables(t *testing.T) {
	want := []string{"--tables=2", "--table-size=500", "--rand-seed=42", "prepare"}
	for name := range microbenchmarks {
		prepare := newTestSysbench(t, 42, named(name)).Commands(workload.PhasePrepare)[1].Args
		if diff := cmp.Diff(want, prepare[len(prepare)-4:]); diff != "" || !slices.Contains(prepare, "--rand-type=pareto") {
			t.Errorf("%s: %q (-want +got):\n%s", name, prepare, diff)
		}
	}
}

func TestScriptsRefused(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		"script points is unknown; use one of bulk_insert, delete, hot-points, ": named("points"),
		"options: range_size cannot be set with script read-only-10, whose opti": func(p *Parameters) {
			named("read-only-10")(p)
			p.Options = map[string]string{"range_size": "10", "mysql_storage_engine": "aria"}
		},
		"options: create-secondary cannot be set with script points-covered-si,": func(p *Parameters) {
			named("points-covered-si")(p)
			p.Options = map[string]string{"create-secondary": "off"}
		},
		"script scan has no such parameter: tpcc takes tables and scale": func(p *Parameters) {
			named("scan")(p)
			p.Scale = ptr.To[int32](1)
		},
	} {
		refuses(t, want, &result.Config{Workload: workloadtest.Load(Definition, testParameters(change))})
	}
	fine := testParameters(func(p *Parameters) {
		named("scan")(p)
		p.Options = map[string]string{"db-ps-mode": "disable", "mysql_storage_engine": "aria", "rand-pareto-h": "0.5"}
	})
	must.Do(t, Definition.Validate(&result.Config{Workload: workloadtest.Load(Definition, fine)}))
}

// The page has a row for each microbenchmark, in the table of those that read or of those that write.
func TestMicrobenchmarksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/workloads/sysbench.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Microbenchmarks\n")
	reads, rest, _ := strings.Cut(section, "\n| writes ")
	writes, _, _ := strings.Cut(rest, "\n## ")
	for name, s := range microbenchmarks {
		here, there := reads, writes
		if s.writes {
			here, there = writes, reads
		}
		if row := "\n| `" + name + "` |"; strings.Count(here, row) != 1 || strings.Contains(there, row) {
			t.Errorf("docs/reference/workloads/sysbench.md has no row for %s, which writes: %t", name, s.writes)
		}
	}
}
