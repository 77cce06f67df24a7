// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

type role interface {
	run(ctx context.Context) error
	// release removes what the attempt has made on a server that is not the run's own, whatever became of the attempt. The
	// release finds what is left.
	release() []finding.Finding
	// document puts together what is known; nil if this Pod has delivered that to another one. The identity is filled in when
	// it is published.
	document() (*result.Document, error)
}

func newRole(a *attempt, w workload.Workload, l load) role {
	all, o := a.cfg.Pods, owner{attempt: a, load: l, watch: newWatch(a.cfg.Server)}
	meeting := schema.NewMeeting(a.admin, a.dialect, a.cfg.Server.Schema, a.identity, all, a.connectAtMost())
	switch staged, is := w.(workload.Staged); {
	case is:
		return &chain{only: only{o}, staged: staged}
	case all < 2:
		return &only{o}
	case a.cfg.Pod == 0:
		return &leader{owner: o, meeting: schema.Leader{Meeting: meeting}}
	default:
		return &follower{attempt: a, load: l, meeting: schema.Follower{Meeting: meeting}}
	}
}

type only struct{ owner }

func (o *only) run(ctx context.Context) error {
	if err := o.prepare(ctx); err != nil {
		return err
	}
	x := o.load.extras(o)
	quiet := []phase{{"quiesce", o.quiesce}}
	var pass []phase
	if o.turns != nil {
		// All variants come to rest at the same time, and only then wait for each other: the time without a load that each needs
		// passes once.
		quiet = []phase{{"quiesce", o.comeToRest}, {"meet", o.turns.Wait}, {"probe", o.probe}}
		pass = []phase{{"turn", o.turns.Pass}}
	}
	return o.through(ctx, x.stage, quiet, x.warmUp, pass, []phase{measuring(o.load, o)},
		x.after, []phase{{"verify", o.verify}}, x.cleanUp)
}

func (o *only) together(ctx context.Context, do func(context.Context) error) error { return do(ctx) }

func (o *only) begin(ctx context.Context) (time.Time, error) {
	if o.turns != nil {
		if err := o.turns.Wait(ctx); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, o.countBefore(ctx)
}

// end implements window. What comes after it would disturb others that are not over.
func (o *only) end(ctx context.Context) error {
	if err := o.countAfter(ctx); err != nil || o.turns == nil {
		return err
	}
	return o.turns.Over(ctx)
}

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

func (r ramped) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	if err := c.SleepUntil(ctx, time.Duration(c.Index)*r.each); err != nil {
		return "", err
	}
	return r.Workload.Measure(ctx, c)
}

// prime is the phase in which the load is made on a server on which nothing was measured yet. Of several Pods the first one does
// that alone, with the clients of all; the others wait.
func (o *owner) prime() []phase {
	r, ok := o.load.(*clientLoad)
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
	a.cfg, a.phases, a.findings, a.turns = &cfg, nil, nil, nil // nothing of it is measured, and all sides do it at the same time
	r := &clientLoad{attempt: &a, workload: w}
	err = r.prepare(ctx)
	if err == nil && r.plan.Stage != nil {
		err = r.plan.Stage(ctx)
	}
	if err == nil {
		r.plan.Milestones = workload.Milestones{}
		err = r.measure(ctx, unmeasured{})
	}
	if err != nil {
		return fmt.Errorf("priming the server: %w", err)
	}
	return l.keeper.Clear(ctx)
}

type unmeasured struct{}

func (unmeasured) together(ctx context.Context, do func(context.Context) error) error { return do(ctx) }

func (unmeasured) begin(context.Context) (time.Time, error) { return time.Time{}, nil }

func (unmeasured) end(context.Context) error { return nil }
