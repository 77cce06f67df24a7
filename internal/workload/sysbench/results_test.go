// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/finding"
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
	must.Is(t, must.Err(tool.Judge(workload.PhaseVerify, full)), workload.ErrTooManyConnections)
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
	must.Same(t, "series", want, got)
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
	must.Refused(tool.Read([]*workload.Execution{{Output: "Threads started!\n"}}))(t, "sysbench ended with exit code 0 but printed no report")
	must.Refused(tool.Read([]*workload.Execution{{Output: "General statistics:\n total time: 1.0s\n total number of events: 1\n"}}))(t, "did not use the database")
}

// TestSysbenchReadAddsUp reads what is a transaction, or with bulk_insert a row.
func TestSysbenchReadAddsUp(t *testing.T) {
	text := must.Get(os.ReadFile("output/testdata/1.0.20-real.txt"))(t)
	for script, metric := range map[string]string{"oltp_read_write": "transactionsPerSecond", scriptBulkInsert: "rowsPerSecond"} {
		tool := newTestSysbench(t, 1, func(p *Parameters) { p.Script, p.WarmupSeconds = script, 0 })
		r := must.Get(tool.Read([]*workload.Execution{{Output: string(text)}}))(t)
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
	must.Same(t, "microbenchmarks", 33, len(microbenchmarks))
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
		must.Same(t, name, want, append([]string{file}, options...))
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
	page := must.Get(os.ReadFile("../../../docs/reference/workloads/sysbench.md"))(t)
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

// dataset is that of changed parameters, in a run that keeps its data.
func dataset(t *testing.T, seed int64, change func(*Parameters)) workload.Dataset {
	t.Helper()
	return newTestTool(t, &result.Config{
		Seed: seed, KeepData: true, Workload: workloadtest.Load(Definition, testParameters(change)),
	}).Dataset()
}

func TestSysbenchDataset(t *testing.T) {
	same := dataset(t, 1, nil)
	if same.Name == "" {
		t.Error("data are not kept")
	}
	for _, change := range []func(*Parameters){
		func(p *Parameters) { p.Clients, p.Seconds, p.RatePerSecond, p.Events, p.WarmupSeconds = 64, 1, 9, 8, 7 },
		func(p *Parameters) { p.Options["range-size"], p.Options["db-ps-mode"] = "100", "disable" },
	} {
		if same != dataset(t, 1, change) {
			t.Error("how the data are used makes other data")
		}
	}
	for _, change := range []func(*Parameters){
		func(p *Parameters) { p.TableSize = ptr.To[int64](7) }, func(p *Parameters) { p.Tables = ptr.To[int32](7) },
		func(p *Parameters) { p.Script = "oltp_insert" }, func(p *Parameters) { p.Options["auto_inc"] = "on" },
		func(p *Parameters) { p.RandType = "uniform" },
		func(p *Parameters) { p.Options["mysql_storage_engine"] = "aria" },
	} {
		if same.Name == dataset(t, 1, change).Name {
			t.Error("other data count as the same")
		}
	}
	if same.Name == dataset(t, 2, nil).Name {
		t.Error("data of another seed count as the same")
	}
	must.Same(t, "data that nobody wants to keep", "", newTestSysbench(t, 1, nil).Dataset().Name)
}

// All scripts share tables but those that have others, and say whether they write to them.
func TestSysbenchSharedTables(t *testing.T) {
	plain := func(script string) func(*Parameters) {
		return func(p *Parameters) { p.Script, p.Options, p.WarmupSeconds = script, nil, 0 }
	}
	want, written := dataset(t, 1, plain("scan")), 0
	for _, name := range Scripts() {
		if name == scriptTPCC || name == scriptBulkInsert {
			refuses(t, "trials.data: Keep is for all scripts but tpcc, bulk_insert and your own",
				&result.Config{KeepData: true, Workload: workloadtest.Load(Definition, testParameters(plain(name)))})
			continue
		}
		got := dataset(t, 1, plain(name))
		must.Same(t, name+": tables", want.Name, got.Name)
		if got.Spent {
			written++
		}
	}
	must.Same(t, "scripts that write", 16, written)
	own := testParameters(func(p *Parameters) { p.Script, p.ScriptFrom = "", &ScriptFrom{Name: "scripts", Key: "own.lua"} })
	refuses(t, "trials.data: Keep is for", &result.Config{KeepData: true, Workload: workloadtest.Load(Definition, own)})
}

// With a copy to begin with, tpcc has tables of its own, which each trial spends, and other seeds have the same data.
func TestSysbenchDatasetOfACopy(t *testing.T) {
	of := func(script string, seed, dataSeed int64) (workload.Dataset, []string) {
		tool := newTestTool(t, &result.Config{
			Seed: seed, DataSeed: &dataSeed, KeepData: true, CopyData: true,
			Workload: workloadtest.Load(Definition, testParameters(func(p *Parameters) {
				p.Script, p.Options, p.WarmupSeconds, p.TableSize = script, nil, 0, nil
			})),
		})
		return tool.Dataset(), tool.Commands(workload.PhaseMeasure)[0].Args
	}
	first, measured := of(scriptTPCC, 1, 7)
	again, measuredAgain := of(scriptTPCC, 2, 7)
	if first != again || !first.Spent {
		t.Errorf("%+v, and with another seed %+v", first, again)
	}
	for i, args := range [][]string{measured, measuredAgain} {
		if !slices.Contains(args, "--constants_seed=7") || !slices.Contains(args, "--rand-seed="+strconv.Itoa(i+1)) {
			t.Errorf("seed %d: %q", i+1, args)
		}
	}
	if other, _ := of(scriptTPCC, 1, 8); other.Name == first.Name {
		t.Error("the data of another seed count as the same")
	}
	if shared, _ := of("scan", 1, 7); shared.Name == first.Name {
		t.Error("tpcc and scan have the same tables")
	}
	refuses(t, "trials.data: Restore is for all scripts but bulk_insert and your own", &result.Config{
		KeepData: true, CopyData: true,
		Workload: workloadtest.Load(Definition, testParameters(func(p *Parameters) { p.Script, p.Options, p.WarmupSeconds = scriptBulkInsert, nil, 0 })),
	})
}

// Kept data are not removed.
func TestSysbenchKeptData(t *testing.T) {
	cfg := &result.Config{KeepData: true, Workload: workloadtest.Load(Definition, testParameters(nil))}
	if removed := verbs(newTestTool(t, cfg), workload.PhaseCleanup); len(removed) != 0 {
		t.Errorf("data that are to be kept are removed: %q", removed)
	}
}

// An offered rate that was not reached is a warning, for one Pod and for several. Chance is none: in three seconds at 100 a
// second, some ten transactions more or less are due.
func TestSysbenchRate(t *testing.T) {
	data := must.Get(os.ReadFile("output/testdata/1.0.20-real.txt"))(t)
	// 304 transactions in 3.0249 s.
	run := string(data)
	waiting := func(n int) string {
		return strings.Replace(run, "[ 3s ] queue length: 0,", fmt.Sprintf("[ 3s ] queue length: %d,", n), 1)
	}
	for name, tc := range map[string]struct {
		rate    int32
		outputs []string
		want    string
	}{
		"none is offered":            {0, []string{run}, ""},
		"reached":                    {100, []string{run}, ""},
		"fewer were due, by chance":  {105, []string{run}, ""},
		"three wait":                 {100, []string{waiting(3)}, ""},
		"four wait":                  {100, []string{waiting(4)}, "the rate of 100 transactions/s was not reached: 100.5 transactions/s, 98.7% of the offered load; 4 were still queued at the end and have no latency"},
		"as many wait as are done":   {200, []string{waiting(304)}, "100.5 transactions/s, 50.0% of the offered load; 304 were still"},
		"so few were not even made":  {1000, []string{run}, "the rate of 1000 transactions/s was not reached: 100.5 transactions/s, 10.6% of the offered load"},
		"reached together":           {200, []string{run, run}, ""},
		"not reached by one of both": {200, []string{waiting(20), run}, "96.8% of the offered load; 20 were still queued at the end"},
	} {
		tool := newTestSysbench(t, 1, func(p *Parameters) { p.RatePerSecond = tc.rate })
		var executions []*workload.Execution
		for _, text := range tc.outputs {
			executions = append(executions, &workload.Execution{Output: text})
		}
		r := must.Get(tool.Read(executions))(t)
		texts := finding.Texts(r.Findings)
		warned := slices.ContainsFunc(texts, func(text string) bool { return tc.want != "" && strings.Contains(text, tc.want) })
		if warned != (tc.want != "") || len(texts) > 1 || tc.want == "" && len(texts) > 0 {
			t.Errorf("%s: findings %q, want %q", name, texts, tc.want)
		}
	}
}

// large is 64 threads on so many tables.
func large(script string, tables int32, options map[string]string) *Parameters {
	return &Parameters{Script: script, Clients: 64, Tables: ptr.To(tables), Percentile: 95, RandType: "uniform", Options: options}
}

func TestSysbenchPreparedStatements(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    *Parameters
		want int64
	}{
		{"nine of a table", large("oltp_read_write", 32, nil), 64 * 32 * 9},
		{"without ranges", large("oltp_read_write", 32, map[string]string{"range-selects": "off"}), 64 * 32 * 5},
		{"sent as text", large("oltp_read_write", 32, map[string]string{"db-ps-mode": "disable"}), 0},
		{"reads", large("oltp_read_only", 32, nil), 64 * 32 * 5},
		{"writes", large("oltp_write_only", 32, nil), 64 * 32 * 4},
		{"points", large("oltp_point_select", 32, nil), 64 * 32},
		{"inserts are text", large("oltp_insert", 32, nil), 0},
		{"a name for another", large("read-write-10", 32, nil), 64 * 32 * 9},
		{"one table", large("update-one", 32, nil), 64},
		{"a script of Benchrun's", large("scan", 32, nil), 64 * 32},
		{"tpcc is text", &Parameters{Script: scriptTPCC, Clients: 64, Tables: ptr.To[int32](32)}, 0},
		{"no tables", &Parameters{Script: "oltp_read_write", Clients: 64}, 64 * 9},
		{"nobody knows", &Parameters{ScriptFrom: &ScriptFrom{Name: "a", Key: "b"}, Clients: 64, Tables: ptr.To[int32](32)}, 0},
	} {
		must.Same(t, tc.name, tc.want, tc.p.prepares())
	}
}

// Each script is in the list of those that prepare statements, or is known to prepare none.
func TestSysbenchPreparedStatementsOfEveryScript(t *testing.T) {
	none := map[string]bool{scriptInsert: true, scriptBulkInsert: true, tpccFile: true}
	for name, s := range allScripts {
		if (statements[s.lua] > 0) == none[s.lua] {
			t.Errorf("%s executes %s, which prepares %d statements", name, s.lua, statements[s.lua])
		}
	}
}

func TestSysbenchRefusesMoreStatementsThanTheServerKeeps(t *testing.T) {
	set := func(name, value string) []result.Setting { return []result.Setting{{Name: name, Value: value}} }
	for name, tc := range map[string]struct {
		tables   int32
		settings []result.Setting
		borrowed bool
		refused  bool
	}{
		"more than servers keep":         {32, nil, false, true},
		"fewer":                          {16, nil, false, false},
		"it is set to more":              {32, set("max_prepared_stmt_count", "20000"), false, false},
		"it is set to fewer":             {32, set("max_prepared_stmt_count", "18431"), false, true},
		"spelled as an option":           {16, set("Max-Prepared-Stmt-Count", "100"), false, true},
		"a server of the user's":         {32, nil, true, false},
		"a server of the user's, if set": {32, set("max_prepared_stmt_count", "16382"), true, true},
	} {
		err := Definition.Validate(&result.Config{
			Workload: workloadtest.Load(Definition, large("oltp_read_write", tc.tables, nil)), Settings: tc.settings,
			Server: result.Server{Borrowed: tc.borrowed},
		})
		must.Same(t, fmt.Sprintf("%s: %v", name, err), tc.refused, err != nil)
		if tc.tables == 32 && err != nil && !strings.Contains(err.Error(), "set max_prepared_stmt_count in database.variables to 18560 or more") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
