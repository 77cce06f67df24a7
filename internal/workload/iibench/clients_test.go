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

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

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
