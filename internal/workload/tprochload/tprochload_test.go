// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// tprochConfig is a valid configuration, changed.
func tprochConfig(change func(*result.Config, *Parameters)) *result.Config {
	p := &Parameters{
		ScaleFactor: "0.01", Data: dataStreamed, LoadMode: loadOneStatement, ForeignKeyChecks: true, UniqueChecks: true,
		Indexes: indexesBefore,
	}
	cfg := &result.Config{Seed: 42}
	change(cfg, p)
	w := workloadtest.Load(Definition, p)
	cfg.Workload.Type, cfg.Workload.Parameters = w.Type, w.Parameters
	return cfg
}

func newTestTPROCHLoad(t *testing.T, change func(*result.Config, *Parameters)) *tprochLoad {
	t.Helper()
	w := must.Get(New(tprochConfig(change)))(t)
	return w.(*tprochLoad)
}

func TestTPROCHLoadRefuses(t *testing.T) {
	for want, change := range map[string]func(*result.Config, *Parameters){
		`scaleFactor is "0.005" but must be 0.01 to`:                         func(_ *result.Config, p *Parameters) { p.ScaleFactor = "0.005" },
		`data is "" but must be Staged or Streamed`:                          func(_ *result.Config, p *Parameters) { p.Data = "" },
		"no scratch volume for the files: set loader.":                       func(_ *result.Config, p *Parameters) { p.Data = dataStaged },
		`loadMode is "Serial" but must be OneStatement, Chunked or Parallel`: func(_ *result.Config, p *Parameters) { p.LoadMode = "Serial" },
		"rowsPerChunk is 0 but must be at least 1":                           func(_ *result.Config, p *Parameters) { p.LoadMode = loadChunked },
		"clients is 0 but must be 1 to 8":                                    func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(0) },
		"clients is 9 but must be 1 to 8":                                    func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(9) },
		`indexes is "Later" but must be Before or After`:                     func(_ *result.Config, p *Parameters) { p.Indexes = "Later" },
		"scaleFactor cannot be swept with dataFrom: every point would load": func(c *result.Config, _ *Parameters) {
			c.Workload.Data, c.Parameters = &result.Data{}, map[string]string{"scaleFactor": "0.01"}
		},
		`asPublished is "Article" but must be None or MariaDBOrg`:       func(_ *result.Config, p *Parameters) { p.AsPublished = "Article" },
		"asPublished MariaDBOrg goes with loadMode OneStatement and fo": func(_ *result.Config, p *Parameters) { p.AsPublished = asPublishedMariaDBOrg },
		"MariaDBOrg goes with loadMode OneStatement and foreignKe": func(_ *result.Config, p *Parameters) {
			p.AsPublished, p.ForeignKeyChecks, p.LoadMode, p.RowsPerChunk = asPublishedMariaDBOrg, false, loadChunked, 1
		},
		"leave out dataFrom and schemaFrom": func(c *result.Config, p *Parameters) {
			p.AsPublished, p.ForeignKeyChecks, c.Workload.SchemaFile = asPublishedMariaDBOrg, false, "own.sql"
		},
		"limits.seconds is not for TPROCHLoad": func(c *result.Config, _ *Parameters) { c.LimitSeconds = 5 },
	} {
		if _, err := New(tprochConfig(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// The scale of Benchrun's own data may be swept, and with the user's files everything else.
func TestTPROCHLoadTakesSweeps(t *testing.T) {
	for _, change := range []func(*result.Config, *Parameters){
		func(c *result.Config, _ *Parameters) { c.Parameters = map[string]string{"scaleFactor": "0.01"} },
		func(c *result.Config, _ *Parameters) {
			c.Workload.Data, c.Parameters = &result.Data{}, map[string]string{"loadMode": "OneStatement"}
		},
	} {
		must.Do(t, Definition.Validate(tprochConfig(change)))
	}
}

// Clients are for one mode, and may be left out there.
func TestTPROCHLoadStreams(t *testing.T) {
	for _, tc := range []struct {
		mode    string
		clients *int
		want    int
	}{
		{loadParallel, nil, defaultClients},
		{loadParallel, ptr.To(8), 8},
		{loadOneStatement, nil, 1},
		{loadOneStatement, ptr.To(8), 1},
		{loadChunked, ptr.To(0), 1},
	} {
		w := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients, p.RowsPerChunk = tc.mode, tc.clients, 1 })
		if got := w.Plan().Clients; got != tc.want {
			t.Errorf("%s with %d clients has %d clients, want %d", tc.mode, ptr.Deref(tc.clients, -1), got, tc.want)
		}
	}
}

// The article loads tables in the order of their names, with statements that name neither columns nor a character set.
func TestTPROCHLoadCompat(t *testing.T) {
	w, b := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) {
		p.AsPublished, p.ForeignKeyChecks = asPublishedMariaDBOrg, false
	}), &bulk{}
	must.Do(t, b.measure(t, w, 1))
	want := []string{"CUSTOMER", "LINEITEM", "NATION", "ORDERS", "PART", "PARTSUPP", "REGION", "SUPPLIER"}
	must.Same(t, "order", want, b.begun)
	if got := w.clause(tproch.PartSupp); got != "INTO TABLE PARTSUPP FIELDS TERMINATED BY '|'" {
		t.Errorf("it sends %s", got)
	}
	own := newTestTPROCHLoad(t, func(*result.Config, *Parameters) {}).clause(tproch.Region)
	if own != "INTO TABLE REGION CHARACTER SET latin1 FIELDS TERMINATED BY '|' (R_REGIONKEY, R_NAME, R_COMMENT)" {
		t.Errorf("without compat it sends %s", own)
	}
}

func TestTPROCHLoadSendsEveryTable(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		change     func(*result.Config, *Parameters)
		clients    int
		statements int
	}{
		"streamed": {func(*result.Config, *Parameters) {}, 1, 8},
		"staged":   {func(c *result.Config, p *Parameters) { c.Scratch, p.Data = dir, dataStaged }, 1, 8},
		"chunked":  {func(_ *result.Config, p *Parameters) { p.LoadMode, p.RowsPerChunk = loadChunked, 5000 }, 1, 5 + 2 + 3 + 12},
		"parallel": {func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(5) }, 5, 8},
		"parallel, without checks": {
			func(_ *result.Config, p *Parameters) {
				p.LoadMode, p.Clients, p.ForeignKeyChecks = loadParallel, ptr.To(8), false
			}, 8, 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newTestTPROCHLoad(t, tc.change), &bulk{}
			if w.stage != nil {
				must.Do(t, w.stage.run(t.Context()))
			}
			must.Do(t, b.measure(t, w, tc.clients))
			data := tproch.New(42, 1)
			for _, table := range tproch.Tables() {
				text := must.Get(io.ReadAll(data.Reader(table, 0, data.Units(table))))(t)
				if b.text[table.String()] != string(text) {
					t.Errorf("%s: %d bytes were sent, want the table's %d", table, len(b.text[table.String()]), len(text))
				}
			}
			if len(b.begun) != tc.statements || b.sent != 86260 {
				t.Errorf("%d statements and %d rows, want %d and 86260", len(b.begun), b.sent, tc.statements)
			}
			if w.params.ForeignKeyChecks && len(b.missing) > 0 {
				t.Errorf("begun too early: %v", b.missing)
			}
		})
	}
}

// The largest table must not be the last one to begin.
func TestTPROCHLoadOrder(t *testing.T) {
	parallel := func(checks bool) func(*result.Config, *Parameters) {
		return func(_ *result.Config, p *Parameters) {
			p.LoadMode, p.Clients, p.ForeignKeyChecks = loadParallel, ptr.To(1), checks
		}
	}
	inOrder := names(tproch.Tables())
	backwards := slices.Clone(inOrder)
	slices.Reverse(backwards)
	for _, tc := range []struct {
		checks bool
		want   []string
	}{{true, inOrder}, {false, backwards}} {
		b := &bulk{}
		must.Do(t, b.measure(t, newTestTPROCHLoad(t, parallel(tc.checks)), 1))
		if diff := cmp.Diff(tc.want, b.begun); diff != "" {
			t.Errorf("order with checks %t (-want +got):\n%s", tc.checks, diff)
		}
	}
}

// A client that waits for a table that will never be loaded is released.
func TestTPROCHLoadEndsWithTheFirstError(t *testing.T) {
	w := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(8) })
	b := &bulk{refuse: "NATION"}
	if err := b.measure(t, w, 8); err == nil || err.Error() != "loading NATION: refused" {
		t.Errorf("error %v", err)
	}
	if slices.Contains(b.begun, "LINEITEM") {
		t.Error("LINEITEM was begun, though it depends on what failed")
	}
}

func TestTPROCHStageRecordsChecksums(t *testing.T) {
	dir := t.TempDir()
	w := newTestTPROCHLoad(t, func(c *result.Config, p *Parameters) { c.Scratch, p.Data = dir, dataStaged })
	must.Do(t, w.stage.run(t.Context()))
	for _, table := range tproch.Tables() {
		text := must.Get(os.ReadFile(filepath.Join(dir, strings.ToLower(table.String())+".tbl")))(t)
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != w.stage.sums[table] {
			t.Errorf("%s: the recorded checksum is %s", table, w.stage.sums[table])
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.stage.run(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("error of an attempt that was told to stop: %v", err)
	}
}

func TestTPROCHLoadReadsNoBrokenFile(t *testing.T) {
	w := newTestTPROCHLoad(t, func(c *result.Config, p *Parameters) { c.Scratch, p.Data = t.TempDir(), dataStaged })
	err := (&bulk{}).measure(t, w, 1)
	if _, ok := errors.AsType[workload.Refused](err); !ok || !strings.Contains(err.Error(), "opening the staged file") {
		t.Errorf("error %v", err)
	}
}

func TestTPROCHPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*result.Config, *Parameters)
		want   []workload.Phase
	}{
		"nothing afterwards": {func(*result.Config, *Parameters) {}, nil},
		"analyze": {func(_ *result.Config, p *Parameters) { p.Analyze = true }, []workload.Phase{{Name: phaseAnalyze, Statements: []string{
			"ANALYZE TABLE REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM",
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "phases", tc.want, newTestTPROCHLoad(t, tc.change).after())
		})
	}
	w := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) { p.Indexes, p.ForeignKeyChecks = indexesAfter, false })
	phases := w.after()
	want := slices.Concat([]string{"SET autocommit=1, foreign_key_checks=0, unique_checks=1"}, tproch.Keys())
	must.Same(t, "phases", []workload.Phase{{Name: phaseIndex, Statements: want}}, phases)
}
