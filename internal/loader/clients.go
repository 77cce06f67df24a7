// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// clients are the sessions of the measured phase.
type clients struct {
	sessions []*conn.Session
	// interrupt ends all of them.
	interrupt func()
	// milestones of all together, or nil.
	milestones *milestones
}

// run lets all clients work at the same time, from start on, and returns what they measured together. The first error ends
// the others.
func (c *clients) run(ctx context.Context, w workload.Workload, start time.Time, limit time.Duration, out *progress) (
	measured *recorder, stopped result.StoppedBy, err error,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make([]result.StoppedBy, len(c.sessions))
	errs := make(chan error, len(c.sessions))
	recorders := newRecorders(len(c.sessions), c.milestones, start)
	out.count(func() int64 {
		sum := int64(0)
		for _, r := range recorders {
			sum += r.rowsSoFar.Load()
		}
		return sum
	})
	var working sync.WaitGroup
	for i, s := range c.sessions {
		client := &workload.Client{Index: i, Session: s, Recorder: recorders[i], Limit: limit}
		working.Go(func() {
			stopped, err := guarded(ctx, w, client)
			outcomes[i] = stopped
			if err != nil {
				// The first error is the cause; those that follow from the interruption come after it.
				errs <- err
				c.interrupt()
				// Somebody may be waiting for this client instead of for the server.
				cancel()
			}
		})
	}
	working.Wait()
	select {
	case err := <-errs:
		return nil, "", err
	default:
	}
	measured, stopped = recorders[0], outcomes[0]
	for i, other := range recorders[1:] {
		measured.merge(other)
		if outcomes[i+1] == result.StoppedBySeconds {
			stopped = result.StoppedBySeconds
		}
	}
	return measured, stopped, nil
}

// guarded measures, and turns a panic into an error.
func guarded(ctx context.Context, w workload.Workload, client *workload.Client) (stopped result.StoppedBy, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failedf(result.FailureInternal, "panic: %v\n%s", p, debug.Stack())
		}
	}()
	return w.Measure(ctx, client)
}

// close ends the sessions. What was measured is committed by then: an error changes nothing.
func (c *clients) close() {
	for _, s := range c.sessions {
		_ = s.Close()
	}
}
