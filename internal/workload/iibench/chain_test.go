// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

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
			if int64(len(rows)) != table.added.Load() {
				t.Errorf("%s: %d rows of %s were sent, %d counted", tables, len(rows), table.name, table.added.Load())
			}
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
		if got := isStageName(name); got != valid {
			t.Errorf("%q: %t", name, got)
		}
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
		if _, err := New(&result.Config{Workload: workloadtest.Load(Definition, p)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for want, change := range map[string]func(*result.Config){
		"loader.pods is 2":                 func(c *result.Config) { c.Pods = 2 },
		"limits.seconds is not for stages": func(c *result.Config) { c.LimitSeconds = 1 },
	} {
		cfg := &result.Config{Workload: workloadtest.Load(Definition, chainParams())}
		change(cfg)
		if err := Definition.Validate(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
