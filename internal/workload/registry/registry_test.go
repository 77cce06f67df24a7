// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func TestWorkloadsThatCannotBeShared(t *testing.T) {
	inserts := func(connections int) result.Workload {
		return workloadtest.Load(bulkinsert.Definition, bulkinsert.Parameters{
			Table: "Narrow", Tables: 1, Rows: 10, RowsPerStatement: 3, StatementsPerTransaction: 2, Clients: connections,
			StorageEngine: "InnoDB",
		})
	}
	purchases := func(threads int, keep int64) result.Workload {
		return workloadtest.Load(iibench.Definition, iibench.Parameters{
			Table: "InsertBenchmark", Rows: 10, RowsPerCommit: 1, RowsPerStatement: 1, StorageEngine: "InnoDB", IndexesAt: "Start",
			Clients: threads, KeepRows: keep, ReportEveryRows: 10,
		})
	}
	for want, cfg := range map[string]result.Config{
		"workload CommitSize: this load is made from one Pod: loader.pods is 2 but must be 1": {
			Pods: 2, Workload: workloadtest.Load(commitsize.Definition, commitsize.Parameters{Rows: 1, RowsPerCommit: 1}),
		},
		"this is Pod 2, but the loader Pods (2)":                            {Pods: 2, Pod: 2, Workload: inserts(2)},
		"this is Pod 1, but the loader Pods (1) are numbered from 0":        {Pod: 1, Workload: inserts(2)},
		"clients is 2 but must be at least loader.pods, 3: all loader Pods": {Pods: 3, Workload: inserts(2)},
		"clients is 1 but must be at least loader.pods, 2: all loader Pods": {Pods: 2, Workload: purchases(1, 0)},
		"a run that deletes (keepRows) loads from one Pod":                  {Pods: 2, Workload: purchases(2, 5)},
	} {
		must.Refused(registry.New(&cfg))(t, want)
	}
}

func TestWorkloadThatIsNotKnown(t *testing.T) {
	const want = `workload type "Nonsense" is unknown; use one of BulkInsert, CommitSize, Custom, IIBench, Pgbench, Statements, Sysbench, TPROCHLoad`
	must.Same(t, "error", want, must.Text(must.Err(registry.New(&result.Config{Workload: result.Workload{Type: "Nonsense"}}))))
}

// tools are the workloads that another program makes the load of, and loads the others.
var (
	tools = []string{"Custom", "Sysbench"}
	loads = []string{"BulkInsert", "CommitSize", "IIBench", "TPROCHLoad"}
)

// A user who misspells a parameter is told, whatever the workload is and whichever code reads the parameters.
func TestParametersAreReadStrictly(t *testing.T) {
	for _, name := range slices.Concat(tools, loads) {
		for parameters, says := range map[string]string{
			"":                "the parameters are missing",
			`{"nonsense": 1}`: `reading the parameters: json: unknown field "nonsense"`,
			`[]`:              "reading the parameters: json: cannot unmarshal array",
		} {
			cfg := &result.Config{Workload: result.Workload{Type: name, Parameters: json.RawMessage(parameters)}}
			want := "workload " + name + ": " + says
			err := registry.Validate(cfg)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", parameters, err, want)
			}
			again := made(cfg, slices.Contains(tools, name))
			if again == nil || err == nil || again.Error() != err.Error() {
				t.Errorf("%s: making the load says %v, validating it %v", parameters, again, err)
			}
		}
	}
}

// made is the error of making a load.
func made(cfg *result.Config, tool bool) error {
	if tool {
		_, err := registry.NewTool(workload.ToolInput{Config: cfg})
		return err
	}
	_, err := registry.New(cfg)
	return err
}

func TestToolsAndLoadsAreDistinguished(t *testing.T) {
	for _, name := range slices.Concat(tools, loads) {
		cfg := &result.Config{Workload: result.Workload{Type: name, Parameters: json.RawMessage("{}")}}
		wantTool := slices.Contains(tools, name)
		must.Same(t, name+": a tool", wantTool, registry.IsTool(cfg))
		says := map[bool]string{
			true: "workload " + name + " is made by the loader itself", false: "workload " + name + " is made by another program",
		}[!wantTool]
		must.Same(t, "error", says, must.Text(made(cfg, !wantTool)))
		needs, err := registry.Pod(cfg)
		if err != nil || needs.Work != wantTool {
			t.Errorf("%s needs %+v, %v", name, needs, err)
		}
	}
}
