// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// role is what a Pod does of an attempt: all of it, also in stages, or as one of several that load together.
type role interface {
	// run goes through the phases.
	run(ctx context.Context) error
	// release removes what the attempt has made on a server that is not the run's own, whatever became of the attempt. The
	// release finds what is left.
	release() []finding.Finding
	// document puts together what is known; nil if this Pod has delivered that to another one. The identity is filled in when
	// it is published.
	document() (*result.Document, error)
}

func newRole(a *attempt, l load) role {
	all := a.cfg.Pods
	switch staged := stagedIn(l); {
	case staged != nil:
		return &chain{only: only{owner{attempt: a, load: l, watch: newWatch(a.cfg.Server)}}, staged: staged}
	case all < 2:
		return &only{owner{attempt: a, load: l, watch: newWatch(a.cfg.Server)}}
	case a.cfg.Pod == 0:
		return &leader{
			owner:   owner{attempt: a, load: l, watch: newWatch(a.cfg.Server)},
			meeting: schema.NewLeader(a.admin, a.dialect, a.cfg.Server.Schema, a.identity, all, a.connectAtMost()),
		}
	default:
		return &follower{
			attempt: a, load: l,
			meeting: schema.NewFollower(a.admin, a.dialect, a.cfg.Server.Schema, a.identity, all, a.connectAtMost()),
		}
	}
}

// stagedIn is the workload of a load that is measured in stages; nil if it is not.
func stagedIn(l load) workload.Staged {
	if clients, ok := l.(*clientLoad); ok {
		staged, _ := clients.workload.(workload.Staged)
		return staged
	}
	return nil
}

// only is the role of a Pod that has no others beside it.
type only struct{ owner }

func (o *only) run(ctx context.Context) error {
	if err := o.prepare(ctx); err != nil {
		return err
	}
	x := o.load.extras(o)
	quiet := []phase{{"quiesce", o.quiesce}}
	var pass []phase
	if o.cfg.Turns != nil {
		// All variants come to rest at the same time, and only then wait for each other: the time without a load that each needs
		// passes once.
		quiet = []phase{{"quiesce", o.comeToRest}, {"meet", o.meet}, {"probe", o.probe}}
		pass = []phase{{"turn", o.pass}}
	}
	return o.through(ctx, slices.Concat(
		x.stage,
		quiet,
		x.warmUp,
		pass,
		[]phase{measuring(o.load, o)},
		x.after,
		[]phase{{"verify", o.verify}},
		x.cleanUp,
	)...)
}

// together implements window.
func (o *only) together(ctx context.Context, do func(context.Context) error) error { return do(ctx) }

// begin implements window.
func (o *only) begin(ctx context.Context) (time.Time, error) {
	if o.turns != nil {
		if err := o.turns.Wait(ctx); err != nil {
			return time.Time{}, alternationBroken(err)
		}
	}
	return time.Time{}, o.countBefore(ctx)
}

// end implements window. What comes after it would disturb others that are not over.
func (o *only) end(ctx context.Context) error {
	if err := o.countAfter(ctx); err != nil || o.turns == nil {
		return err
	}
	return alternationBroken(o.turns.Over(ctx))
}
