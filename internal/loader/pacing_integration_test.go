// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
)

// counts of latencies by operation.
func counts(doc *result.Document) map[string]int64 {
	all := map[string]int64{}
	for _, l := range doc.Latencies {
		all[l.Operation] = l.Count
	}
	return all
}

// An offered rate is neither exceeded nor a limit of the server's: the load takes as long as the rate says. Each transaction has
// a latency of its own.
func TestIntegrationOfferedRate(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
		p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Concurrency = 3005, 5, 2, 8
		p.Parameters = pace.Parameters{RatePerSecond: 1000}
	})
	_, doc := tr.mustRun(t)
	sums(t, doc)
	// A machine on which other tests run lags behind a schedule.
	if doc.Totals.Rows != 3005 || doc.Totals.Micros < 3_005_000 || doc.Totals.Micros > 6_000_000 {
		t.Errorf("totals %+v, the rate asks for 3.005 s", doc.Totals)
	}
	if got := counts(doc); got["transaction"] != 301 || got["queued"] != 301 || got["insert"] != 601 || got["commit"] != 301 {
		t.Errorf("latencies of %v", got)
	}
	m := metricsOf(doc)
	if m["offeredRowsPerSecond"] != 1000 || m["transactionP50Micros"] < 1 {
		t.Errorf("metrics %v", m)
	}
	// The last transaction began before the end: the rate was reached at least as far as all rows took their time.
	if least := 100 * 3_000_000 / float64(doc.Totals.Micros); m["rateReachedPercent"] < least || m["rateReachedPercent"] > 100 {
		t.Errorf("%g%% of the rate were reached, want %g%% to 100%%", m["rateReachedPercent"], least)
	}
}

// A rate that is above what the server can do is said beside the number, and shows in the latencies: they count from when each
// transaction was due.
func TestIntegrationOfferedRateNotReached(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
		p.Table, p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Concurrency = "Narrow", 1_000_000_000, 1, 1, 2
		p.Parameters = pace.Parameters{RatePerSecond: 10_000_000}
	})
	tr.cfg.LimitSeconds = 2
	_, doc := tr.mustRun(t)
	if all := strings.Join(finding.Texts(doc.Findings), "\n"); !strings.Contains(all, "the rate of 10000000 rows/s was not reached") ||
		!strings.Contains(all, "were still queued at the end") {
		t.Errorf("warnings %q", doc.Findings)
	}
	for _, l := range doc.Latencies {
		if l.Operation == "transaction" && (l.P50Micros < 500_000 || l.MaxMicros < 1_500_000) {
			t.Errorf("half of the transactions took no more than %d µs from when they were due, and none above %d", l.P50Micros, l.MaxMicros)
		}
	}
}

// While rows come at a rate, others query as fast as they can, and as many rows are deleted.
func TestIntegrationIIBenchOfferedRate(t *testing.T) {
	tr := newIIBench(t, func(p *iibench.Parameters) {
		p.Rows, p.RowsPerCommit, p.KeepRows, p.QueryThreads, p.InsertThreads = 2000, 50, 500, 2, 2
		p.Parameters = pace.Parameters{RatePerSecond: 1000}
	})
	_, doc := tr.mustRun(t)
	sums(t, doc)
	if doc.Totals.Micros < 2_000_000 || doc.Totals.Micros > 4_000_000 || doc.Totals.RowsDeleted != 1500 {
		t.Errorf("totals %+v, the rate asks for 2 s", doc.Totals)
	}
	for _, interval := range doc.Series[:len(doc.Series)-1] {
		if interval.Queries == 0 { // how many there are is the machine's
			t.Errorf("no queries in the interval that ends at %d µs", interval.EndMicros)
		}
	}
	if got := counts(doc); got["transaction"] != 40 || got["query"] != doc.Totals.Queries {
		t.Errorf("latencies of %v", got)
	}
}

// A pause is in no latency.
func TestIntegrationThinkTime(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
		p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Concurrency = 20, 1, 1, 2
		p.Parameters = pace.Parameters{ThinkTimeMilliseconds: 200}
	})
	_, doc := tr.mustRun(t)
	if doc.Totals.Micros < 1_800_000 || counts(doc)["transaction"] != 0 {
		t.Errorf("%+v, latencies of %v", doc.Totals, counts(doc))
	}
	for _, l := range doc.Latencies {
		if l.P50Micros > 150_000 {
			t.Errorf("latency %+v", l)
		}
	}
}

// Rows from before the measured phase are in the table, and in none of its numbers. One connection after the other has begun.
func TestIntegrationWarmUpBefore(t *testing.T) {
	warm := pace.Parameters{WarmupSeconds: 1, RampSeconds: 1}
	for name, tc := range map[string]struct {
		tr   *trial
		rows int64
	}{
		"BulkInsert": {newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Parameters = 5003, warm }), 5003},
		"CommitSize": {newTrialOf(t, commitsize.Definition, commitsize.Parameters{Rows: 503, RowsPerCommit: 7, Parameters: warm}), 503},
		"IIBench":    {newIIBench(t, func(p *iibench.Parameters) { p.Rows, p.Parameters = 5003, warm }), 5003},
		"IIBench that deletes": {newIIBench(t, func(p *iibench.Parameters) {
			p.Rows, p.RowsPerCommit, p.KeepRows, p.QueryThreads, p.Parameters = 5000, 100, 1000, 1, warm
		}), 5000},
	} {
		_, doc := tc.tr.mustRun(t)
		sums(t, doc)
		if doc.Totals.Rows != tc.rows {
			t.Errorf("%s: totals %+v", name, doc.Totals)
		}
		for _, p := range doc.Phases {
			if p.Name == "warmup" && (p.Micros < 1_900_000 || p.Micros > 4_000_000) {
				t.Errorf("%s: the warm-up took %d µs", name, p.Micros)
			}
		}
		if i := slices.IndexFunc(doc.Phases, func(p result.Phase) bool { return p.Name == "warmup" }); i < 0 || doc.Phases[i+1].Name != "measure" {
			t.Errorf("%s: phases %v", name, doc.Phases)
		}
		if !strings.Contains(doc.Checks[0].Detail, "in the table") || strings.HasPrefix(doc.Checks[0].Detail, fmt.Sprint(tc.rows, " ")) {
			t.Errorf("%s: check %+v", name, doc.Checks[0])
		}
	}
}

// Several Pods have one schedule, and each its own rows from before the measured phase.
func TestIntegrationPacedPods(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
		p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Concurrency = 3005, 10, 1, 4
		p.Parameters = pace.Parameters{RatePerSecond: 1000, WarmupSeconds: 1}
	})
	doc := tr.mustLoad(t, 3)
	sums(t, doc)
	if doc.Totals.Rows != 3005 || doc.Totals.Micros < 3_005_000 || doc.Totals.Micros > 6_000_000 {
		t.Errorf("totals %+v, the rate asks for 3.005 s", doc.Totals)
	}
	for _, p := range doc.Pods {
		if p.WarmupRows < 100 || p.WarmupRows > 400 {
			t.Errorf("Pod %d sent %d rows in the second before, its share of 1000 was due", p.Pod, p.WarmupRows)
		}
	}
	transactions := int64(0)
	for _, l := range doc.LatencySeries {
		if l.Operation == "transaction" {
			transactions += l.Count
		}
	}
	if transactions != doc.Totals.Transactions || transactions != 301 {
		t.Errorf("%d transactions over time, %d in all", transactions, doc.Totals.Transactions)
	}
}
