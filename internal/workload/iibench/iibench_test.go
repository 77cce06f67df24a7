// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
		must.Same(t, fmt.Sprintf("row 200001 of %s", tc.schema), tc.row, string(w.AppendRow(nil, 200_001)))
		must.Same(t, fmt.Sprintf("checksum of %s", tc.schema), tc.checksum, w.table.Checksum(w.Sent([]int64{1000})).String())
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
	must.Same(t, "seven cents", "0.07", string(appendCents(nil, 7)))
}

func TestIIBenchPlan(t *testing.T) {
	plain := newTestIIBench(t, func(*Parameters) {})
	if got := plain.Plan(); got.Clients != 1 || len(got.After) != 0 || got.Milestones.Every != 1000 || got.Rows != 5000 {
		t.Errorf("%+v", got)
	}
	must.Same(t, "secondary indexes of "+plain.table.Columns, 3, strings.Count(plain.table.Columns, "KEY purchases"))
	late := newTestIIBench(t, func(p *Parameters) { p.IndexesAt, p.SecondaryIndexes, p.KeepRows, p.QueryClients = "End", 2, 5, 3 })
	want := []workload.Phase{{Name: "index", Statements: []string{
		"ALTER TABLE purchases_index ADD KEY purchases_index_marketsegment (productid, customerid, price)," +
			" ADD KEY purchases_index_registersegment (cashregisterid, customerid, price)",
	}}}
	if diff := cmp.Diff(want, late.Plan().After); diff != "" || late.Plan().Clients != 5 {
		t.Errorf("%d clients, after (-want +got):\n%s", late.Plan().Clients, diff)
	}
	must.Lack(t, late.table.Columns, "KEY purchases")
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
		must.Refused(New(&result.Config{Workload: workloadtest.Load(Definition, p)}))(t, want)
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
	must.Same(t, "rows deleted of 10000, of which 1500 are to stay", int64(8500), deleter.Deleted)
	form := regexp.MustCompile(`^DELETE FROM purchases_index WHERE transactionid > \d+ ORDER BY transactionid LIMIT \d+$`)
	for _, statement := range deleter.Statements {
		if !form.MatchString(statement) {
			t.Errorf("statement %s", statement)
		}
	}
	const first = "DELETE FROM purchases_index WHERE transactionid > 0 ORDER BY transactionid LIMIT 500"
	must.Same(t, "first statement", first, deleter.Statements[0])
}

// A deletion that finds less than it must is an error, and a client that waits for the one that deletes is told.
func TestIIBenchDeletesExactly(t *testing.T) {
	w := newTestIIBench(t, func(p *Parameters) { p.KeepRows, p.Rows = 1, 1_000_000 })
	w.keep = 0 // the script finds at most 999 rows
	w.PerTransaction = 1001
	_, errs := play(t, w)
	must.Fail(t, errs[1], "deleting the oldest rows: only 1000 of 1001 rows existed")
	must.Is(t, errs[0], context.Canceled)
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

// chainParams are those of the chain, small.
func chainParams() *Parameters {
	p := iiBenchParams()
	p.Clients = 2
	p.Stages = []StageParameters{
		{Name: "l.i0", Insert: &InsertParameters{Rows: 1000, RowsPerCommit: 100}},
		{Name: "l.x", CreateIndexes: 3},
		{Name: "l.i1", Insert: &InsertParameters{Rows: 400, RowsPerCommit: 50, DeletePerInsert: true}},
		{Name: "rest", Rest: &RestParameters{AtLeastSeconds: 2}},
		{Name: "qr100", Query: &QueryParameters{By: bySecondaryRange, Seconds: 2, RatePerSecond: 100, RowsPerCommit: 50, DeletePerInsert: true}},
		{Name: "qp", Query: &QueryParameters{By: byPrimaryKey, Seconds: 1, RowsPerCommit: 50}},
	}
	return p
}

func newTestChain(t *testing.T, change func(*Parameters)) *chain {
	t.Helper()
	p := chainParams()
	change(p)
	w := must.Get(New(&result.Config{Seed: 42, Workload: workloadtest.Load(Definition, p)}))(t)
	return w.(*chain)
}

// playStage runs all clients of a stage against scripts, by their index.
func playStage(t *testing.T, s *workload.Stage) []*workloadtest.Script {
	t.Helper()
	plan := must.Get(s.Load.Prepare(t.Context(), nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	scripts, errs := make([]*workloadtest.Script, plan.Clients), make([]error, plan.Clients)
	var working sync.WaitGroup
	for i := range scripts {
		scripts[i] = &workloadtest.Script{Took: time.Millisecond}
		c := workloadtest.Client(i, scripts[i])
		c.Limit = time.Duration(s.Seconds) * time.Second
		working.Go(func() {
			if _, errs[i] = s.Load.Measure(ctx, c); errs[i] != nil {
				cancel()
			}
		})
	}
	working.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("stage %s: %v", s.Name, err)
	}
	return scripts
}

// Each stage goes on with the tables as the one before has left them; each client has a table of its own.
func TestChain(t *testing.T) {
	w := newTestChain(t, func(*Parameters) {})
	stages := w.Stages()
	for i, want := range []struct {
		name                string
		clients             int
		statements          []string
		rows, deleted, size int64
	}{
		{name: "l.i0", clients: 2, statements: []string{`^INSERT INTO purchases_index_1 \(`, `^INSERT INTO purchases_index_2 \(`}, rows: 1000, size: 1000},
		{name: "l.x", clients: 2, statements: []string{`^ALTER TABLE purchases_index_1 ADD KEY .*, ADD KEY .*, ADD KEY`, `^ALTER TABLE purchases_index_2`}, size: 1000},
		{name: "l.i1", clients: 4, statements: []string{
			`^INSERT INTO purchases_index_1 `, `^INSERT INTO purchases_index_2 `,
			`^DELETE FROM purchases_index_1 WHERE transactionid > \d+ ORDER BY transactionid LIMIT 50$`, `^DELETE FROM purchases_index_2 `,
		}, rows: 400, deleted: 400, size: 1000},
		{name: "rest", size: 1000},
		// Of 200 rows in 2 s, the last transaction is due when the time is over.
		{name: "qr100", clients: 6, statements: []string{
			`^INSERT INTO purchases_index_1 `, `^INSERT INTO purchases_index_2 `, `^DELETE FROM purchases_index_1 `, `^DELETE FROM purchases_index_2 `,
			`^SELECT .* FROM purchases_index_1 FORCE INDEX `, `^SELECT .* FROM purchases_index_2 FORCE INDEX `,
		}, rows: 150, deleted: 150, size: 1000},
		{name: "qp", clients: 2, statements: []string{
			`^SELECT \* FROM purchases_index_1 WHERE transactionid = \d+$`, `^SELECT \* FROM purchases_index_2 WHERE transactionid = \d+$`,
		}, size: 1000},
	} {
		s := &stages[i]
		if s.Name != want.name || (s.Load == nil) == (s.Rest == nil) {
			t.Fatalf("stage %d is %+v", i, s)
		}
		if s.Rest != nil {
			if s.Rest.AtLeast != 2*time.Second || len(s.Rest.Statements) != 2 || s.Rest.Statements[1] != "ANALYZE NO_WRITE_TO_BINLOG TABLE purchases_index_2" {
				t.Errorf("rest %+v", s.Rest)
			}
			continue
		}
		scripts := playStage(t, s)
		if len(scripts) != want.clients {
			t.Fatalf("stage %s has %d clients", s.Name, len(scripts))
		}
		var rows, deleted int64
		for k, script := range scripts {
			rows, deleted = rows+script.Rows, deleted+script.Deleted
			form := regexp.MustCompile(want.statements[k])
			if i := slices.IndexFunc(script.Statements, func(x string) bool { return !form.MatchString(x) }); i >= 0 || len(script.Statements) == 0 {
				t.Errorf("stage %s: client %d sends %.150q, want %s", s.Name, k, script.Statements, want.statements[k])
			}
		}
		if rows != want.rows || deleted != want.deleted || w.size() != want.size {
			t.Errorf("stage %s: %d rows, %d deleted, %d left", s.Name, rows, deleted, w.size())
		}
	}
}

// What is left is what was inserted without the oldest rows of each table; no row is sent twice, in whatever stage.
func TestRowsOfAChain(t *testing.T) {
	for _, tables := range []string{tablesPerClient, tablesShared} {
		w := newTestChain(t, func(p *Parameters) {
			p.Tables = tables
			if tables == tablesShared {
				p.Stages[2].Insert.DeletePerInsert, p.Stages[4].Query.DeletePerInsert = false, false
			}
		})
		sent := map[string][]string{}
		for _, s := range w.Stages() {
			if s.Load == nil {
				continue
			}
			for _, script := range playStage(t, &s) {
				for _, statement := range script.Statements {
					table, values, found := strings.Cut(strings.TrimPrefix(statement, "INSERT INTO "), " (dateandtime, cashregisterid, customerid, productid, price, data) VALUES ")
					if found {
						sent[table] = append(sent[table], strings.SplitAfter(values, ")")...)
					}
				}
			}
		}
		var all, left []string
		for _, table := range w.tables {
			rows := slices.DeleteFunc(sent[table.name], func(x string) bool { return x == "" })
			for i := range rows {
				rows[i] = strings.TrimPrefix(rows[i], ",")
			}
			must.Same(t, fmt.Sprintf("%s: rows of %s that were counted", tables, table.name), int64(len(rows)), table.added.Load())
			all, left = append(all, rows...), append(left, rows[table.deleted.Load():]...)
		}
		var want []string
		for n := range w.left() {
			want = append(want, string(w.schema.appendRow(nil, purchaseOf(w.rows, n))))
		}
		slices.Sort(left)
		slices.Sort(want)
		if !slices.Equal(left, want) || int64(len(want)) != w.size() {
			t.Errorf("%s: %d rows are left, %d are expected", tables, len(left), len(want))
		}
		if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s: rows were sent twice", tables)
		}
	}
}

// A shared table takes the rows of all clients, and their queries by the primary key find those that are there.
func TestSharedTable(t *testing.T) {
	w := newTestChain(t, func(p *Parameters) {
		p.Tables, p.Clients, p.Stages = tablesShared, 3, []StageParameters{p.Stages[0], p.Stages[5]}
	})
	if len(w.tables) != 1 || w.tables[0].name != "purchases_index" {
		t.Fatalf("%d tables, %s", len(w.tables), w.tables[0].name)
	}
	rows := int64(0)
	for _, s := range playStage(t, &w.Stages()[0]) {
		rows += s.Rows
	}
	if rows != 1000 || w.size() != 1000 {
		t.Errorf("%d rows, %d in the table", rows, w.size())
	}
	for _, script := range playStage(t, &w.Stages()[1]) {
		for _, statement := range script.Statements {
			var id int
			if _, err := fmt.Sscanf(statement, "SELECT * FROM purchases_index WHERE transactionid = %d", &id); err != nil || id < 1 || id > 1000 {
				t.Fatalf("query %s", statement)
			}
		}
	}
}

// A server is primed with the load of the first stage.
func TestChainAsAWorkload(t *testing.T) {
	w := newTestChain(t, func(*Parameters) {})
	must.Get(w.stages[0].Load.Prepare(t.Context(), nil))(t)
	s := &workloadtest.Script{}
	if _, err := w.Measure(t.Context(), workloadtest.Client(1, s)); err != nil || s.Rows != 500 {
		t.Errorf("%d rows, %v", s.Rows, err)
	}
}

func TestStageNames(t *testing.T) {
	for name, valid := range map[string]bool{
		"l.i0": true, "qr100": true, "a": true, "a--b": true, strings.Repeat("a", 32): true,
		"": false, "-": false, ".a": false, "a-": false, "A": false, "a_b": false, "aé": false, "a b": false, strings.Repeat("a", 33): false,
	} {
		must.Same(t, name, valid, stageName.MatchString(name))
	}
}

func TestChainRefuses(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		`table is "x"`:                    func(p *Parameters) { p.Table = "x" },
		`tables is "x"`:                   func(p *Parameters) { p.Tables = "x" },
		"clients is 65":                   func(p *Parameters) { p.Clients = 65 },
		"storageEngine":                   func(p *Parameters) { p.StorageEngine = "" },
		"not for stages":                  func(p *Parameters) { p.QueryClients = 1 },
		"set ratePerSecond in the stages": func(p *Parameters) { p.RatePerSecond = 1 },
		"there are 21 stages":             func(p *Parameters) { p.Stages = slices.Repeat(p.Stages[:1], 21) },
		"stage l.x is the first and must insert without":  func(p *Parameters) { p.Stages = p.Stages[1:] },
		"stage l.i1 is the first and must insert without": func(p *Parameters) { p.Stages = p.Stages[2:] },
		`the name of stage 2 is "l.i0"`:                   func(p *Parameters) { p.Stages[1].Name = "l.i0" },
		`the name of stage 1 is "L"`:                      func(p *Parameters) { p.Stages[0].Name = "L" },
		"stage rest: set exactly one of":                  func(p *Parameters) { p.Stages[3].Rest = nil },
		"stage l.x: set exactly one of":                   func(p *Parameters) { p.Stages[1].Rest = &RestParameters{} },
		"createIndexes is 4":                              func(p *Parameters) { p.Stages[1].CreateIndexes = 4 },
		"another stage has created the indexes":           func(p *Parameters) { p.Stages[3].Rest, p.Stages[3].CreateIndexes = nil, 1 },
		"rest.atLeastSeconds is -1":                       func(p *Parameters) { p.Stages[3].Rest.AtLeastSeconds = -1 },
		"insert.rows is 199 but must be at least 200":     func(p *Parameters) { p.Stages[0].Insert.Rows = 199 },
		"insert.rowsPerCommit is 0":                       func(p *Parameters) { p.Stages[0].Insert.RowsPerCommit = 0 },
		"insert.rowsPerCommit is 100001":                  func(p *Parameters) { p.Stages[0].Insert.Rows, p.Stages[0].Insert.RowsPerCommit = 1e6, 100_001 },
		"insert.ratePerSecond is -1":                      func(p *Parameters) { p.Stages[0].Insert.RatePerSecond = -1 },
		"insert.deletePerInsert needs tables: PerClient":  func(p *Parameters) { p.Tables = tablesShared },
		`query.by is "x"`:                                 func(p *Parameters) { p.Stages[4].Query.By = "x" },
		"query.seconds is 0":                              func(p *Parameters) { p.Stages[4].Query.Seconds = 0 },
		"query.rowsPerCommit is 0":                        func(p *Parameters) { p.Stages[4].Query.RowsPerCommit = 0 },
		"query.deletePerInsert needs query.ratePerSecond": func(p *Parameters) { p.Stages[4].Query.RatePerSecond = 0 },
		"needs a stage with createIndexes before it":      func(p *Parameters) { p.Stages = append(p.Stages[:1], p.Stages[4]) },
	} {
		p := chainParams()
		change(p)
		must.Refused(New(&result.Config{Workload: workloadtest.Load(Definition, p)}))(t, want)
	}
	for want, change := range map[string]func(*result.Config){
		"loader.pods is 2":                 func(c *result.Config) { c.Pods = 2 },
		"limits.seconds is not for stages": func(c *result.Config) { c.LimitSeconds = 1 },
	} {
		cfg := &result.Config{Workload: workloadtest.Load(Definition, chainParams())}
		change(cfg)
		must.Fail(t, Definition.Validate(cfg), want)
	}
}
