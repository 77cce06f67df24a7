// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"slices"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// warmedUp makes an attempt that warms the server up, and one that does not, and checks that what was measured is the same but
// for the phase before.
func warmedUp(t *testing.T, definition workload.Definition, parameters any, rows int64) *result.Document {
	t.Helper()
	measured := func(seconds int) *result.Document {
		tr := newTrialOf(t, definition, parameters)
		tr.cfg.PrimeSeconds = seconds
		_, doc := tr.mustRun(t)
		if doc.Totals.Rows != rows || doc.Totals.StoppedBy != result.StoppedByRows {
			t.Errorf("with a warm-up of %d s: %+v", seconds, doc.Totals)
		}
		if len(doc.Checks) == 0 {
			t.Error("nothing was checked")
		}
		return doc
	}
	cold, warm := measured(0), measured(30)
	var without, phases []string
	for _, p := range cold.Phases {
		without = append(without, p.Name)
	}
	for _, p := range warm.Phases {
		phases = append(phases, p.Name)
	}
	at := slices.Index(phases, "prime")
	if at < 1 || phases[at-1] != "readback" || phases[at+1] != "prepare" || !slices.Equal(slices.Delete(slices.Clone(phases), at, at+1), without) {
		t.Errorf("phases %v, without a warm-up %v", phases, without)
	}
	if at > 0 && warm.Phases[at].Micros < 1000 {
		t.Errorf("the warm-up took %d µs", warm.Phases[at].Micros)
	}
	if !slices.EqualFunc(cold.Checks, warm.Checks, func(a, b result.Check) bool { return a.Name == b.Name && a.Passed == b.Passed }) {
		t.Errorf("checks %+v, without a warm-up %+v", warm.Checks, cold.Checks)
	}
	return warm
}

// What is measured after a warm-up is the whole load, on new tables, and nothing of the warm-up is in its numbers.
func TestIntegrationPrime(t *testing.T) {
	for name, tc := range map[string]struct {
		definition workload.Definition
		parameters any
	}{
		"CommitSize": {commitsize.Definition, &commitsize.Parameters{Rows: 3000, RowsPerCommit: 100}},
		"BulkInsert": {bulkinsert.Definition, &bulkinsert.Parameters{
			Table: "Narrow", StorageEngine: "InnoDB", Rows: 3000, RowsPerStatement: 100, StatementsPerTransaction: 1, Concurrency: 2, Tables: 2,
		}},
		"IIBench": {iibench.Definition, &iibench.Parameters{
			Schema: "InsertBenchmark", Rows: 3000, RowsPerCommit: 100, RowsPerStatement: 100, StorageEngine: "InnoDB",
			SecondaryIndexes: 3, IndexesAt: "Start", InsertThreads: 2, QueryThreads: 1, KeepRows: 1000, ReportEveryRows: 1000,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := warmedUp(t, tc.definition, tc.parameters, 3000)
			rows := int64(0)
			for _, i := range doc.Series {
				rows += i.Rows
			}
			if rows != 3000 {
				t.Errorf("the series has %d rows", rows)
			}
		})
	}
}

// Of several Pods, the first one warms the server up for all.
func TestIntegrationPrimeWithSeveralPods(t *testing.T) {
	tr := newTrialOf(t, bulkinsert.Definition, &bulkinsert.Parameters{
		Table: "Narrow", StorageEngine: "InnoDB", Rows: 3000, RowsPerStatement: 100, StatementsPerTransaction: 1, Concurrency: 4, Tables: 1,
	})
	tr.cfg.PrimeSeconds = 30
	doc := tr.mustLoad(t, 2)
	if doc.Totals.Rows != 3000 || len(doc.Pods) != 2 || doc.Pods[0].Rows+doc.Pods[1].Rows != 3000 || doc.Pods[1].Rows == 0 {
		t.Errorf("%+v of Pods %+v", doc.Totals, doc.Pods)
	}
	if !slices.ContainsFunc(doc.Phases, func(p result.Phase) bool { return p.Name == "prime" }) {
		t.Errorf("phases %+v", doc.Phases)
	}
}

// A warm-up ends when its time is over, whatever the load.
func TestIntegrationPrimeIsBounded(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1_000_000_000, RowsPerCommit: 100})
	tr.cfg.PrimeSeconds, tr.cfg.LimitSeconds = 1, 2
	_, doc := tr.mustRun(t)
	for _, p := range doc.Phases {
		took := time.Duration(p.Micros) * time.Microsecond
		if p.Name == "prime" && (took < time.Second || took > 8*time.Second) {
			t.Errorf("the warm-up took %s", took)
		}
	}
	if doc.Totals.StoppedBy != result.StoppedBySeconds || doc.Totals.Micros < 2_000_000 {
		t.Errorf("totals %+v", doc.Totals)
	}
	if !slices.ContainsFunc(doc.Phases, func(p result.Phase) bool { return p.Name == "prime" }) {
		t.Errorf("phases %+v", doc.Phases)
	}
}
