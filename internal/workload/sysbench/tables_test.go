// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

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
		func(p *Parameters) { p.Threads, p.Seconds, p.Rate, p.Events, p.WarmupSeconds = 64, 1, 9, 8, 7 },
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
