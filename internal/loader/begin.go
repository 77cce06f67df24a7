// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// begin makes the load before it is measured, over the connections and on the tables that are measured. What is sent is counted,
// for the verification, and in no other number.
func (l *clientLoad) begin(ctx context.Context, w workload.Continued) error {
	whole, ramp := w.Before()
	c, err := l.open(ctx)
	if err != nil {
		return err
	}
	c.turns = nil // it has the first turn, as a whole
	w.BeginWarmUp()
	each := ramp / time.Duration(len(c.sessions))
	_, err = timed(ctx, len(c.sessions), atOnce, func(start time.Time) error {
		before, _, err := c.run(ctx, ramped{l.workload, each}, start, whole, l.progress)
		if err == nil {
			l.warmed = before.Totals()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	w.Continue()
	return nil
}

// ramped is a workload whose clients begin one after another.
type ramped struct {
	workload.Workload
	// each begins so long after the one before.
	each time.Duration
}

// Measure implements Workload.
func (r ramped) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	if err := c.SleepUntil(ctx, time.Duration(c.Index)*r.each); err != nil {
		return "", err
	}
	return r.Workload.Measure(ctx, c)
}
