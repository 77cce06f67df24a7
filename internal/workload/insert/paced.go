// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"context"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
)

// paced says whether a transaction does not begin as soon as its client is free.
func (l *Load) paced() bool { return l.Pace != pace.Parameters{} }

// dueTooLate says whether the transaction that was taken is due only when the time is over. So are all that come after it.
func (w *inserter) dueTooLate() bool {
	return w.Pace.RatePerSecond > 0 && w.client.Expired(w.Pace.RatePerSecond.Due(w.end))
}

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

// await waits until the transaction is due that begins with the statement, if it begins one and there is a rate.
func (w *inserter) await(ctx context.Context) error {
	if w.Pace.RatePerSecond == 0 || (w.first-1)%w.PerTransaction != 0 {
		return nil
	}
	w.due = w.Pace.RatePerSecond.Due(w.end)
	if err := w.client.SleepUntil(ctx, w.due); err != nil {
		return err
	}
	w.began = w.client.Recorder.Now()
	return nil
}

// committed records the transaction that was committed, if there is a rate.
func (w *inserter) committed() {
	if w.Pace.RatePerSecond > 0 {
		w.client.Recorder.Transaction(w.due, w.began, w.client.Recorder.Now())
	}
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
func Think(ctx context.Context, c *workload.Client, p pace.Parameters) error {
	think := p.ThinkTime()
	if think == 0 {
		return nil
	}
	until := c.Recorder.Now() + think
	if c.Limit > 0 {
		until = min(until, c.Limit)
	}
	return c.SleepUntil(ctx, until)
}
