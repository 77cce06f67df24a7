//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// counts of latencies by operation.
func counts(doc *result.Document) map[string]int64 {
	all := map[string]int64{}
	for _, l := range doc.Latencies {
		all[l.Operation] = l.Count
	}
	return all
}

// onSchedule says that the last transaction was due at that time, however busy the machine is: the load ended no earlier, and no
// later than the longest latency of a transaction, which counts from when that was due.
func onSchedule(t *testing.T, doc *result.Document, due time.Duration) {
	t.Helper()
	ended, longest := time.Duration(doc.Totals.Micros)*time.Microsecond, time.Duration(0)
	for _, l := range doc.Latencies {
		if l.Operation == "transaction" {
			longest = time.Duration(l.MaxMicros) * time.Microsecond
		}
	}
	const rounding = 10 * time.Millisecond
	if ended < due || ended-longest-longest/500 > due+rounding {
		t.Errorf("it ended after %s, and no transaction took longer than %s: the last one was due at %s", ended, longest, due)
	}
}

// An offered rate is neither exceeded nor a limit of the server's: the load takes as long as the rate says. Each transaction has
// a latency of its own.
func TestIntegrationOfferedRate(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
		p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Clients = 3005, 5, 2, 8
		p.Pacing = workload.Pacing{RatePerSecond: 1000}
	})
	tr.cfg.Metric = "transactionP99Micros"
	_, doc := tr.mustRun(t)
	sums(t, doc)
	onSchedule(t, doc, 3005*time.Millisecond)
	must.Same(t, "rows", int64(3005), doc.Totals.Rows)
	if got := counts(doc); got["transaction"] != 301 || got["queued"] != 301 || got["insert"] != 601 || got["commit"] != 301 {
		t.Errorf("latencies of %v", got)
	}
	if lead := doc.Metrics[0]; lead.Name != "transactionP99Micros" || lead.Better != "lower" || !doc.Metrics[1].Shown {
		t.Errorf("the headline is %+v, beside it is %+v", lead, doc.Metrics[1])
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

// A headline that the workload does not have ends the run, which says what there is.
func TestIntegrationMetricThatIsNone(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{RowsPerCommit: 1, Rows: 10})
	tr.cfg.Metric = "coffee"
	tr.mustFail(t.Context(), t, result.CauseConfiguration, "metric: coffee was not measured; there are ", "commitP99Micros")
}

// Rows from before the measured phase are in the table, and in none of its numbers. One connection after the other has begun.
func TestIntegrationWarmUpBefore(t *testing.T) {
	warm := workload.Pacing{WarmupSeconds: 1, RampSeconds: 1}
	for name, tc := range map[string]struct {
		tr   *trial
		rows int64
	}{
		"BulkInsert": {newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Pacing = 5003, warm }), 5003},
		"CommitSize": {newTrialOf(t, commitsize.Definition, commitsize.Parameters{Rows: 503, RowsPerCommit: 7, Pacing: warm}), 503},
		"IIBench":    {newIIBench(t, func(p *iibench.Parameters) { p.Rows, p.Pacing = 5003, warm }), 5003},
		"IIBench that deletes": {newIIBench(t, func(p *iibench.Parameters) {
			p.Rows, p.RowsPerCommit, p.KeepRows, p.QueryClients, p.Pacing = 5000, 100, 1000, 1, warm
		}), 5000},
	} {
		_, doc := tc.tr.mustRun(t)
		sums(t, doc)
		must.Same(t, name+": rows", tc.rows, doc.Totals.Rows)
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
		p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Clients = 3005, 10, 1, 4
		p.Pacing = workload.Pacing{RatePerSecond: 1000, WarmupSeconds: 1}
	})
	doc := tr.mustLoad(t, 3)
	sums(t, doc)
	onSchedule(t, doc, 3005*time.Millisecond)
	must.Same(t, "rows", int64(3005), doc.Totals.Rows)
	for _, p := range doc.Pods { // on a busy machine, less than what is due is sent in a second
		if p.WarmupRows > 340 {
			t.Errorf("Pod %d sent %d rows in the second before, its share of 1000 was due", p.Pod, p.WarmupRows)
		}
	}
	transactions := int64(0)
	for _, l := range doc.Latencies {
		if l.Operation == "transaction" {
			transactions = l.Count
		}
	}
	if transactions != doc.Totals.Transactions || transactions != 301 {
		t.Errorf("%d transactions have a latency, there were %d", transactions, doc.Totals.Transactions)
	}
}

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
			Table: "Narrow", StorageEngine: "InnoDB", Rows: 3000, RowsPerStatement: 100, StatementsPerTransaction: 1, Clients: 2, Tables: 2,
		}},
		"IIBench": {iibench.Definition, &iibench.Parameters{
			Table: "InsertBenchmark", Rows: 3000, RowsPerCommit: 100, RowsPerStatement: 100, StorageEngine: "InnoDB",
			SecondaryIndexes: 3, IndexesAt: "Start", Clients: 2, QueryClients: 1, KeepRows: 1000, ReportEveryRows: 1000,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := warmedUp(t, tc.definition, tc.parameters, 3000)
			rows := int64(0)
			for _, i := range doc.Series {
				rows += i.Rows
			}
			must.Same(t, "rows of the series", int64(3000), rows)
		})
	}
}

// Of several Pods, the first one warms the server up for all.
func TestIntegrationPrimeWithSeveralPods(t *testing.T) {
	tr := newTrialOf(t, bulkinsert.Definition, &bulkinsert.Parameters{
		Table: "Narrow", StorageEngine: "InnoDB", Rows: 3000, RowsPerStatement: 100, StatementsPerTransaction: 1, Clients: 4, Tables: 1,
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

// indebted gives the server some thousand dirty pages, which it would keep.
func indebted(t testing.TB) *sql.DB {
	t.Helper()
	db := other(t)
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS quiesce",
		"DROP TABLE IF EXISTS quiesce.pages",
		"CREATE TABLE quiesce.pages (id INT AUTO_INCREMENT PRIMARY KEY, filler CHAR(250)) ENGINE=InnoDB",
		"INSERT INTO quiesce.pages (filler) VALUES " + strings.Repeat("('x'),", 999) + "('x')",
		"INSERT INTO quiesce.pages (filler) SELECT a.filler FROM quiesce.pages a, (SELECT id FROM quiesce.pages LIMIT 99) b",
	} {
		must.Get(db.Exec(statement))(t)
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE quiesce") })
	return db
}

func TestIntegrationQuiesceReachesItsGoals(t *testing.T) {
	db := indebted(t)
	before := dirtyPages(t)
	found, err := server.Quiesce(t.Context(), testedEngine(t), testedDialect(t), db, server.QuiesceAtMost)
	// A hundredth of the buffer pool of 128 MiB, and what the server writes on its own.
	if after := dirtyPages(t); err != nil || len(found) > 0 || before < 1000 || after > 200 {
		t.Errorf("of %d dirty pages %d are left: findings %v, error %v", before, after, found, err)
	}
}

// A transaction that is left open keeps the server from purging what others change: that is what the warning says.
func TestIntegrationQuiesceNamesTheDebt(t *testing.T) {
	db := indebted(t)
	reader := must.Get(db.Conn(t.Context()))(t)
	// A connection of its own, which is closed with its transaction.
	defer reader.Close()
	must.Get(reader.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT"))(t)
	for i := range 300 {
		must.Get(db.Exec("UPDATE quiesce.pages SET filler = ? WHERE id = 1", strconv.Itoa(i)))(t)
	}
	found, err := server.Quiesce(t.Context(), testedEngine(t), testedDialect(t), db, time.Second)
	if warning := strings.Join(finding.Texts(found), "\n"); err != nil || !strings.HasPrefix(warning, "the server did not settle: after 1 s it still had ") ||
		!strings.Contains(warning, " transactions in the purge history (goal: 100)") {
		t.Errorf("warning %q, error %v", warning, err)
	}
}

// Where the server cannot be asked, it is waited for as long as its debt falls: this one keeps its dirty pages.
func TestIntegrationMariaDBQuiesceOfAServerThatKeepsItsDebt(t *testing.T) {
	db := indebted(t)
	unrequested := *testedEngine(t)
	unrequested.Counters.WriteBack = "SET GLOBAL innodb_no_such_variable=ON"
	began := time.Now()
	found, err := server.Quiesce(t.Context(), &unrequested, testedDialect(t), db, time.Hour)
	if warning := strings.Join(finding.Texts(found), "\n"); err != nil || !strings.Contains(warning, " dirty pages (goal: ") || time.Since(began) > 5*time.Minute {
		t.Errorf("warning %q after %s, error %v", warning, time.Since(began), err)
	}
}

// An attempt that is told to stop does not wait.
func TestIntegrationQuiesceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.Quiesce(ctx, testedEngine(t), testedDialect(t), other(t), time.Hour); err == nil {
		t.Error("the wait went on")
	}
}

func dirtyPages(t testing.TB) int {
	t.Helper()
	status := must.Get(server.Status(t.Context(), testedDialect(t), other(t)))(t)
	n := must.Get(strconv.Atoi(status["Innodb_buffer_pool_pages_dirty"]))(t)
	return n
}

// asSides is the trial of one loader that measures what those trials would.
func asSides(t *testing.T, trials ...*trial) *trial {
	t.Helper()
	all := trials[0]
	sides := &result.Sides{Seed: 3, SliceMilliseconds: 60}
	for i, tr := range trials {
		server := tr.cfg.Server
		if i > 0 {
			server.Schema = "side" + strconv.Itoa(i)
		}
		sides.Each = append(sides.Each, result.Side{
			Variant: "v" + strconv.Itoa(i), Server: server, Workload: tr.config().Workload, LimitSeconds: tr.cfg.LimitSeconds,
		})
	}
	all.cfg.Sides, all.cfg.PrimeSeconds = sides, 1
	return all
}

// Two trials take turns: each measures for as long as was asked for, both together take twice as long, and no row is lost. It is
// the same for whatever clients wait for: answers, each other, or the time at which a transaction is due.
func TestIntegrationSlices(t *testing.T) {
	const seconds = 2
	paced := func() *trial {
		p := commitsize.Parameters{RowsPerCommit: 5}
		p.RatePerSecond = 200
		return newTrial(t, p)
	}
	several := func() *trial {
		return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.RowsPerStatement = 5_000_000, 20 })
	}
	each := func() *trial {
		return newIIBench(t, func(p *iibench.Parameters) {
			p.Rows, p.RowsPerCommit, p.RowsPerStatement, p.Clients, p.QueryClients, p.KeepRows = 5_000_000, 50, 50, 2, 1, 1000
			p.ReportEveryRows = 1000
		})
	}
	one := func() *trial { return newTrial(t, commitsize.Parameters{RowsPerCommit: 1}) }
	for name, made := range map[string][2]func() *trial{
		"one client": {one, one}, "several": {several, one}, "each other": {each, each}, "a rate": {paced, one},
	} {
		t.Run(name, func(t *testing.T) {
			pair := []*trial{made[0](), made[1]()}
			for _, tr := range pair {
				tr.cfg.LimitSeconds = seconds
			}
			_, doc := asSides(t, pair...).mustRun(t)
			var docs []*result.Document
			for i := range doc.Sides {
				docs = append(docs, doc.Side(doc.Sides[i].Variant))
			}
			tookTurns(t, seconds, docs)
		})
	}
}

// tookTurns checks what two loads have measured in slices, each for so many seconds.
func tookTurns(t *testing.T, seconds float64, docs []*result.Document) {
	t.Helper()
	whole := int64(0)
	for i, doc := range docs {
		// A slice waits for what is under way, for seconds on a loaded machine; one piece is none.
		if doc.Turns == nil || doc.Turns.Slices < 3 || doc.Turns.PagesInPauses == nil {
			t.Fatalf("trial %d: turns %+v", i, doc.Turns)
		}
		// What each server needs to come to rest passes once: it is not what the others wait for in their turns.
		if rested, met := phaseOf(doc, "quiesce"), phaseOf(doc, "meet"); rested < 0 || rested > met || met > phaseOf(doc, "probe") {
			t.Errorf("trial %d: phases %+v", i, doc.Phases)
		}
		// At most a quarter of each slice does not count; what is waited for at their ends comes on top.
		if work, counts := float64(doc.Work().Micros), float64(doc.Totals.Micros); work < 0.97*seconds*1e6 || counts < seconds*1e6/2 ||
			counts > 1.5*seconds*1e6 {
			t.Errorf("trial %d made its load for %g µs, of which %g count; want %g s", i, work, counts, seconds)
		}
		whole = max(whole, doc.Turns.Micros)
		var each result.Slice
		for _, s := range doc.Turns.Each {
			each.Micros, each.Statements, each.Rows = each.Micros+s.Micros, each.Statements+s.Statements, each.Rows+s.Rows
		}
		if each.Statements != doc.Totals.Statements || each.Rows != doc.Totals.Rows || each.Micros > doc.Totals.Micros {
			t.Errorf("trial %d: all slices have %+v, want %+v", i, each, doc.Totals)
		}
		sums(t, doc)
	}
	if float64(whole) < 1.94*seconds*1e6 {
		t.Errorf("both together took %d µs, less than one after the other", whole)
	}
}

// phaseOf is the place of a phase among those of a document; -1 if it has none of that name.
func phaseOf(doc *result.Document, name string) int {
	return slices.IndexFunc(doc.Phases, func(p result.Phase) bool { return p.Name == name })
}

// A side that fails takes the others along, and says which it was.
func TestIntegrationSideLost(t *testing.T) {
	dropTable(t)
	sides := asSides(t, newTrial(t, commitsize.Parameters{RowsPerCommit: 1}), newTrial(t, commitsize.Parameters{RowsPerCommit: 1}))
	sides.cfg.Sides.Each[1].Settings = []result.Setting{{Name: "max_connections", Value: "77"}}
	sides.mustFail(t.Context(), t, result.CauseSettingNotEffective, "variant v1", "max_connections")
}
