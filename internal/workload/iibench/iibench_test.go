// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

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
		"clients is 0":                             func(p *Parameters) { p.Clients = 0 },
		"queryClients is -1":                       func(p *Parameters) { p.QueryClients = -1 },
		"secondaryIndexes is 4":                    func(p *Parameters) { p.SecondaryIndexes = 4 },
		`indexesAt is "x"`:                         func(p *Parameters) { p.IndexesAt = "x" },
		"keepRows is -1":                           func(p *Parameters) { p.KeepRows = -1 },
		"reportEveryRows is 0":                     func(p *Parameters) { p.ReportEveryRows = 0 },
		`asPublished is "x"`:                       func(p *Parameters) { p.AsPublished = "x" },
		`storageEngine is ""`:                      func(p *Parameters) { p.StorageEngine = "" },
		"rows is 0":                                func(p *Parameters) { p.Rows = 0 },
		"the number of rows of a transaction is 0": func(p *Parameters) { p.RowsPerCommit = 0 },
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

// play runs all clients of a workload against scripts; each DELETE finds as many rows as it asks for.
func play(t *testing.T, w *iiBench) ([]*workloadtest.Script, []error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	scripts := make([]*workloadtest.Script, w.Plan().Clients)
	errs := make([]error, len(scripts))
	var working sync.WaitGroup
	for i := range scripts {
		scripts[i] = &workloadtest.Script{}
		working.Go(func() {
			if _, errs[i] = w.Measure(ctx, workloadtest.Client(i, scripts[i])); errs[i] != nil {
				cancel()
			}
		})
	}
	working.Wait()
	return scripts, errs
}

func TestIIBenchDeletesAsMuchAsItInserts(t *testing.T) {
	w := newTestIIBench(t, func(p *Parameters) { p.KeepRows, p.Clients, p.Rows = 1500, 2, 10_000 })
	scripts, errs := play(t, w)
	must.Do(t, errors.Join(errs...))
	deleter := scripts[2]
	if deleter.Deleted != 8500 {
		t.Errorf("%d rows deleted of 10000, 1500 are to stay", deleter.Deleted)
	}
	form := regexp.MustCompile(`^DELETE FROM purchases_index WHERE transactionid > \d+ ORDER BY transactionid LIMIT \d+$`)
	for _, statement := range deleter.Statements {
		if !form.MatchString(statement) {
			t.Errorf("statement %s", statement)
		}
	}
	if want := "DELETE FROM purchases_index WHERE transactionid > 0 ORDER BY transactionid LIMIT 500"; deleter.Statements[0] != want {
		t.Errorf("the first statement is %s, want %s", deleter.Statements[0], want)
	}
}

// A deletion that finds less than it must is an error, and a client that waits for the one that deletes is told.
func TestIIBenchDeletesExactly(t *testing.T) {
	w := newTestIIBench(t, func(p *Parameters) { p.KeepRows, p.Rows = 1, 1_000_000 })
	w.keep = 0 // the script finds at most 999 rows
	w.load.PerTransaction = 1001
	_, errs := play(t, w)
	if err := errs[1]; err == nil || !strings.Contains(err.Error(), "deleting the oldest rows: only 1000 of 1001 rows existed") {
		t.Errorf("error %v", err)
	}
	if !errors.Is(errs[0], context.Canceled) {
		t.Errorf("who inserts ended with %v", errs[0])
	}
}

func TestIIBenchQueries(t *testing.T) {
	for schema, forms := range map[string][]string{
		schemaInsertBenchmark: {
			`^SELECT productid, customerid, price FROM purchases_index FORCE INDEX \(purchases_index_marketsegment\) WHERE productid >= \d{1,4} ORDER BY productid, customerid, price LIMIT 10$`,
			`^SELECT cashregisterid, customerid, price FROM purchases_index FORCE INDEX \(purchases_index_registersegment\) WHERE cashregisterid >= \d{1,3} ORDER BY cashregisterid, customerid, price LIMIT 10$`,
			`^SELECT price, dateandtime, customerid FROM purchases_index FORCE INDEX \(purchases_index_pdc\) WHERE price >= \d{1,3} ORDER BY price, dateandtime, customerid LIMIT 10$`,
		},
		schemaTokutek2008: {
			`^SELECT price, customerid FROM mypurchases FORCE INDEX \(marketsegment\) WHERE price >= \d{1,4}\.\d\d ORDER BY price, customerid LIMIT 10$`,
			`^SELECT cashregisterid, price, customerid FROM mypurchases FORCE INDEX \(registersegment\) WHERE cashregisterid >= \d{1,3} ORDER BY cashregisterid, price, customerid LIMIT 10$`,
			`^SELECT price, dateandtime, customerid FROM mypurchases FORCE INDEX \(pdc\) WHERE price >= \d{1,4}\.\d\d ORDER BY price, dateandtime, customerid LIMIT 10$`,
		},
	} {
		w := newTestIIBench(t, func(p *Parameters) { p.Table = schema })
		d, counts := w.rows.Draws(1), make([]int, len(forms))
		for range 300 {
			statement := w.appendQuery(nil, &d)
			i := slices.IndexFunc(forms, func(form string) bool { return regexp.MustCompile(form).Match(statement) })
			if i < 0 {
				t.Fatalf("query %s", statement)
			}
			counts[i]++
		}
		if slices.Min(counts) < 60 {
			t.Errorf("indexes are asked %v times", counts)
		}
		for _, none := range []func(*Parameters){
			func(p *Parameters) { p.SecondaryIndexes = 0 }, func(p *Parameters) { p.IndexesAt = "End" },
		} {
			w := newTestIIBench(t, func(p *Parameters) { p.Table = schema; none(p) })
			play(t, w) // 5,000 rows are there
			w.deleted.Store(1000)
			if got := string(w.appendQuery(nil, &d)); !regexp.MustCompile(`^SELECT \* FROM \w+ WHERE transactionid = \d{4}$`).MatchString(got) {
				t.Errorf("query %s", got)
			}
		}
	}
}

// By the primary key only rows are queried that are there: those that were inserted and not deleted.
func TestIIBenchQueriesWhatIsThere(t *testing.T) {
	w := newTestIIBench(t, func(p *Parameters) { p.SecondaryIndexes, p.KeepRows = 0, 2000 })
	if _, errs := play(t, w); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	draws := w.rows.Draws(1)
	low, high := int64(1<<62), int64(0)
	for range 1000 {
		_, text, _ := strings.Cut(string(w.appendQuery(nil, &draws)), " = ")
		id := must.Get(strconv.ParseInt(text, 10, 64))(t)
		low, high = min(low, id), max(high, id)
	}
	if low < 3001 || low > 3100 || high > 5000 || high < 4900 {
		t.Errorf("of rows 3001 to 5000, those from %d to %d are queried", low, high)
	}
}

// A transaction of one statement costs one round trip, whichever client executes it; and one of several has its end.
func TestIIBenchRoundTrips(t *testing.T) {
	for perStatement, want := range map[int64]struct {
		setup   string
		commits bool
	}{1000: {"SET autocommit=1", false}, 2000: {"SET autocommit=1", false}, 500: {"SET autocommit=0", true}} {
		w := newTestIIBench(t, func(p *Parameters) { p.RowsPerStatement, p.KeepRows, p.QueryClients = perStatement, 1000, 1 })
		if setup := w.Plan().Setup; len(setup) != 1 || setup[0] != want.setup {
			t.Errorf("%d rows per statement: setup %q, want %s", perStatement, setup, want.setup)
		}
		scripts, errs := play(t, w)
		must.Do(t, errors.Join(errs...))
		for i, s := range scripts {
			if slices.Contains(s.Statements, "COMMIT") != want.commits {
				t.Errorf("%d rows per statement: client %d sends %.100q", perStatement, i, s.Statements)
			}
		}
		if len(scripts[0].Commits) != 5 || len(scripts[1].Commits) != 4 {
			t.Errorf("%d rows per statement: commits at %v, and %v", perStatement, scripts[0].Commits, scripts[1].Commits)
		}
	}
}

// Who inserts and waits for who deletes says so.
func TestIIBenchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestIIBench(t, func(p *Parameters) { p.KeepRows = 1 })
		s := &workloadtest.Script{}
		c := workloadtest.Client(0, s)
		if err := w.tellDeleter(t.Context(), c, 1); err != nil || s.Waits != 0 {
			t.Fatalf("%d waits with room, %v", s.Waits, err)
		}
		var err error
		go func() { err = w.tellDeleter(t.Context(), c, 2) }()
		synctest.Wait() // until it waits
		<-w.inserted
		synctest.Wait()
		if err != nil || s.Waits != 1 || <-w.inserted != 2 {
			t.Errorf("%d waits, %v", s.Waits, err)
		}
	})
}

// The oldest rows are deleted again if the server rolls that back, and counted once.
func TestIIBenchDeletesAgain(t *testing.T) {
	for _, perStatement := range []int64{1000, 500} {
		w := newTestIIBench(t, func(p *Parameters) { p.RowsPerStatement, p.KeepRows = perStatement, 1 })
		failed := map[string]bool{}
		s := &workloadtest.Script{Fail: func(_ int, statement string) error {
			if statement == "ROLLBACK" || failed[statement] {
				return nil
			}
			failed[statement] = true
			return workloadtest.ErrDeadlock
		}}
		must.Do(t, w.removeOldest(workloadtest.Client(0, s), 7, 9))
		const remove = "DELETE FROM purchases_index WHERE transactionid > 7 ORDER BY transactionid LIMIT 9"
		want := []string{remove, "ROLLBACK", remove}
		if perStatement == 500 {
			want = append(want, "COMMIT", "ROLLBACK", remove, "COMMIT")
		}
		if diff := cmp.Diff(want, s.Statements); diff != "" || s.Deleted != 9 || len(s.Commits) != 1 {
			t.Errorf("%d deleted in %d transactions, statements (-want +got):\n%s", s.Deleted, len(s.Commits), diff)
		}
	}
}
