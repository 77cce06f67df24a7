// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// rowsPerQuery is how many rows a query reads from an index.
const rowsPerQuery = 10

// queryStream keeps the random numbers of queries apart from those of rows, which count from 1.
const queryStream = -(1 << 62)

// query reads rows until no client inserts any more: from one of the indexes, at random, or without any by the primary key.
func (w *iiBench) query(c *workload.Client) error {
	draws := w.rows.Draws(queryStream - w.Share.Number(int64(c.Index)))
	return queries(c, w.Autocommit,
		func(dst []byte) []byte { return w.appendQuery(dst, &draws) },
		func(time.Duration) bool { return w.inserting.Load() == 0 })
}

// queries are sent one after another until they are over, which is asked when each has ended.
func queries(
	c *workload.Client, autocommit bool, appendQuery func(dst []byte) []byte, over func(ended time.Duration) bool,
) error {
	var statement []byte
	var began, ended time.Duration
	fetch := func() error {
		began = c.Recorder.Now()
		_, err := c.Session.Fetch(statement)
		ended = c.Recorder.Now()
		return err
	}
	for {
		statement = appendQuery(statement[:0])
		c.Enter()
		err := fetch()
		if err = c.Retry(began, err, fetch); err != nil {
			return fmt.Errorf("querying: %w", err)
		}
		if !autocommit {
			if err := c.Session.Exec(insert.CommitStatement); err != nil {
				return fmt.Errorf("ending a query's transaction: %w", err)
			}
		}
		// A query that outlives the load would make it longer than it was.
		if over(ended) {
			return nil
		}
		c.Recorder.Query(began, ended)
		c.Leave()
	}
}

func (w *iiBench) appendQuery(dst []byte, draws *generate.Stream) []byte {
	indexes := w.indexes()
	if w.params.IndexesAt == indexesAtEnd || len(indexes) == 0 {
		return w.schema.appendRowQuery(dst, w.deleted.Load(), w.Done(), draws)
	}
	return w.schema.appendRangeQuery(dst, indexes, draws)
}

// appendRowQuery asks for a row by its id, of those that are there: the oldest rows are deleted, and the newest ones may not be
// there yet.
func (s *purchases) appendRowQuery(dst []byte, deleted, inserted int64, draws *generate.Stream) []byte {
	dst = append(append(append(dst, "SELECT * FROM "...), s.name...), " WHERE transactionid = "...)
	there := max(inserted-deleted, 1)
	return strconv.AppendInt(dst, deleted+1+int64(draws.Below(uint64(there))), 10) //nolint:gosec // less than the number of rows
}

// appendRangeQuery asks for rows from one of the indexes, at random.
func (s *purchases) appendRangeQuery(dst []byte, indexes []index, draws *generate.Stream) []byte {
	index := &indexes[draws.Below(uint64(len(indexes)))]
	dst = append(append(append(append(dst, "SELECT "...), index.columns...), " FROM "...), s.name...)
	dst = append(append(append(dst, " FORCE INDEX ("...), index.name...), ") WHERE "...)
	dst = append(append(dst, index.leading...), " >= "...)
	dst = index.appendLeading(dst, draws.Below(index.span))
	dst = append(append(dst, " ORDER BY "...), index.columns...)
	return strconv.AppendInt(append(dst, " LIMIT "...), rowsPerQuery, 10)
}

// epochRows is how many rows share a second in their column dateandtime.
const epochRows = 100_000

type purchase struct{ second, cashRegister, customer, product, price, noise uint64 }

const (
	cashRegisters = 1000
	customers     = 100_000
	products      = 10_000
	prices        = 500
)

func purchaseOf(rows generate.Rows, n int64) purchase {
	draws := rows.Draws(n)
	x := draws.Next()
	return purchase{
		second:       uint64(n-1) / epochRows, //nolint:gosec // rows count from 1
		cashRegister: generate.Split(&x, cashRegisters),
		customer:     generate.Split(&x, customers),
		product:      generate.Split(&x, products),
		price:        generate.Split(&x, prices),
		noise:        draws.Next(),
	}
}

// deletion has a client delete the oldest rows of a table while others insert, so that the table keeps its size.
type deletion struct {
	from string
	keep int64
	// inserting is how many clients still insert. The last one ends the deletion.
	inserting atomic.Int64
	// autocommit says that the session ends transactions by itself.
	autocommit bool
	// inserted tells the client that deletes of each transaction. It has little room: who inserts waits for who deletes.
	inserted chan int64
	// deleted is how many rows, the oldest ones, were deleted. reported is how many of those that were inserted its client knows of.
	deleted  atomic.Int64
	reported int64
}

// tellDeleter waits until the client that deletes has room, so that as many rows are deleted as are inserted.
func (d *deletion) tellDeleter(ctx context.Context, c *workload.Client, rows int64) error {
	select {
	case d.inserted <- rows:
		return nil
	default:
	}
	began := c.Recorder.Now()
	select {
	case d.inserted <- rows:
		c.Recorder.Wait(began, c.Recorder.Now())
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *deletion) endInserting() {
	if d.inserting.Add(-1) == 0 && d.inserted != nil {
		close(d.inserted)
	}
}

// remove deletes the oldest rows as others are inserted, so that as many as are to be kept stay.
func (d *deletion) remove(ctx context.Context, c *workload.Client) error {
	for {
		select {
		case rows, more := <-d.inserted:
			if !more {
				return nil
			}
			d.reported += rows
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		deleted := d.deleted.Load()
		if surplus := d.reported - d.keep - deleted; surplus > 0 {
			// No client is to query what is being deleted.
			d.deleted.Store(deleted + surplus)
			if err := d.removeOldest(c, deleted, surplus); err != nil {
				return fmt.Errorf("deleting the oldest rows: %w", err)
			}
		}
	}
}

// removeOldest deletes so many rows in a transaction, after so many were deleted.
func (d *deletion) removeOldest(c *workload.Client, deleted, surplus int64) error {
	// Ids count from 1 without gaps where no other program inserts: no row is looked for where rows were deleted.
	statement := fmt.Appendf(nil, "DELETE FROM %s WHERE transactionid > %d ORDER BY transactionid LIMIT %d",
		d.from, deleted, surplus)
	var began time.Duration
	uncounted := surplus
	execute := func() error {
		began = c.Recorder.Now()
		affected, err := c.Session.ExecAffected(statement)
		if err != nil {
			return err
		}
		if affected != surplus {
			return workload.Disturbed{Reason: fmt.Sprintf("only %d of %d rows existed", affected, surplus)}
		}
		c.Recorder.Delete(began, c.Recorder.Now(), uncounted)
		uncounted = 0
		return nil
	}
	c.Enter()
	defer c.Leave()
	err := execute() // it sets began
	if err = c.Retry(began, err, execute); err != nil {
		return err
	}
	return insert.Commit(c, d.autocommit, deleted+surplus, execute)
}
