// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

type clients struct {
	sessions   []client.Session
	interrupt  func()
	tryAgain   func(error) bool
	milestones *record.Milestones
	// kinds of transactions, if there are several.
	kinds []string
	// turns with other variants, or nil, and the pauses in which these are measured.
	turns  *alternate.Side
	pauses *pauses
	// slices are what the clock says of them, when all clients have ended.
	slices record.Slices
	// between makes these.
	between func(context.Context, clock, func() result.Slice) *pauses
}

func (c *clients) open(ctx context.Context, connections client.Opener, schema string, plan *workload.Plan) error {
	c.kinds = plan.Kinds
	for i := len(c.sessions); i < plan.Clients; i++ {
		s, err := connections.Session(ctx, schema, plan.Setup)
		if err != nil {
			return err
		}
		c.sessions = append(c.sessions, s)
		if plan.Ready != nil {
			if err := plan.Ready(i, s); err != nil {
				return fmt.Errorf("preparing the statements: %w", err)
			}
		}
	}
	if len(c.sessions) == 0 {
		return errors.New("the workload has no client")
	}
	return nil
}

// run lets all clients work at the same time, from start on, and returns what they measured together. The first error ends
// the others.
func (c *clients) run(ctx context.Context, w workload.Workload, start time.Time, limit time.Duration, out *progress.Progress) (
	measured *record.Recorder, stopped result.StoppedBy, err error,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make([]result.StoppedBy, len(c.sessions))
	errs := make(chan error, len(c.sessions)+1)
	recorders, clock := record.NewRecorders(len(c.sessions), c.milestones, start)
	for _, r := range recorders {
		r.HasKinds(c.kinds)
	}
	var gates []*record.Gate
	if c.turns != nil {
		gates = clock.Slice(len(c.sessions), limit)
	}
	out.Count(func() int64 {
		sum := int64(0)
		for _, r := range recorders {
			sum += r.RowsSoFar()
		}
		return sum
	})
	failed := func(err error) {
		// The first error is the cause; those that follow from the interruption come after it.
		errs <- err
		c.interrupt()
		// Another client may be waiting for this one instead of for the server.
		cancel()
	}
	var working sync.WaitGroup
	for i, s := range c.sessions {
		client := &workload.Client{
			Index: i, Session: s, Recorder: recorders[i], TryAgain: c.tryAgain, Limit: limit, SleepUntil: clock.SleepUntil,
		}
		if gates != nil {
			client.Gate = gates[i]
		}
		working.Go(func() {
			stopped, err := guarded(ctx, w, client)
			if stopped == result.StoppedByRows || len(c.sessions) == 1 {
				clock.Finish()
			}
			client.Leave()
			outcomes[i] = stopped
			if err != nil {
				failed(err)
			}
		})
	}
	ended := func() {}
	if c.turns != nil {
		c.pauses = c.between(ctx, clock, func() result.Slice {
			so := result.Slice{Micros: clock.Counted().Microseconds()}
			for _, r := range recorders {
				so.Statements, so.Rows = so.Statements+r.Totals().Statements, so.Rows+r.Totals().Rows
			}
			return so
		})
		ended = c.pauses.alternate(ctx, c.turns, make(chan struct{}), failed)
	}
	working.Wait()
	ended()
	if len(errs) > 0 {
		return nil, "", <-errs
	}
	measured, stopped = recorders[0], outcomes[0]
	c.slices = clock.Slices()
	for i, other := range recorders[1:] {
		measured.Merge(other)
		if outcomes[i+1] == result.StoppedBySeconds {
			stopped = result.StoppedBySeconds
		}
	}
	return measured, stopped, nil
}

// guarded measures, and turns a panic into an error.
func guarded(ctx context.Context, w workload.Workload, client *workload.Client) (stopped result.StoppedBy, err error) {
	defer failure.Recover(&err)
	return w.Measure(ctx, client)
}

// close ends the sessions. What was measured is committed by then: an error changes nothing.
func (c *clients) close() {
	for _, s := range c.sessions {
		_ = s.Close()
	}
}

// offered is a rate at which rows were due, and what became of it.
type offered struct {
	rate workload.Rate
	// rows is how many were to be inserted; 0 is as many as there was time for.
	rows int64
	// began is when the last transaction began.
	began time.Duration
}

// reached is the part of the rows that were due when the last transaction began that were not late by then: 1 if that began
// when it was due.
func (o offered) reached(inserted int64) float64 {
	due := o.rate.Due(inserted)
	return min(float64(due)/float64(max(o.began, due, 1)), 1)
}

// waiting is how many rows were due when the time limit ended the load, and had not been sent.
func (o offered) waiting(doc *result.Document) int64 {
	if doc.Totals.StoppedBy != result.StoppedBySeconds {
		return 0
	}
	due := o.rate.DueBy(time.Duration(doc.Config.LimitSeconds)*time.Second - 1)
	if o.rows > 0 {
		due = min(due, o.rows)
	}
	return max(due-doc.Work().Rows, 0)
}

// metrics are what was asked for, how much of it there was, and the latencies of transactions, which count from when they
// were due.
func (o offered) metrics(doc *result.Document) []result.Metric {
	all := []result.Metric{
		higher("offeredRowsPerSecond", float64(o.rate), "rows/s"),
		higher("rateReachedPercent", 100*o.reached(doc.Work().Rows), "%"),
	}
	i := slices.IndexFunc(doc.Latencies, func(l result.Latency) bool { return l.Operation == "transaction" })
	if i < 0 {
		return all
	}
	l := doc.Latencies[i]
	return append(all,
		lower("transactionP50Micros", float64(l.P50Micros), "µs"),
		lower("transactionP95Micros", float64(l.P95Micros), "µs"),
		shown(lower("transactionP99Micros", float64(l.P99Micros), "µs")),
	)
}

// findings say that the rate was not reached. Rows that never were sent are in no latency: without a finding, the worst ones
// would be missing without a word.
func (o offered) findings(doc *result.Document) []finding.Finding {
	t, reached := doc.Totals, o.reached(doc.Work().Rows)
	const enough = 0.99 // of the rows that were due; it is that of Sysbench, too
	if reached >= enough {
		return nil
	}
	return []finding.Finding{finding.Missed{
		Rate: int64(o.rate), Reached: 1e6 * float64(t.Rows) / float64(max(t.Micros, 1)), Share: 100 * reached, Waiting: o.waiting(doc),
		Unit: "rows/s",
	}.Finding()}
}
