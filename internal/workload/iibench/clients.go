// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// rowsPerQuery is how many rows a query reads from an index.
const rowsPerQuery = 10

// tellDeleter waits until the client that deletes has room, so that as many rows are deleted as are inserted.
func (w *iiBench) tellDeleter(ctx context.Context, c *workload.Client, rows int64) error {
	select {
	case w.inserted <- rows:
		return nil
	default:
	}
	began := c.Recorder.Now()
	select {
	case w.inserted <- rows:
		c.Recorder.Wait(began, c.Recorder.Now())
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// remove deletes the oldest rows as others are inserted, so that keepRows stay.
func (w *iiBench) remove(ctx context.Context, c *workload.Client) error {
	for {
		select {
		case rows, more := <-w.inserted:
			if !more {
				return nil
			}
			w.reported += rows
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		deleted := w.deleted.Load()
		if surplus := w.reported - w.params.KeepRows - deleted; surplus > 0 {
			// Nobody is to query what is being deleted.
			w.deleted.Store(deleted + surplus)
			if err := w.removeOldest(c, deleted, surplus); err != nil {
				return fmt.Errorf("deleting the oldest rows: %w", err)
			}
		}
	}
}

// removeOldest deletes so many rows in a transaction, after so many were deleted.
func (w *iiBench) removeOldest(c *workload.Client, deleted, surplus int64) error {
	// Ids count from 1 without gaps where nobody else counts: no row is looked for where rows were deleted.
	statement := fmt.Appendf(nil, "DELETE FROM %s WHERE transactionid > %d ORDER BY transactionid LIMIT %d",
		w.schema.name, deleted, surplus)
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
	if err := c.Retry(began, execute(), execute); err != nil {
		return err
	}
	return w.end(c, deleted+surplus, execute)
}

// end ends a transaction, if the session does not do so by itself.
func (w *iiBench) end(c *workload.Client, row int64, again func() error) error {
	if w.load.Autocommit {
		c.Recorder.Committed()
		return nil
	}
	return insert.Commit(c, row, again)
}

// query reads rows until nobody inserts any more: from one of the indexes, at random, or without any by the primary key.
func (w *iiBench) query(c *workload.Client) error {
	draws := w.rows.Draws(-(1 << 62) - w.load.Share.Number(int64(c.Index)))
	var statement []byte
	var began, ended time.Duration
	fetch := func() error {
		began = c.Recorder.Now()
		_, err := c.Session.Fetch(statement)
		ended = c.Recorder.Now()
		return err
	}
	for {
		statement = w.appendQuery(statement[:0], &draws)
		if err := fetch(); err != nil {
			if err := c.Retry(began, err, fetch); err != nil {
				return fmt.Errorf("querying: %w", err)
			}
		}
		if !w.load.Autocommit {
			if err := c.Session.Exec(insert.CommitStatement); err != nil {
				return fmt.Errorf("ending a query's transaction: %w", err)
			}
		}
		// A query that outlives the load would make it longer than it was.
		if w.inserting.Load() == 0 {
			return nil
		}
		c.Recorder.Query(began, ended)
	}
}

func (w *iiBench) appendQuery(dst []byte, draws *generate.Draws) []byte {
	indexes := w.indexes()
	if w.params.IndexesAt == indexesAtEnd {
		indexes = nil
	}
	dst = append(dst, "SELECT "...)
	if len(indexes) == 0 {
		dst = append(append(dst, "* FROM "...), w.schema.name...)
		// The oldest rows are deleted, and the newest ones may not be there yet.
		deleted := w.deleted.Load()
		there := max(w.load.Done()-deleted, 1)
		id := deleted + 1 + int64(draws.Below(uint64(there))) //nolint:gosec // less than the number of rows
		return strconv.AppendInt(append(dst, " WHERE transactionid = "...), id, 10)
	}
	index := &indexes[draws.Below(uint64(len(indexes)))]
	dst = append(append(append(dst, index.columns...), " FROM "...), w.schema.name...)
	dst = append(append(append(dst, " FORCE INDEX ("...), index.name...), ") WHERE "...)
	dst = append(append(dst, index.leading...), " >= "...)
	dst = index.appendLeading(dst, draws.Below(index.span))
	dst = append(append(dst, " ORDER BY "...), index.columns...)
	return strconv.AppendInt(append(dst, " LIMIT "...), rowsPerQuery, 10)
}

// epochRows is how many rows share a second in their column dateandtime.
const epochRows = 100_000

// purchase is the data of a row.
type purchase struct {
	second                          uint64
	cashRegister, customer, product uint64
	price                           uint64
	noise                           uint64
}

// Ranges of the columns: values are below these.
const (
	cashRegisters = 1000
	customers     = 100_000
	products      = 10_000
	prices        = 500
)

// purchaseOf is row n.
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
