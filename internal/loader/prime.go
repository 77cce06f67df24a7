// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// rehearsed is a load that can be made once without being measured.
type rehearsed interface {
	rehearse(ctx context.Context) error
}

// prime is the phase in which the load is made on a server on which nothing was measured yet. Of several Pods the first one does
// that alone, with the clients of all; the others wait.
func (o *owner) prime() []phase {
	r, ok := o.load.(rehearsed)
	if o.cfg.PrimeSeconds == 0 || !ok {
		return nil
	}
	return []phase{{"prime", r.rehearse}}
}

// rehearse makes the load for a bounded time, and removes what it has made. Nothing that it notes belongs to the attempt, and the
// workload is another one than that which is measured afterwards: that has handed out no row.
func (l *clientLoad) rehearse(ctx context.Context) error {
	cfg := *l.cfg
	cfg.Pods, cfg.Pod = 0, 0
	w, err := registry.New(&cfg)
	if err != nil {
		return err
	}
	if cfg.LimitSeconds == 0 || cfg.LimitSeconds > cfg.PrimeSeconds {
		cfg.LimitSeconds = cfg.PrimeSeconds
	}
	a := *l.attempt
	a.cfg, a.phases, a.findings = &cfg, nil, nil
	r := &clientLoad{attempt: &a, workload: w}
	if err := r.prepare(ctx); err != nil {
		return fmt.Errorf("priming the server: %w", err)
	}
	if r.plan.Stage != nil {
		if err := r.plan.Stage(ctx); err != nil {
			return fmt.Errorf("priming the server: %w", err)
		}
	}
	r.plan.Milestones = workload.Milestones{}
	if err := r.measure(ctx, unmeasured{}); err != nil {
		return fmt.Errorf("priming the server: %w", err)
	}
	return l.keeper.Clear(ctx)
}

// unmeasured is the window of a load that begins at once, and that nobody measures.
type unmeasured struct{}

func (unmeasured) together(ctx context.Context, do func(context.Context) error) error { return do(ctx) }

func (unmeasured) begin(context.Context) (time.Time, error) { return time.Time{}, nil }

func (unmeasured) end(context.Context) error { return nil }
