//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

func newBulkInsert(t testing.TB, change func(*bulkinsert.Parameters)) *trial {
	t.Helper()
	p := &bulkinsert.Parameters{
		Table: "FileList", Tables: 1, Rows: 10_000, RowsPerStatement: 300, StatementsPerTransaction: 2, Clients: 3, StorageEngine: "InnoDB",
	}
	change(p)
	return newTrialOf(t, bulkinsert.Definition, p)
}

func newIIBench(t testing.TB, change func(*iibench.Parameters)) *trial {
	t.Helper()
	p := &iibench.Parameters{
		Table: "InsertBenchmark", Rows: 25_000, RowsPerCommit: 1000, RowsPerStatement: 1000, StorageEngine: "InnoDB",
		SecondaryIndexes: 3, IndexesAt: "Start", Clients: 1, ReportEveryRows: 10_000,
	}
	change(p)
	return newTrialOf(t, iibench.Definition, p)
}

// sums checks that the series and the totals say the same.
func sums(t *testing.T, doc *result.Document) {
	t.Helper()
	var sum result.Totals
	for i := range doc.Series {
		of := doc.Series[i].Totals()
		sum.Add(&of)
	}
	got := doc.Totals
	got.Statements, got.Micros, got.StoppedBy = 0, 0, ""
	must.Same(t, "the series does not add up to the totals", got, sum)
}

func metricsOf(doc *result.Document) map[string]float64 {
	all := map[string]float64{}
	for _, m := range doc.Metrics {
		all[m.Name] = m.Value
	}
	return all
}

func checksum(doc *result.Document) string {
	i := slices.IndexFunc(doc.Checks, func(c result.Check) bool { return c.Name == "checksum" })
	if i < 0 {
		return ""
	}
	return doc.Checks[i].Detail
}

func TestIntegrationBulkInsert(t *testing.T) {
	for _, table := range []string{"FileList", "Narrow"} {
		sumsSeen := map[string]bool{}
		for _, shape := range []struct {
			perStatement, perTransaction int64
			clients, tables              int
			statements, transactions     int64
		}{
			{perStatement: 1000, perTransaction: 1, clients: 1, tables: 1, statements: 20, transactions: 10},
			{perStatement: 300, perTransaction: 2, clients: 3, tables: 2, statements: 34 + 17, transactions: 17},
			{perStatement: 7, perTransaction: 100, clients: 8, tables: 8, statements: 1429 + 15, transactions: 15},
			{perStatement: 20_000, perTransaction: 64, clients: 2, tables: 3, statements: 2, transactions: 1},
		} {
			_, doc := newBulkInsert(t, func(p *bulkinsert.Parameters) {
				p.Table, p.Clients, p.Tables = table, shape.clients, shape.tables
				p.RowsPerStatement, p.StatementsPerTransaction = shape.perStatement, shape.perTransaction
			}).mustRun(t)
			want := result.Totals{
				Rows: 10_000, Transactions: shape.transactions, Statements: shape.statements,
				Micros: doc.Totals.Micros, StoppedBy: result.StoppedByRows,
			}
			must.Same(t, fmt.Sprintf("%s %+v: totals", table, shape), want, doc.Totals)
			sums(t, doc)
			sumsSeen[checksum(doc)] = true
		}
		if len(sumsSeen) != 1 || sumsSeen[""] {
			t.Errorf("%s: the same seed gave %v", table, sumsSeen)
		}
	}
}

func TestIntegrationStorageEngines(t *testing.T) {
	var seen []string
	for _, engine := range storageEngines(t) {
		_, doc := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.StorageEngine = engine }).mustRun(t)
		seen = append(seen, checksum(doc))
	}
	if len(slices.Compact(seen)) != 1 {
		t.Errorf("checksums %v", seen)
	}
	newBulkInsert(t, func(p *bulkinsert.Parameters) { p.StorageEngine = "Nonsense" }).
		mustFail(t.Context(), t, result.CauseSQL, "Unknown storage engine 'Nonsense'")
	newIIBench(t, func(p *iibench.Parameters) { p.StorageEngine = "Nonsense" }).
		mustFail(t.Context(), t, result.CauseSQL, "Unknown storage engine 'Nonsense'")
}

// A server without NO_ENGINE_SUBSTITUTION makes the table with another engine, and warns, but the warning is not read.
func TestIntegrationStorageEngineIsNotSubstituted(t *testing.T) {
	db := other(t)
	before := globals(t)["sql_mode"]
	must.Get(db.Exec("SET GLOBAL sql_mode = ''"))(t)
	t.Cleanup(func() { must.Get(db.Exec("SET GLOBAL sql_mode = ?", before))(t) })
	newBulkInsert(t, func(p *bulkinsert.Parameters) { p.StorageEngine = "Nonsense" }).mustFail(t.Context(), t,
		result.CauseConfiguration, "storage engine Nonsense was requested, but the server created the table with InnoDB")
}

func TestIntegrationStatementLargerThanPacket(t *testing.T) {
	packet := globals(t)["max_allowed_packet"]
	bytes := must.Get(strconv.ParseInt(packet, 10, 64))(t)
	rows := bytes / 100
	dropInserts(t)
	newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.RowsPerStatement = rows, rows }).mustFail(t.Context(), t,
		result.CauseConfiguration, fmt.Sprintf("a statement of %d rows takes up to ", rows), "max_allowed_packet is "+packet)
	var tables int
	const query = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'bench' AND table_name = 'inserts'"
	if err := other(t).QueryRow(query).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were made, %v", tables, err)
	}
}

func dropInserts(t *testing.T) {
	t.Helper()
	must.Get(other(t).Exec("DROP TABLE IF EXISTS bench.inserts"))(t)
}

func TestIntegrationIIBench(t *testing.T) {
	for _, schema := range []string{"InsertBenchmark", "Tokutek2008"} {
		seen := map[string]bool{}
		for _, engine := range storageEngines(t) {
			_, doc := newIIBench(t, func(p *iibench.Parameters) { p.Table, p.StorageEngine = schema, engine }).mustRun(t)
			seen[checksum(doc)] = true
			sums(t, doc)
			checkMilestones(t, doc)
			if !slices.ContainsFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == "rowsPerSecond" && m.Shown }) {
				t.Errorf("the overall rate is not shown: %+v", doc.Metrics)
			}
			if doc.Metrics[0].Name != "terminalRowsPerSecond" || doc.Metrics[0].Value < 100 || doc.Totals.Transactions != 25 {
				t.Errorf("metrics %+v, totals %+v", doc.Metrics, doc.Totals)
			}
		}
		_, doc := newIIBench(t, func(p *iibench.Parameters) {
			p.Table, p.Clients, p.RowsPerStatement, p.SecondaryIndexes = schema, 4, 300, 1
		}).mustRun(t)
		seen[checksum(doc)] = true
		if want := int64(25 + 4*25); doc.Totals.Statements != want {
			t.Errorf("%d statements, want %d: none spans two transactions", doc.Totals.Statements, want)
		}
		if len(seen) != 1 || seen[""] {
			t.Errorf("%s: the same seed gave %v", schema, seen)
		}
	}
}

func checkMilestones(t *testing.T, doc *result.Document) {
	t.Helper()
	var rows []int64
	last := result.Milestone{}
	for _, m := range doc.Milestones {
		rows = append(rows, m.Rows)
		if m.Micros <= last.Micros || m.RowsPerSecond <= 0 || m.OverallRowsPerSecond <= 0 || m.TableBytes < 1 || m.IndexBytes < 1 {
			t.Errorf("milestone %+v after %+v", m, last)
		}
		last = m
	}
	must.Same(t, "milestones", []int64{10_000, 20_000, 25_000}, rows)
	if last.Micros > doc.Totals.Micros {
		t.Errorf("the last milestone is at %d of %d µs", last.Micros, doc.Totals.Micros)
	}
}

func TestIntegrationIIBenchIndexesAtEnd(t *testing.T) {
	_, doc := newIIBench(t, func(p *iibench.Parameters) { p.IndexesAt = "End"; p.QueryClients = 1 }).mustRun(t)
	i := slices.IndexFunc(doc.Phases, func(p result.Phase) bool { return p.Name == "index" })
	if i < 0 || doc.Phases[i-1].Name != "measure" || doc.Phases[i+1].Name != "sizes" || doc.Phases[i+2].Name != "verify" {
		t.Fatalf("phases %v", doc.Phases)
	}
	if got, want := metricsOf(doc)["indexSeconds"], float64(doc.Phases[i].Micros)/1e6; got != want || got <= 0 {
		t.Errorf("the indexes took %g s, the phase %g s", got, want)
	}
	if doc.Milestones[2].IndexBytes != 0 {
		t.Errorf("there were indexes before: %+v", doc.Milestones[2])
	}
	var indexes int
	const query = "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics" +
		" WHERE table_schema = 'bench' AND table_name = 'purchases_index'"
	if err := other(t).QueryRow(query).Scan(&indexes); err != nil || indexes != 4 {
		t.Errorf("%d indexes, %v", indexes, err)
	}
}

func TestIntegrationIIBenchDeletesAndQueries(t *testing.T) {
	for _, schema := range []string{"InsertBenchmark", "Tokutek2008"} {
		_, doc := newIIBench(t, func(p *iibench.Parameters) {
			p.Table, p.KeepRows, p.QueryClients, p.Clients = schema, 5000, 2, 2
		}).mustRun(t)
		sums(t, doc)
		if tt := doc.Totals; tt.Rows != 25_000 || tt.RowsDeleted != 20_000 || tt.Queries < 10 {
			t.Errorf("totals %+v", tt)
		}
		counts := map[string]int64{}
		for _, l := range doc.Latencies {
			counts[l.Operation] = l.Count
		}
		if counts["delete"] < 20 || counts["query"] != doc.Totals.Queries || counts["insert"] != 25 {
			t.Errorf("latencies %v", counts)
		}
		m := metricsOf(doc)
		if m["rowsDeletedPerSecond"] <= 0 || m["queriesPerSecond"] <= 0 {
			t.Errorf("metrics %v", m)
		}
		if got := doc.Checks[0]; !got.Passed || !strings.Contains(got.Detail, "25000 committed, 20000 deleted, 5000 in the table") {
			t.Errorf("checks %+v", doc.Checks)
		}
	}
}

func TestIntegrationIIBenchUnfinished(t *testing.T) {
	tr := newIIBench(t, func(p *iibench.Parameters) { p.Rows = 1e9 })
	tr.cfg.LimitSeconds = 1
	summary, doc := tr.mustRun(t)
	m := metricsOf(doc)
	left := float64(1e9 - doc.Totals.Rows)
	if want := float64(doc.Totals.Micros)/1e6 + left/m["terminalRowsPerSecond"]; m["estimatedSeconds"] != want {
		t.Errorf("estimated %g s, want %g", m["estimatedSeconds"], want)
	}
	if text := strings.Join(finding.Texts(summary.Findings), "\n"); !strings.Contains(text, fmt.Sprintf("after %d of 1000000000 rows", doc.Totals.Rows)) {
		t.Errorf("warnings %s", text)
	}
}

func TestIntegrationContest2008(t *testing.T) {
	_, doc := newIIBench(t, func(p *iibench.Parameters) { p.Table, p.AsPublished = "Tokutek2008", "Contest2008" }).mustRun(t)
	text := strings.Join(finding.Texts(doc.Findings), "\n")
	for _, word := range []string{"25000 rows instead of 1000000000", "server version " + doc.Server.Version, "the hardware"} {
		if !strings.Contains(text, "deviates from Contest2008: "+word) {
			t.Errorf("no deviation %q in %s", word, text)
		}
	}
	flush := doc.Phases[len(doc.Phases)-3]
	if flush.Name != "flush" || doc.Phases[len(doc.Phases)-2].Name != "sizes" {
		t.Errorf("phases %v", doc.Phases)
	}
	m := metricsOf(doc)
	if want := float64(doc.Totals.Micros+flush.Micros) / 1e6; m["elapsedSeconds"] != want || m["flushSeconds"] <= 0 {
		t.Errorf("elapsed %g s with the flush, want %g; metrics %v", m["elapsedSeconds"], want, m)
	}
	newIIBench(t, func(p *iibench.Parameters) { p.AsPublished = "Contest2008" }).mustFail(t.Context(), t, result.CauseConfiguration,
		"asPublished Contest2008: table is InsertBenchmark but must be Tokutek2008")
}

// InnoDB says for a while how large a table was: the size of the end is that after it has counted again.
func TestIntegrationIIBenchSize(t *testing.T) {
	var sizes []float64
	for _, rows := range []int64{25_000, 60_000} {
		_, doc := newIIBench(t, func(p *iibench.Parameters) { p.Rows = rows }).mustRun(t)
		db := other(t)
		must.Get(db.Exec("ANALYZE TABLE bench.purchases_index"))(t)
		var want float64
		must.Do(t, db.QueryRow("SELECT data_length + index_length FROM information_schema.tables "+
			"WHERE table_schema = 'bench' AND table_name = 'purchases_index'").Scan(&want))
		if got := metricsOf(doc)["sizeBytes"]; got != want || want <= 0 {
			t.Errorf("%d rows: size %g, and the server has counted %g", rows, got, want)
		}
		sizes = append(sizes, metricsOf(doc)["sizeBytes"])
	}
	if sizes[1] <= sizes[0] {
		t.Errorf("sizes %v", sizes)
	}
}

// One client's error ends those that wait for it instead of for the server.
func TestIntegrationAClientsErrorEndsTheOthers(t *testing.T) {
	tr := newIIBench(t, func(p *iibench.Parameters) { p.Rows, p.KeepRows, p.QueryClients, p.Clients = 1e9, 1000, 2, 3 })
	dropPurchases := func() {
		db := other(t)
		if err := eventually(func() bool {
			var n int
			return db.QueryRow("SELECT COUNT(*) FROM bench.purchases_index").Scan(&n) == nil && n >= 1000
		}); err != nil {
			t.Error(err)
		}
		if _, err := db.Exec("DROP TABLE bench.purchases_index"); err != nil {
			t.Error(err)
		}
	}
	must.Get(other(t).Exec("DROP TABLE IF EXISTS bench.purchases_index"))(t)
	done := make(chan struct{})
	go func() { defer close(done); dropPurchases() }()
	tr.mustFail(t.Context(), t, result.CauseSQL, "doesn't exist")
	<-done
}

// protocols that the server under test has.
func protocols(t *testing.T) []string {
	t.Helper()
	if testedEngine(t) == engine.MySQL {
		return []string{"Text", "Prepared"}
	}
	return []string{"Text", "Prepared", "Bulk"}
}

// The rows are the same however they are sent, in statements and transactions of the same sizes. The last statement is a shorter
// one.
func TestIntegrationProtocols(t *testing.T) {
	for _, table := range []string{"FileList", "Narrow"} {
		seen := map[string]string{}
		for _, protocol := range protocols(t) {
			_, doc := newBulkInsert(t, func(p *bulkinsert.Parameters) {
				p.Table, p.Tables, p.Protocol, p.Rows = table, 2, protocol, 10_001
			}).mustRun(t)
			want := result.Totals{
				Rows: 10_001, Transactions: 17, Statements: 34 + 17, Micros: doc.Totals.Micros, StoppedBy: result.StoppedByRows,
			}
			must.Same(t, fmt.Sprintf("%s by %s: totals", table, protocol), want, doc.Totals)
			sums(t, doc)
			seen[protocol] = checksum(doc)
			if seen["Text"] == "" || seen[protocol] != seen["Text"] {
				t.Errorf("%s: the same seed gave %v", table, seen)
			}
		}
	}
}

// A client that waits for a lock for too long tries again, whatever the protocol: each row is there once.
func TestIntegrationProtocolsTryAgain(t *testing.T) {
	for _, protocol := range protocols(t)[1:] {
		must.Get(other(t).Exec("DROP TABLE IF EXISTS bench.narrow"))(t)
		t.Run(protocol, func(t *testing.T) {
			tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
				p.Table, p.Protocol, p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Clients = "Narrow", protocol, 1e9, 7, 3, 2
			})
			tr.cfg.LimitSeconds, tr.cfg.ErrorPercent = 4, 50
			inTheWayOf(t, "narrow")
			_, doc := tr.mustRun(t)
			sums(t, doc)
			if doc.Totals.Errors < 1 || checksum(doc) == "" {
				t.Errorf("totals %+v, checks %+v", doc.Totals, doc.Checks)
			}
		})
	}
}

// What the server commits by itself takes no COMMIT: there are as many transactions, and no latency of one.
func TestIntegrationAutocommit(t *testing.T) {
	for _, protocol := range protocols(t) {
		db := other(t)
		latencies := map[string]bool{}
		commits := commitsOf(t, db)
		_, doc := newBulkInsert(t, func(p *bulkinsert.Parameters) {
			p.Protocol, p.Commit, p.StatementsPerTransaction, p.RowsPerStatement = protocol, "Autocommit", 1, 250
		}).mustRun(t)
		if doc.Totals.Transactions != 40 || doc.Totals.Statements != 40 || checksum(doc) == "" {
			t.Errorf("%s: totals %+v", protocol, doc.Totals)
		}
		for _, l := range doc.Latencies {
			latencies[l.Operation] = true
		}
		if !latencies["insert"] || latencies["commit"] || commitsOf(t, db) != commits {
			t.Errorf("%s: latencies of %v, %d commits before and %d after", protocol, latencies, commits, commitsOf(t, db))
		}
		sums(t, doc)
	}
	_, doc := newTrial(t, commitsize.Parameters{Rows: 500, RowsPerCommit: 1, Commit: "Autocommit"}).mustRun(t)
	if doc.Totals.Transactions != 500 || doc.Totals.Statements != 500 || checksum(doc) == "" {
		t.Errorf("CommitSize: totals %+v", doc.Totals)
	}
}

// commitsOf is how many COMMITs the server was sent.
func commitsOf(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	var name string
	must.Do(t, db.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_commit'").Scan(&name, &n))
	return n
}
