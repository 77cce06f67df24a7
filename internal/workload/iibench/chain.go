// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// chain is IIBench in stages, on tables that each of them leaves to the next.
type chain struct {
	params Parameters
	rows   generate.Rows
	schema *purchases
	tables []*chainTable
	table  insert.Table
	stages []workload.Stage
	// planned is how many rows the stages so far may insert: those of the next one have the numbers after that.
	planned int64
	// indexes that the tables have after the stages so far, while these are made.
	indexes []index
	// gaps says that a transaction was rolled back, whose ids are lost.
	gaps bool
}

// chainTable is a table of a chain: a client's, or that of all.
type chainTable struct {
	purchases
	// share of the rows of each stage.
	share workload.Share
	sent  []*sentRows
	added atomic.Int64
	deletion
}

type sentRows struct {
	load   *insert.Load
	before int64
	count  atomic.Int64
}

func newChain(p *Parameters, seed int64) *chain {
	c := &chain{params: *p, rows: generate.NewRows(seed), schema: schemas[p.Table]}
	c.table = c.schema.table(c.rows, p.StorageEngine)
	if p.Tables == tablesShared {
		c.addTable(c.schema.name, workload.Share{Pods: 1})
	} else {
		for i := range p.Clients {
			c.addTable(fmt.Sprintf("%s_%d", c.schema.name, i+1), workload.Share{Pod: int64(i), Pods: int64(p.Clients)})
		}
	}
	for i := range p.Stages {
		c.stages = append(c.stages, c.stage(i, &p.Stages[i]))
	}
	return c
}

func (c *chain) addTable(name string, share workload.Share) {
	t := &chainTable{purchases: *c.schema, share: share}
	t.name, t.head = name, strings.Replace(t.head, " "+t.name+" ", " "+name+" ", 1)
	t.from, t.autocommit = name, true
	c.tables, c.table.Names = append(c.tables, t), append(c.table.Names, name)
}

// stage number i, from 0.
func (c *chain) stage(i int, p *StageParameters) workload.Stage {
	s := workload.Stage{Name: p.Name}
	switch {
	case p.Insert != nil:
		s.Operations = func(t *result.Totals) int64 { return t.Rows }
		s.Load = &clientStage{
			link: link{c}, number: i, deletes: p.Insert.DeletePerInsert, rate: p.Insert.RatePerSecond, rows: p.Insert.Rows,
			loads: c.loads(p.Insert.Rows, p.Insert.RowsPerCommit, p.Insert.RatePerSecond),
		}
	case p.CreateIndexes > 0:
		c.indexes = c.schema.indexes[:p.CreateIndexes]
		s.Operations = func(*result.Totals) int64 { return c.size() }
		s.Load = &indexStage{link: link{c}, indexes: c.indexes}
	case p.Rest != nil:
		s.Rest = &workload.Rest{AtLeast: time.Duration(p.Rest.AtLeastSeconds) * time.Second}
		for _, t := range c.tables {
			s.Rest.Statements = append(s.Rest.Statements, "ANALYZE NO_WRITE_TO_BINLOG TABLE "+t.name)
		}
	case p.Query != nil:
		s.Seconds = p.Query.Seconds
		s.Operations = func(t *result.Totals) int64 { return t.Queries }
		load := &clientStage{link: link{c}, number: i, deletes: p.Query.DeletePerInsert, rate: p.Query.RatePerSecond, queries: true}
		if p.Query.By == bySecondaryRange {
			load.indexes = c.indexes
		}
		if rate := p.Query.RatePerSecond; rate > 0 {
			// As many as are due, so that the rows of the stages that follow are the same wherever this one is slow.
			load.loads = c.loads(int64(rate)*int64(p.Query.Seconds), p.Query.RowsPerCommit, rate)
		}
		s.Load = load
	}
	return s
}

// loads of the tables for a stage that inserts so many rows.
func (c *chain) loads(rows, perCommit int64, rate workload.Rate) []*insert.Load {
	var all []*insert.Load
	for _, t := range c.tables {
		load, sent := insert.New(rows, perCommit, perCommit, t.share), &sentRows{before: c.planned}
		load.Autocommit, load.Pace = true, workload.Pacing{RatePerSecond: rate}
		load.Heads, load.RowBytes = []string{t.head}, t.rowBytes
		load.AppendRow = func(dst []byte, n int64) []byte { return t.appendRow(dst, purchaseOf(c.rows, sent.before+n)) }
		sent.load = load
		t.sent = append(t.sent, sent)
		load.Committed = func(ctx context.Context, client *workload.Client, rows int64) error {
			sent.count.Add(rows)
			t.added.Add(rows)
			if t.inserted == nil {
				return nil
			}
			return t.tellDeleter(ctx, client, rows)
		}
		all = append(all, load)
	}
	c.planned += rows
	return all
}

func (c *chain) size() int64 {
	sum := int64(0)
	for _, t := range c.tables {
		sum += t.added.Load() - t.deleted.Load()
	}
	return sum
}

func (c *chain) Stages() []workload.Stage { return c.stages }

// Prepare implements workload.Workload: it makes the tables, without secondary indexes. The plan is that of the first stage.
func (c *chain) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	for _, t := range c.tables {
		for _, sent := range t.sent {
			if err := sent.load.Fits(ctx, db); err != nil {
				return workload.Plan{}, fmt.Errorf("a stage has rowsPerCommit in place of rowsPerStatement: %w", err)
			}
		}
	}
	if err := c.table.Make(ctx, db); err != nil {
		return workload.Plan{}, err
	}
	return c.stages[0].Load.Prepare(ctx, db)
}

// Measure implements workload.Workload: it makes the load of the first stage.
func (c *chain) Measure(ctx context.Context, client *workload.Client) (result.StoppedBy, error) {
	return c.stages[0].Load.Measure(ctx, client)
}

// Verify implements workload.Workload, after the last stage: the tables have the rows that all stages have inserted and not
// deleted, and no others. That is not asked between stages: reading whole tables would fill the server's caches for the next one.
func (c *chain) Verify(ctx context.Context, db *sql.DB, totals result.Totals, _ []int64) ([]result.Check, error) {
	return c.table.Verify(ctx, db, totals.Rows-totals.RowsDeleted, c.left())
}

// left are the rows that were inserted into the tables, without the oldest ones of each, which were deleted.
func (c *chain) left() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, t := range c.tables {
			deleted := t.deleted.Load()
			for _, sent := range t.sent {
				ofShares := make([]int64, t.share.Pods)
				ofShares[t.share.Pod] = sent.count.Load()
				for n := range sent.load.Sent(ofShares) {
					if deleted > 0 {
						deleted--
					} else if !yield(sent.before + n) {
						return
					}
				}
			}
		}
	}
}

// link is what all stages of a chain have in common.
type link struct{ *chain }

// Verify compares the first and the last id of each table with the rows that were inserted and deleted so far: the stage has left
// what the next one needs. Both are found without reading the table.
func (c link) Verify(ctx context.Context, db *sql.DB, totals result.Totals, _ []int64) ([]result.Check, error) {
	c.gaps = c.gaps || totals.Errors > 0
	check := result.Check{Name: "ids", Passed: true}
	var details []string
	for _, t := range c.tables {
		var first, last int64
		query := "SELECT COALESCE(MIN(transactionid), 0), COALESCE(MAX(transactionid), 0) FROM " + t.name
		if err := db.QueryRowContext(ctx, query).Scan(&first, &last); err != nil {
			return nil, fmt.Errorf("reading the first and last id of %s: %w", t.name, err)
		}
		added, deleted := t.added.Load(), t.deleted.Load()
		exact := first == deleted+1 && last == added
		check.Passed = check.Passed && (exact || c.gaps && first > deleted && last >= added)
		details = append(details, fmt.Sprintf("%s has ids %d to %d of %d rows, %d deleted", t.name, first, last, added, deleted))
	}
	check.Detail = strings.Join(details, "; ")
	return []result.Check{check}, nil
}
