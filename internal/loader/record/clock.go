// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
)

// Clock is the time of the measured phase, which all clients of a Pod share. It stands still while others are measured: clients
// then send nothing, see Enter.
type Clock struct {
	start time.Time
	// state is for how many nanoseconds the clock has stood still so far or, below zero, where it stands: the complement of its
	// time. One number, so that Now never sees half of a change.
	state atomic.Int64
	// gate is held for reading by whoever waits for an answer of the server, and for writing while the clock stands still.
	gate sync.RWMutex
}

// NewClock runs from start on; its zero is now.
func NewClock(start time.Time) *Clock {
	if start.IsZero() {
		start = time.Now()
	}
	return &Clock{start: start}
}

// Now is the time since the start for which the clock has run.
func (c *Clock) Now() time.Duration {
	state := c.state.Load()
	if state < 0 {
		return time.Duration(^state)
	}
	return time.Since(c.start) - time.Duration(state)
}

// Enter waits until the clock runs, and keeps it running until Leave.
func (c *Clock) Enter() { c.gate.RLock() }

// Leave is called after Enter, when the server has answered.
func (c *Clock) Leave() { c.gate.RUnlock() }

// Stop lets nobody enter, waits until all have left, and stops the clock.
func (c *Clock) Stop() {
	c.gate.Lock()
	c.state.Store(^int64(c.Now()))
}

// Go lets the clock run again after Stop.
func (c *Clock) Go() {
	stood := c.Now()
	c.state.Store(int64(time.Since(c.start) - stood))
	c.gate.Unlock()
}

// SleepUntil returns at a time of the clock, or with the cause of ctx when that has ended.
func (c *Clock) SleepUntil(ctx context.Context, at time.Duration) error {
	for {
		c.Enter()
		left := at - c.Now()
		c.Leave()
		if left <= 0 && ctx.Err() == nil {
			return nil
		}
		if err := sleep.Until(ctx, time.Now().Add(left)); err != nil {
			return err
		}
	}
}
