// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// deletion has a client delete the oldest rows of a table while others insert, so that the table keeps its size.
type deletion struct {
	// from is the table's name.
	from string
	// keep is how many rows stay.
	keep int64
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
			// Nobody is to query what is being deleted.
			d.deleted.Store(deleted + surplus)
			if err := d.removeOldest(c, deleted, surplus); err != nil {
				return fmt.Errorf("deleting the oldest rows: %w", err)
			}
		}
	}
}

// removeOldest deletes so many rows in a transaction, after so many were deleted.
func (d *deletion) removeOldest(c *workload.Client, deleted, surplus int64) error {
	// Ids count from 1 without gaps where nobody else counts: no row is looked for where rows were deleted.
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
	if err := c.Retry(began, execute(), execute); err != nil {
		return err
	}
	return d.end(c, deleted+surplus, execute)
}

// end ends a transaction, if the session does not do so by itself.
func (d *deletion) end(c *workload.Client, row int64, again func() error) error {
	if d.autocommit {
		c.Recorder.Committed()
		return nil
	}
	return insert.Commit(c, row, again)
}
