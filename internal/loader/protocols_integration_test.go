// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
)

// protocols that the server under test has.
func protocols(t *testing.T) []string {
	t.Helper()
	if testedEngine(t) == &engine.MySQL {
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
			if diff := cmp.Diff(want, doc.Totals); diff != "" {
				t.Errorf("%s by %s: totals (-want +got):\n%s", table, protocol, diff)
			}
			sums(t, doc)
			seen[protocol] = checksum(doc)
			if seen["Text"] == "" || seen[protocol] != seen["Text"] {
				t.Errorf("%s: the same seed gave %v", table, seen)
			}
		}
	}
}

// Rows follow those of a warm-up, and each is there once, whatever the protocol, the table and the sizes.
func TestIntegrationProtocolsAfterWarmUp(t *testing.T) {
	for _, table := range []string{"FileList", "Narrow"} {
		for _, protocol := range protocols(t) {
			for _, rows := range []int64{40, 3003} {
				_, doc := newBulkInsert(t, func(p *bulkinsert.Parameters) {
					p.Table, p.Tables, p.Protocol, p.Rows, p.RowsPerStatement = table, 2, protocol, rows, 50
					p.Parameters = pace.Parameters{WarmupSeconds: 1}
				}).mustRun(t)
				if doc.Totals.Rows != rows || checksum(doc) == "" {
					t.Errorf("%s by %s: totals %+v, checks %+v", table, protocol, doc.Totals, doc.Checks)
				}
				sums(t, doc)
			}
		}
	}
}

// Whoever waits for a lock for too long tries again, whatever the protocol: each row is there once.
func TestIntegrationProtocolsTryAgain(t *testing.T) {
	for _, protocol := range protocols(t)[1:] {
		if _, err := other(t).Exec("DROP TABLE IF EXISTS bench.narrow"); err != nil {
			t.Fatal(err)
		}
		t.Run(protocol, func(t *testing.T) {
			tr := newBulkInsert(t, func(p *bulkinsert.Parameters) {
				p.Table, p.Protocol, p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Concurrency = "Narrow", protocol, 1e9, 7, 3, 2
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
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_commit'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Over an encrypted connection, the same is sent in the same statements: it is the same client.
func TestIntegrationProtocolsEncrypted(t *testing.T) {
	if !encrypts(t) {
		t.Skip("the server does not encrypt")
	}
	for _, protocol := range protocols(t) {
		plain := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Protocol, p.Rows = protocol, 10_001 })
		_, want := plain.mustRun(t)
		encrypted := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Protocol, p.Rows = protocol, 10_001 })
		encrypted.cfg.Server.TLS = result.TLSRequired
		_, doc := encrypted.mustRun(t)
		doc.Totals.Micros = want.Totals.Micros
		if diff := cmp.Diff(want.Totals, doc.Totals); diff != "" || checksum(doc) != checksum(want) || !strings.HasPrefix(doc.Server.Encryption, "TLSv1.3 ") {
			t.Errorf("%s, encryption %q: totals (-plain +encrypted):\n%s", protocol, doc.Server.Encryption, diff)
		}
		if limit := doc.Totals.Statements / 10; doc.Client.LateAnswers > limit {
			t.Errorf("%s: of %d answers it is not known when they came", protocol, doc.Client.LateAnswers)
		}
	}
}
