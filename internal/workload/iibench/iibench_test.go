// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func iiBenchParams() *Parameters {
	return &Parameters{
		Table: schemaInsertBenchmark, Rows: 5000, RowsPerCommit: 1000, RowsPerStatement: 1000, StorageEngine: "InnoDB",
		SecondaryIndexes: 3, IndexesAt: "Start", Clients: 1, ReportEveryRows: 1000,
	}
}

func newTestIIBench(t testing.TB, change func(*Parameters)) *iiBench {
	t.Helper()
	p := iiBenchParams()
	change(p)
	w := must.Get(New(&result.Config{Seed: 42, Workload: workloadtest.Load(Definition, p)}))(t)
	return w.(*iiBench)
}

// The data of a seed never changes: results of different releases would not be comparable.
func TestIIBenchGolden(t *testing.T) {
	for _, tc := range []struct{ schema, row, checksum string }{
		{
			schemaInsertBenchmark, "('2010-01-01 00:00:02',705,71768,1294,318,'aaaaaaaWNE')",
			"rows=1000 xor=955dc4eb sum=2184182523369",
		},
		{
			schemaTokutek2008, "('2010-01-01 00:00:02',705,71768,1294,720.86)",
			"rows=1000 xor=77c060d4 sum=2146371437992",
		},
	} {
		w := newTestIIBench(t, func(p *Parameters) { p.Table = tc.schema })
		if got := string(w.load.AppendRow(nil, 200_001)); got != tc.row {
			t.Errorf("row 200001 of %s is %s, want %s", tc.schema, got, tc.row)
		}
		if got := w.table.Checksum(w.load.Sent([]int64{1000})).String(); got != tc.checksum {
			t.Errorf("checksum of %s is %s, want %s", tc.schema, got, tc.checksum)
		}
	}
}

// The publications' ranges: cash registers to 999, customers to 99,999, products to 9,999; prices to 499, or a hundredth of
// the customer's number and up to 4.99; a second for each 100,000 rows.
func TestIIBenchRanges(t *testing.T) {
	largest := purchase{}
	for n := int64(1); n <= 300_000; n++ {
		p := purchaseOf(generate.NewRows(1), n)
		if p.second != uint64(n-1)/100_000 || p.cashRegister > 999 || p.customer > 99_999 || p.product > 9999 || p.price > 499 {
			t.Fatalf("row %d is %+v", n, p)
		}
		largest.cashRegister, largest.customer = max(largest.cashRegister, p.cashRegister), max(largest.customer, p.customer)
		largest.product, largest.price = max(largest.product, p.product), max(largest.price, p.price)
	}
	if largest.cashRegister != 999 || largest.customer < 99_900 || largest.product < 9990 || largest.price != 499 {
		t.Errorf("the largest values are %+v", largest)
	}
	p := purchase{second: 1, cashRegister: 999, customer: 99_999, product: 9999, price: 499}
	for schema, want := range map[string]string{
		schemaTokutek2008:     "('2010-01-01 00:00:01',999,99999,9999,1004.98)",
		schemaInsertBenchmark: "('2010-01-01 00:00:01',999,99999,9999,499,'aaaaaaaAAA')",
	} {
		row := string(schemas[schema].appendRow(nil, p))
		if row != want || int64(len(row)+1) != schemas[schema].rowBytes {
			t.Errorf("%s: the longest row is %s with %d bytes, want %s and %d", schema, row, len(row)+1, want, schemas[schema].rowBytes)
		}
	}
	if got := string(appendCents(nil, 7)); got != "0.07" {
		t.Errorf("seven cents are %s", got)
	}
}

func TestIIBenchPlan(t *testing.T) {
	plain := newTestIIBench(t, func(*Parameters) {})
	if got := plain.Plan(); got.Clients != 1 || len(got.After) != 0 || got.Milestones.Every != 1000 || got.Rows != 5000 {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(plain.table.Columns, "KEY purchases"); n != 3 {
		t.Errorf("%d secondary indexes in %s", n, plain.table.Columns)
	}
	late := newTestIIBench(t, func(p *Parameters) { p.IndexesAt, p.SecondaryIndexes, p.KeepRows, p.QueryClients = "End", 2, 5, 3 })
	want := []workload.Phase{{Name: "index", Statements: []string{
		"ALTER TABLE purchases_index ADD KEY purchases_index_marketsegment (productid, customerid, price)," +
			" ADD KEY purchases_index_registersegment (cashregisterid, customerid, price)",
	}}}
	if diff := cmp.Diff(want, late.Plan().After); diff != "" || late.Plan().Clients != 5 {
		t.Errorf("%d clients, after (-want +got):\n%s", late.Plan().Clients, diff)
	}
	if strings.Contains(late.table.Columns, "KEY purchases") {
		t.Errorf("secondary indexes from the start: %s", late.table.Columns)
	}
}

func TestNewIIBenchRefuses(t *testing.T) {
	contest := func(p *Parameters) { p.Table, p.AsPublished = schemaTokutek2008, contest2008 }
	for want, change := range map[string]func(*Parameters){
		`table is "x" but must be InsertBenchmark or Tokutek2008`: func(p *Parameters) { p.Table = "x" },
		"clients is 0":          func(p *Parameters) { p.Clients = 0 },
		"queryClients is -1":    func(p *Parameters) { p.QueryClients = -1 },
		"secondaryIndexes is 4": func(p *Parameters) { p.SecondaryIndexes = 4 },
		`indexesAt is "x"`:      func(p *Parameters) { p.IndexesAt = "x" },
		"keepRows is -1":        func(p *Parameters) { p.KeepRows = -1 },
		"reportEveryRows is 0":  func(p *Parameters) { p.ReportEveryRows = 0 },
		`asPublished is "x"`:    func(p *Parameters) { p.AsPublished = "x" },
		`storageEngine is ""`:   func(p *Parameters) { p.StorageEngine = "" },
		"rows is 0":             func(p *Parameters) { p.Rows = 0 },
		"at least one row":      func(p *Parameters) { p.RowsPerCommit = 0 },
		"table is InsertBenchmark but must be Tokutek2008": func(p *Parameters) { p.AsPublished = contest2008 },
		"rowsPerCommit is 10 but must be":                  func(p *Parameters) { contest(p); p.RowsPerCommit = 10 },
		"rowsPerStatement is 1001":                         func(p *Parameters) { contest(p); p.RowsPerStatement = 1001 },
		"must exist from the start":                        func(p *Parameters) { contest(p); p.IndexesAt = indexesAtEnd },
		"deletes and queries are not allowed":              func(p *Parameters) { contest(p); p.QueryClients = 1 },
	} {
		p := iiBenchParams()
		change(p)
		if _, err := New(&result.Config{Workload: workloadtest.Load(Definition, p)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestContestDeviations(t *testing.T) {
	p := &Parameters{AsPublished: contest2008, Rows: contestRows}
	if got := contestDeviations(p, "5.1.25-rc"); len(got) != 1 || !strings.Contains(got[0].String(), "hardware") {
		t.Errorf("the contest itself deviates: %v", got)
	}
	p.Rows = 7
	if got := contestDeviations(p, "11.8.3-MariaDB"); len(got) != 3 || !strings.Contains(got[0].String(), "7 rows instead of 1000000000") ||
		!strings.Contains(got[1].String(), "11.8.3-MariaDB") {
		t.Errorf("%v", got)
	}
}
