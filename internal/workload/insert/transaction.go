// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

func (w *inserter) take() bool {
	if w.client.Expired(w.client.Recorder.Now()) {
		// Nothing is left undone if all rows have been taken.
		w.expired = w.left()
		return false
	}
	w.first, w.end = w.Load.take()
	if w.first <= w.end && w.Pace.RatePerSecond > 0 && w.client.Expired(w.Pace.RatePerSecond.Due(w.end)) {
		w.expired = true
		return false
	}
	return w.first <= w.end
}

// part is that of a transaction that is to be executed again: up to row last. Rows before uncounted were counted. The transaction
// ends with row end.
type part struct{ uncounted, last, end int64 }

func (w *inserter) commit(ctx context.Context, end int64) error {
	w.part = part{uncounted: end + 1, last: end, end: end}
	if err := Commit(w.client, w.Autocommit, end, w.again); err != nil {
		return err
	}
	if w.Pace.RatePerSecond > 0 {
		w.client.Recorder.Transaction(w.due, w.began, w.client.Recorder.Now())
	}
	w.done.Add(1)
	w.client.Leave()
	if w.Committed == nil {
		return nil
	}
	return w.Committed(ctx, w.client, w.rowsOfTransaction(end))
}

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

// Commit ends a transaction whose last row it is told, for an error, and records it; auto says that the session has ended it by
// itself. If the server has rolled the transaction back, it calls again, which executes it anew.
func Commit(c *workload.Client, auto bool, row int64, again func() error) error {
	if auto {
		c.Recorder.Committed()
		return nil
	}
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

const (
	// CommitExplicit ends each transaction with a COMMIT.
	CommitExplicit = "Explicit"
	// CommitAutocommit has the server commit each statement.
	CommitAutocommit = "Autocommit"
)

// CheckCommit checks the parameter commit, of which empty is Explicit. A transaction has so many statements, which a parameter
// of that name says.
func CheckCommit(commit, name string, statements int64) error {
	if commit == CommitAutocommit && statements != 1 {
		return fmt.Errorf("commit Autocommit makes each statement a transaction: %s is %d but must be 1", name, statements)
	}
	return workload.OneOf("commit", commit, "", CommitExplicit, CommitAutocommit)
}

// SessionCommit is the assignment that has a session commit each statement, or none.
func SessionCommit(auto bool) string {
	if auto {
		return "autocommit=1"
	}
	return "autocommit=0"
}

// paced says whether a transaction does not begin as soon as its client is free.
func (l *Load) paced() bool { return l.Pace != workload.Pacing{} }

// meanwhile is what a client does while the server works: it makes the next statement. If transactions have their times, it
// leaves those that have not begun to who is free when they are due, and takes one only when it is free itself.
func (w *inserter) meanwhile() func() {
	if !w.paced() {
		return w.next
	}
	return func() {
		if w.last < w.end {
			w.next()
		}
	}
}

func (w *inserter) await(ctx context.Context) error {
	if w.Pace.RatePerSecond == 0 || (w.first-1)%w.PerTransaction != 0 {
		return nil
	}
	w.due = w.Pace.RatePerSecond.Due(w.end)
	if err := w.client.SleepUntil(ctx, w.due); err != nil {
		return err
	}
	w.client.Enter()
	w.began = w.client.Recorder.Now()
	return nil
}

// goOn comes after a transaction: it thinks, and makes the next statement, unless that was made meanwhile.
func (w *inserter) goOn(ctx context.Context) error {
	if !w.paced() {
		return nil
	}
	if err := Think(ctx, w.client, w.Pace); err != nil {
		return err
	}
	w.next()
	return nil
}

// Think lets a client pause after a transaction, as long as the parameters say and its limit allows.
func Think(ctx context.Context, c *workload.Client, p workload.Pacing) error {
	think := time.Duration(p.ThinkTimeMilliseconds) * time.Millisecond
	if think == 0 {
		return nil
	}
	until := c.Recorder.Now() + think
	if c.Limit > 0 {
		until = min(until, c.Limit)
	}
	return c.SleepUntil(ctx, until)
}

// warmed is what a Pod has sent before its measured phase: whole transactions, the first of its share. The measured phase counts
// its transactions and their rows from the beginning, and has the rows that many further on.
type warmed struct {
	// up says that something was to be sent, underWay that it is being sent.
	up, underWay bool
	// rows of all Pods, if each has sent as many transactions as this one.
	rows int64
}

// unbounded is a number of rows that no load comes to, and to which those that were sent can be added.
const unbounded = math.MaxInt64 / 2

// bound of the rows of the phase that is under way: a warm-up ends by time only.
func (d *dispenser) bound() int64 {
	if d.warmed.underWay {
		return unbounded
	}
	return d.Rows
}

// row is the number, among all rows that are ever sent, of row n of the phase that is under way.
func (d *dispenser) row(n int64) int64 { return d.warmed.rows + n }

// longestTransaction is how many rows the longest transaction of any phase has. Those of a warm-up are whole, however few rows
// are measured afterwards.
func (l *Load) longestTransaction() int64 {
	if whole, _ := l.Pace.Before(); whole > 0 {
		return l.PerTransaction
	}
	return min(l.PerTransaction, l.Rows)
}

// Before implements workload.Continued, as do BeginWarmUp and Continue.
func (l *Load) Before() (whole, ramp time.Duration) { return l.Pace.Before() }

// BeginWarmUp begins a phase without a bound of rows.
func (l *Load) BeginWarmUp() { l.warmed.up, l.warmed.underWay = true, true }

// Continue begins the phase that has as many rows as were asked for, after those that were sent. What was taken and not sent,
// because the time was over, is sent now.
func (l *Load) Continue() {
	l.warmed.underWay, l.warmed.rows = false, l.done.Load()*l.Share.Pods*l.PerTransaction
	l.Taken.Store(0)
}
