// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// newChain is an attempt with the chain of the insert benchmark, small.
func newChain(t *testing.T, change func(*iibench.Parameters)) *trial {
	t.Helper()
	return newIIBench(t, func(p *iibench.Parameters) {
		p.Clients = 2
		p.Stages = []iibench.StageParameters{
			{Name: "l.i0", Insert: &iibench.InsertParameters{Rows: 20_000, RowsPerCommit: 100}},
			{Name: "l.x", CreateIndexes: 3},
			{Name: "l.i1", Insert: &iibench.InsertParameters{Rows: 4000, RowsPerCommit: 50, DeletePerInsert: true}},
			{Name: "rest", Rest: &iibench.RestParameters{AtLeastSeconds: 2}},
			{Name: "qr100", Query: &iibench.QueryParameters{By: "SecondaryRange", Seconds: 3, RatePerSecond: 200, RowsPerCommit: 10, DeletePerInsert: true}},
			{Name: "qp100", Query: &iibench.QueryParameters{By: "PrimaryKey", Seconds: 3, RatePerSecond: 200, RowsPerCommit: 10}},
		}
		change(p)
	})
}

// A chain is measured stage by stage on one data set: each stage has its own totals, series and counters, and what is left at the
// end is what all of them have sent.
func TestIntegrationChain(t *testing.T) {
	for _, tables := range []string{"PerClient", "Shared"} {
		deletes := tables == "PerClient"
		tr := newChain(t, func(p *iibench.Parameters) {
			p.Tables = tables
			p.Stages[2].Insert.DeletePerInsert, p.Stages[4].Query.DeletePerInsert = deletes, deletes
		})
		summary, doc := tr.mustRun(t)
		if summary.Stages != nil || len(doc.Metrics) != 0 {
			t.Errorf("the termination message has stages %+v, the document metrics %+v", summary.Stages, doc.Metrics)
		}
		var names []string
		sum, left := result.Totals{}, int64(0)
		for _, one := range doc.Measurements() {
			sums(t, one)
			names = append(names, one.Config.Parameters["stage"])
			sum.Rows, sum.RowsDeleted = sum.Rows+one.Totals.Rows, sum.RowsDeleted+one.Totals.RowsDeleted
			left += one.Totals.Rows - one.Totals.RowsDeleted
			checkStage(t, tables, one)
			if deletes && names[len(names)-1] != "qp100" && left != 20_000 {
				t.Errorf("%s: %d rows are left after stage %s", tables, left, names[len(names)-1])
			}
		}
		if got := strings.Join(names, " "); got != "l.i0 l.x l.i1 qr100 qp100" {
			t.Errorf("stages %s", got)
		}
		if doc.Totals.Rows != sum.Rows || doc.Totals.RowsDeleted != sum.RowsDeleted || len(doc.Checks) != 2 || !doc.Checks[1].Passed {
			t.Errorf("totals %+v, checks %+v", doc.Totals, doc.Checks)
		}
		if want := fmt.Sprintf("%d committed, %d in the table", left, left); doc.Checks[0].Detail != want {
			t.Errorf("check %+v, want %s", doc.Checks[0], want)
		}
		for _, p := range doc.Phases {
			if p.Name == "rest" && (p.Micros < 2_000_000 || p.Micros > 20_000_000) {
				t.Errorf("the rest took %d µs", p.Micros)
			}
		}
	}
}

// checkStage has what each kind of stage must say.
func checkStage(t *testing.T, tables string, one *result.Document) {
	t.Helper()
	name, m := one.Config.Parameters["stage"], metricsOf(one)
	if one.Metrics[0].Name != "operationsPerSecond" || one.Metrics[0].Value <= 0 || m["tableBytes"] < 100_000 {
		t.Errorf("%s: metrics of %s are %v", tables, name, m)
	}
	if one.Checks[0].Name != "ids" || !one.Checks[0].Passed || one.Server.StatusAfter["Questions"] == one.Server.StatusBefore["Questions"] {
		t.Errorf("%s: %s: check %+v", tables, name, one.Checks[0])
	}
	latency := map[string]string{"l.i0": "insert", "l.x": "index", "l.i1": "insert", "qr100": "query", "qp100": "query"}[name]
	if counts(one)[latency] == 0 || m["longestOperationMicros"] == 0 {
		t.Errorf("%s: %s has latencies of %v", tables, name, counts(one))
	}
	switch name {
	case "qr100", "qp100":
		if m["queriesPerSecond"] != m["operationsPerSecond"] || m["perSecondRateP50"] < m["perSecondRateP99"] || m["perSecondRateP99"] <= 0 {
			t.Errorf("%s: metrics of %s are %v", tables, name, m)
		}
		// The last transaction is due when the time is over.
		if one.Totals.Micros < 2_900_000 || one.Totals.Micros > 6_000_000 || one.Totals.Rows > 600 || one.Totals.Rows < 300 || m["offeredRowsPerSecond"] != 200 {
			t.Errorf("%s: totals of %s are %+v", tables, name, one.Totals)
		}
	case "l.x":
		if one.Totals.Rows != 0 || counts(one)["index"] != map[string]int64{"PerClient": 2, "Shared": 1}[tables] {
			t.Errorf("%s: totals of %s are %+v", tables, name, one.Totals)
		}
	}
}

// A rate that cannot be reached is found in its stage, and in no other.
func TestIntegrationChainMissesARate(t *testing.T) {
	tr := newChain(t, func(p *iibench.Parameters) {
		p.Stages = []iibench.StageParameters{p.Stages[0], p.Stages[5]}
		p.Stages[1].Query.RatePerSecond, p.Stages[1].Query.RowsPerCommit = 50_000_000, 1
	})
	_, doc := tr.mustRun(t)
	missed := func(d *result.Document) bool {
		return slices.ContainsFunc(d.Findings, func(f finding.Finding) bool { return f.Code == finding.RateNotReached })
	}
	if list := doc.Measurements(); missed(list[0]) || !missed(list[1]) {
		t.Errorf("findings %v and %v", list[0].Findings, list[1].Findings)
	}
}

// Rows that somebody else inserts between two stages are found by the next one's check, before anything else is measured.
func TestIntegrationChainDisturbed(t *testing.T) {
	mustExec(t, "DROP TABLE IF EXISTS bench.purchases_index_1")
	tr := newChain(t, func(*iibench.Parameters) {})
	whileFilling(t, "purchases_index_1", 10_000, func(db *sql.DB) {
		if _, err := db.Exec("INSERT INTO bench.purchases_index_1 (cashregisterid, customerid, productid, price) VALUES (1, 2, 3, 4)"); err != nil {
			t.Error(err)
		}
	})
	tr.mustFail(t.Context(), t, result.CauseCheckFailed, "ids")
}

// A server is primed with the first stage; nothing of that is left.
func TestIntegrationChainPrimed(t *testing.T) {
	tr := newChain(t, func(p *iibench.Parameters) { p.Stages = p.Stages[:2] })
	tr.cfg.PrimeSeconds = 1
	if _, doc := tr.mustRun(t); doc.Totals.Rows != 20_000 || doc.Phases[2].Name != "prime" {
		t.Errorf("totals %+v, phases %+v", doc.Totals, doc.Phases)
	}
}

// With an observer, each stage has all of its columns: what it took per operation, and the sizes after it. (The process of the test
// stands for the server's.)
func TestIntegrationChainObserved(t *testing.T) {
	tr := newChain(t, func(p *iibench.Parameters) { p.Stages = slices.Delete(p.Stages, 3, 4) })
	tr.cfg.Server.ObserverPort = freePort(t)
	proc, name := onlyThisProcess(t)
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "ibdata1"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &observer.Observer{
		Port: tr.cfg.Server.ObserverPort, Processes: []string{name}, Data: data, PasswordFile: tr.cfg.Server.PasswordFile, Proc: proc,
	}
	go o.Run(t.Context())
	summary, doc := tr.mustRun(t)
	if summary.Observed == nil || summary.Observed.Probe == nil || doc.Observed.Before == nil || doc.Observed.After == nil {
		t.Errorf("of the whole attempt was observed %+v", summary.Observed)
	}
	for _, one := range doc.Measurements() {
		m, stage := metricsOf(one), one.Config.Parameters["stage"]
		t.Log(stage, m)
		for _, column := range []string{
			"operationsPerSecond", "serverMicrosPerOperation", "serverBytesReadPerOperation", "serverBytesWrittenPerOperation",
			"serverFileCallsPerOperation", "serverSwitchesPerOperation", "clientMicrosPerOperation", "longestOperationMicros",
			"tableBytes", "dataDirectoryBytes", "serverMaxRSSBytes",
		} {
			if _, known := m[column]; !known {
				t.Errorf("stage %s has no %s: %v", stage, column, m)
			}
		}
		if m["dataDirectoryBytes"] != 4096 || m["clientMicrosPerOperation"] <= 0 || one.Observed.Before == one.Observed.After {
			t.Errorf("stage %s: %v", stage, m)
		}
	}
}
