// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

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
		func(p *Parameters) { p.Churn = 1 }, func(p *Parameters) { p.RandType = "uniform" },
		func(p *Parameters) { p.Options["mysql_storage_engine"] = "aria" },
	} {
		if same.Name == dataset(t, 1, change).Name {
			t.Error("other data count as the same")
		}
	}
	if same.Name == dataset(t, 2, nil).Name {
		t.Error("data of another seed count as the same")
	}
	if newTestSysbench(t, 1, nil).Dataset().Name != "" {
		t.Error("data are kept that nobody wants to keep")
	}
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
		if got.Name != want.Name {
			t.Errorf("%s has tables of its own: %s", name, got.Name)
		}
		if got.Spent {
			written++
		}
	}
	if written != 16 {
		t.Errorf("%d scripts write", written)
	}
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

// Churn comes after the tables, by another script: of the options it has those of the connection and of random numbers alone.
func TestSysbenchChurn(t *testing.T) {
	tool := newTestSysbench(t, 42, func(p *Parameters) {
		p.Script, p.Churn = "oltp_read_only", 700
		p.Options = map[string]string{"range_size": "7", "mysql-ignore-errors": "all"}
	})
	prepare := tool.Commands(workload.PhasePrepare)
	churn := prepare[len(prepare)-1].Args
	if len(prepare) != 3 || churn[1] != "oltp_write_only" || churn[len(churn)-1] != "run" {
		t.Fatalf("%d commands, the last %q", len(prepare), churn)
	}
	for _, option := range []string{"--events=700", "--time=0", "--threads=4", "--rand-type=pareto", "--mysql-ignore-errors=all"} {
		if !slices.Contains(churn, option) {
			t.Errorf("%s is missing in %q", option, churn)
		}
	}
	text, measured := strings.Join(churn, " "), tool.Commands(workload.PhaseMeasure)[0].Args
	if strings.Contains(text, "range_size") || strings.LastIndex(text, "--rate=0") < strings.Index(text, "--rate=50") ||
		slices.Contains(churn, "--rand-seed=42") || !slices.Contains(measured, "--rand-seed=42") {
		t.Errorf("%q", churn)
	}
	for _, script := range []string{scriptTPCC, scriptBulkInsert} {
		refuses(t, "churn is for all scripts but tpcc, bulk_insert and your own", &result.Config{
			Workload: workloadtest.Load(Definition, testParameters(func(p *Parameters) { p.Script, p.Churn, p.WarmupSeconds = script, 1, 0 })),
		})
	}
	below := testParameters(func(p *Parameters) { p.Churn = -1 })
	refuses(t, "churn is -1 but must be at least 0", &result.Config{Workload: workloadtest.Load(Definition, below)})
}

// An offered rate that was not reached is a warning, for one Pod and for several. Chance is none: in three seconds at 100 a
// second, some ten transactions more or less are due.
func TestSysbenchRate(t *testing.T) {
	data, err := os.ReadFile("output/testdata/1.0.20-real.txt")
	if err != nil {
		t.Fatal(err)
	}
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
		r, err := tool.Read(executions)
		if err != nil {
			t.Fatal(err)
		}
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
		{"churn", &Parameters{Script: "oltp_insert", Clients: 64, Tables: ptr.To[int32](32), Churn: 1}, 64 * 32 * 4},
		{"nobody knows", &Parameters{ScriptFrom: &ScriptFrom{Name: "a", Key: "b"}, Clients: 64, Tables: ptr.To[int32](32)}, 0},
	} {
		if got := tc.p.prepares(); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
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
		if (err != nil) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
		if tc.tables == 32 && err != nil && !strings.Contains(err.Error(), "set max_prepared_stmt_count in database.variables to 18560 or more") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
