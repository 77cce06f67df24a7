// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	ownsql "github.com/benchrun-dev/benchrun/internal/workload/statements"
)

const shop = "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL);\n" +
	"INSERT INTO accounts VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0);\n" +
	"CREATE TABLE payments (id BIGINT, amount BIGINT NOT NULL);\n"

// pay moves money, and look reads what there is: three accounts.
var payAndLook = []ownsql.Transaction{
	{Name: "pay", Weight: 3, Script: "\\set id random_zipfian(1, 10, 1.1)\n\\set amount random(1, 50)\n" +
		"UPDATE accounts SET balance = balance + :amount WHERE id = :id;\nINSERT INTO payments VALUES (:id, :amount)"},
	{Name: "look", Weight: 1, Script: "\\set first random(1, 8)\nSELECT * FROM accounts WHERE id BETWEEN :first AND :first + 2"},
}

func newStatements(t *testing.T, p ownsql.Parameters) *trial {
	t.Helper()
	p.Clients, p.Transactions, p.Setup = max(p.Clients, 1), payAndLook, &ownsql.Setup{Name: "shop", Key: "shop.sql"}
	tr := newTrialOf(t, ownsql.Definition, &p)
	tr.cfg.Workload.FilesPath, tr.cfg.LimitSeconds = t.TempDir(), 2
	must.Write(t, filepath.Join(tr.cfg.Workload.FilesPath, "shop.sql"), shop)
	return tr
}

// What was sent is in the tables, by either protocol, and is counted by the kinds of transactions.
func TestIntegrationStatements(t *testing.T) {
	for _, protocol := range []string{"Prepared", "Text"} {
		t.Run(protocol, func(t *testing.T) {
			tr := newStatements(t, ownsql.Parameters{Protocol: protocol, Clients: 4, WarmupSeconds: 1})
			tr.cfg.ErrorPercent = 100
			_, doc := tr.mustRun(t)
			of := map[string]result.Latency{}
			for _, l := range doc.Latencies {
				of[l.Operation] = l
			}
			pays, looks := of["pay"].Count, of["look"].Count
			if pays < 1 || looks < 1 || pays+looks != doc.Totals.Transactions || of["transaction"].Count != doc.Totals.Transactions {
				t.Errorf("latencies %v, totals %+v", of, doc.Totals)
			}
			for _, plan := range []string{"plan of pay, statement 1", "plan of look, statement 1"} {
				if !strings.Contains(doc.ToolOutput[plan], "accounts") {
					t.Errorf("%s: %q", plan, doc.ToolOutput[plan])
				}
			}
			m, seconds := metricsOf(doc), time.Duration(doc.Totals.Micros)*time.Microsecond
			must.Same(t, "headline", "transactionsPerSecond", doc.Metrics[0].Name)
			if rows := m["lookRowsPerSecond"] * seconds.Seconds() / float64(looks); fmt.Sprintf("%.3f", rows) != "3.000" {
				t.Errorf("a look has %g rows", rows)
			}
			if rows := m["payRowsPerSecond"] * seconds.Seconds() / float64(pays); fmt.Sprintf("%.3f", rows) != "2.000" {
				t.Errorf("a payment changes %g rows", rows)
			}
			var balances, payments, n int64
			db := other(t)
			must.Do(t, db.QueryRow("SELECT SUM(balance) FROM bench.accounts").Scan(&balances))
			must.Do(t, db.QueryRow("SELECT SUM(amount), COUNT(*) FROM bench.payments").Scan(&payments, &n))
			if balances != payments || n < pays || tr.cfg.Server.Borrowed {
				t.Errorf("balances add up to %d, %d payments to %d; %d were measured", balances, n, payments, pays)
			}
		})
	}
}

func TestIntegrationStatementsAtARate(t *testing.T) {
	tr := newStatements(t, ownsql.Parameters{Protocol: "Prepared", Clients: 4, RatePerSecond: 100})
	_, doc := tr.mustRun(t)
	if n := doc.Totals.Transactions; n > 200 || n < 1 {
		t.Errorf("%d transactions in 2 s at 100/s", n)
	}
	must.Same(t, "offered", 100.0, metricsOf(doc)["offeredTransactionsPerSecond"])
}

func TestIntegrationStatementsRefused(t *testing.T) {
	tr := newStatements(t, ownsql.Parameters{Protocol: "Prepared"})
	tr.parameters.(*ownsql.Parameters).Transactions = []ownsql.Transaction{{Name: "x", Weight: 1, Script: "SELECT 1;\nSELECT nothing"}}
	tr.mustFail(t.Context(), t, result.CauseSQL, "transaction x, statement 2, line 2: ", "nothing")
	tr = newStatements(t, ownsql.Parameters{Protocol: "Prepared"})
	tr.parameters.(*ownsql.Parameters).Transactions = []ownsql.Transaction{{Name: "x", Weight: 1, Script: "SELECT :y"}}
	tr.mustFail(t.Context(), t, result.CauseConfiguration, "workload Statements: transactions: x: line 1: the variable")
	tr = newStatements(t, ownsql.Parameters{Protocol: "Text"})
	must.Write(t, filepath.Join(tr.cfg.Workload.FilesPath, "shop.sql"), "CREATE TABLE a (b INT);\nCREATE NONSENSE;\n")
	tr.mustFail(t.Context(), t, result.CauseSQL, "setup: ", "line 2: ", "NONSENSE")
}
