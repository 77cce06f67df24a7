// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

// take begins another transaction, if there is one.
func (w *inserter) take() bool {
	if w.client.Expired(w.client.Recorder.Now()) {
		// Nothing is left undone if all rows have been taken.
		w.expired = w.left()
		return false
	}
	w.first, w.end = w.Load.take()
	if w.first <= w.end && w.dueTooLate() {
		w.expired = true
		return false
	}
	return w.first <= w.end
}

// part is that of a transaction that is to be executed again: up to row last. Rows before uncounted were counted. The transaction
// ends with row end.
type part struct{ uncounted, last, end int64 }

// commit ends the transaction whose last row that is.
func (w *inserter) commit(ctx context.Context, end int64) error {
	if w.Autocommit {
		w.client.Recorder.Committed()
	} else {
		w.part = part{uncounted: end + 1, last: end, end: end}
		if err := Commit(w.client, end, w.again); err != nil {
			return err
		}
	}
	w.committed()
	w.done.Add(1)
	if w.Committed == nil {
		return nil
	}
	return w.Committed(ctx, w.client, w.rowsOfTransaction(end))
}

// retry tries the part of a transaction again whose last statement has failed.
func (w *inserter) retry(began time.Duration, err error, p part) error {
	w.part = p
	return w.client.Retry(began, err, w.again)
}

// repeat executes the part anew.
func (w *inserter) repeat() error {
	r, p := w.client.Recorder, w.part
	for first := p.end - w.rowsOfTransaction(p.end) + 1; first <= p.last; first += w.perStatement {
		last := min(first+w.perStatement-1, p.last)
		if w.executions != nil {
			w.repeated = w.executions.again(w.repeated[:0], first, last)
		} else if w.repeated = w.appendStatement(w.repeated[:0], first, last); len(w.repeated) == 0 {
			return w.source.Failed()
		}
		began := r.Now()
		if _, err := w.sendRows(w.repeated, func() {}, first, last); err != nil {
			return err
		}
		r.Insert(began, r.Now(), max(last-max(first, p.uncounted)+1, 0))
	}
	return nil
}

// CommitStatement ends a transaction.
var CommitStatement = []byte("COMMIT")

// Commit ends a transaction whose last row it is told, for an error, and records it. If the server has rolled the transaction
// back, it calls again, which executes it anew.
func Commit(c *workload.Client, row int64, again func() error) error {
	began := c.Recorder.Now()
	err := c.Session.Exec(CommitStatement)
	if err != nil {
		began, err = recommit(c, began, err, again)
	}
	if err != nil {
		return fmt.Errorf("committing after row %d: %w", row, err)
	}
	c.Recorder.Commit(began, c.Recorder.Now())
	return nil
}

// recommit returns when the COMMIT began that succeeded.
func recommit(c *workload.Client, began time.Duration, err error, again func() error) (time.Duration, error) {
	err = c.Retry(began, err, func() error {
		if err := again(); err != nil {
			return err
		}
		began = c.Recorder.Now()
		return c.Session.Exec(CommitStatement)
	})
	return began, err
}
