// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// Both programs are measured equally often, and neither always comes second.
func TestMeasureAlternates(t *testing.T) {
	var order []string
	program := func(name string, rows float64) program {
		return func(context.Context, *bench) (sample, error) {
			order = append(order, name)
			return sample{rows: rows, seconds: 2, cpuMicros: 100, rss: 3 << 20}, nil
		}
	}
	c := comparison{name: "x", original: "y", ours: program("ours", 300), theirs: program("theirs", 100), wantedRate: "≥ 1"}
	p := must.Get(measure(t.Context(), nil, c, 6))(t)
	want := strings.Fields(strings.Repeat("ours theirs theirs ours ", 3))
	must.Same(t, "order", want, order)
	const row = "| x | y | 150 | 50 | 3.000 (3.000–3.000) | ≥ 1 | 0.3333 | 1 | 0.333 (0.333–0.333) |  | 3 MiB |"
	must.Same(t, "row", row, p.row(c))
}

func TestMeasureNoticesWhatIsNoMeasurement(t *testing.T) {
	good := func(context.Context, *bench) (sample, error) { return sample{rows: 1, seconds: 1}, nil }
	for want, bad := range map[string]program{
		"no measurement": func(context.Context, *bench) (sample, error) { return sample{rows: 1}, nil },
		"broken":         func(context.Context, *bench) (sample, error) { return sample{}, errors.New("broken") },
	} {
		must.Refused(measure(t.Context(), nil, comparison{ours: good, theirs: bad}, 1))(t, want)
	}
}

// The loader accepts every chain of stages.
func TestStagesAreValid(t *testing.T) {
	for _, s := range append(measuredStages(), measuredStage{name: "one row", stage: oneRow}) {
		cfg := result.Config{Workload: chainOf(append(slices.Clip(s.before), s.stage)...), LimitSeconds: 0, Seed: 42}
		if _, err := registry.New(&cfg); err != nil {
			t.Errorf("stage %s: %v", s.name, err)
		}
	}
}

// What the other program reads from a file is what the loader sends, and ends its transactions as the loader does.
func TestStatements(t *testing.T) {
	narrow := iibench.Parameters{
		Table: "InsertBenchmark", Rows: 2, RowsPerCommit: 1, RowsPerStatement: 1, StorageEngine: "InnoDB", IndexesAt: "Start",
		Clients: 1, ReportEveryRows: 1,
	}
	for name, tc := range map[string]struct {
		w    result.Workload
		want []string
	}{
		"with a COMMIT":    {commits(2, 1).Workload, []string{"SET autocommit=0;", "INSERT INTO demo", "COMMIT;", "INSERT INTO demo", "COMMIT;"}},
		"without a COMMIT": {workloadtest.Load(iibench.Definition, narrow), []string{"SET autocommit=1;", "INSERT INTO", "INSERT INTO"}},
	} {
		b := &bench{dir: t.TempDir()}
		path, err := b.statements(t.Context(), "x.sql", tc.w)
		if err != nil || path != "/bench/x.sql" {
			t.Fatal(path, err)
		}
		data := must.Get(os.ReadFile(filepath.Join(b.dir, "x.sql")))(t)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if !slices.EqualFunc(lines, tc.want, strings.HasPrefix) {
			t.Errorf("%s: %s", name, data)
		}
	}
}

func TestInserts(t *testing.T) {
	for _, tc := range []struct {
		got, want inserts
		one       string
	}{
		{commits(7, 3), inserts{rows: 7, perCommit: 3, table: "demo"}, `{"rows":1,"rowsPerCommit":1}`},
		{
			bulkInserts(bulkinsert.Parameters{Rows: 7, RowsPerStatement: 3, StatementsPerTransaction: 2}),
			inserts{rows: 7, perCommit: 6, table: "inserts"},
			`"rows":1,"rowsPerStatement":3,"statementsPerTransaction":2,`,
		},
		{iiBench(2), inserts{rows: 250_000, perCommit: 1000, table: "purchases_index"}, `"rows":1,"rowsPerCommit":1000,`},
	} {
		got, one := tc.got, tc.got.oneRow
		if got.rows != tc.want.rows || got.perCommit != tc.want.perCommit || got.table != tc.want.table || one.Type != got.Type ||
			!strings.Contains(string(got.Parameters), fmt.Sprintf(`"rows":%d,`, got.rows)) ||
			!strings.Contains(string(one.Parameters), tc.one) {
			t.Errorf("%s is %+v, one row %s", got.Type, got, one.Parameters)
		}
	}
}

func TestComparisonsHaveTheirOwnNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range comparisons() {
		name := c.name + c.original
		if seen[name] || c.ours == nil || c.theirs == nil {
			t.Errorf("%s", name)
		}
		seen[name] = true
	}
}

// An earlier loader is measured with each workload once, and ours beside it.
func TestWithBefore(t *testing.T) {
	var by []string
	ours := func(_ context.Context, b *bench) (sample, error) {
		by = append(by, b.program)
		return sample{rows: 1, seconds: 1}, nil
	}
	list := withBefore([]comparison{{name: "a", original: "x", ours: ours}, {name: "b", ours: ours}, {name: "a", original: "y", ours: ours}})
	if len(list) != 2 || list[0].original != "the loader before" {
		t.Fatalf("%+v", list)
	}
	must.Get(measure(t.Context(), &bench{program: "loader"}, list[0], 2))(t)
	must.Same(t, "", []string{"loader", "loader-before", "loader-before", "loader"}, by)
}

// A rate is held if it is met within half a percent: neither less nor more.
func TestHeld(t *testing.T) {
	for rows, want := range map[int64]string{
		20_000: "", 19_901: "", 20_099: "", 19_899: "995.0 achieved, which is -0.505%", 20_101: "1005.0 achieved, which is +0.505%",
	} {
		doc := &result.Document{
			Totals:    result.Totals{Rows: rows, Micros: 20_000_000},
			Client:    result.ClientFacts{UserMicros: rows, SystemMicros: rows},
			Latencies: []result.Latency{{Operation: "transaction", P50Micros: 200, P99Micros: 900}, {Operation: "commit", P99Micros: 5}},
		}
		h := heldOf(doc, 1000)
		err := h.missed("x")
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d rows in 20 s: error %v, want %q", rows, err, want)
		}
		if rows == 20_000 && h.row("x", 80) != "| x | 80% | 1000 | 1000.0 | +0.000% | ± 0.5% | 200 | 900 | 2 |" {
			t.Errorf("row %s", h.row("x", 80))
		}
	}
}

// The loads that are offered are loads, with a rate and without one.
func TestOfferedLoads(t *testing.T) {
	for _, r := range offeredLoads() {
		for _, rate := range []workload.Rate{0, 1000} {
			if _, err := registry.New(&result.Config{Workload: r.load(1000, rate)}); err != nil {
				t.Errorf("%s at %d rows/s: %v", r.name, rate, err)
			}
		}
	}
}
