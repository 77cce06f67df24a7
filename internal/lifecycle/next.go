// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// situation is the input of every rule.
type situation struct {
	run  *v1alpha1.BenchmarkRun
	plan *plan.Plan
	seen *Observed
	now  time.Time
	progress
}

// rule decides, or returns nil: then the next one is asked.
type rule func(*situation) *Decision

// ends are the rules for a run that takes no further step, and steps those for one that does, each in the order in which they
// are asked.
var (
	ends = []rule{
		finished,
		deleted,
		failing,
		obstructed,
		suspended,
	}
	steps = []rule{
		queued,
		predecessor,
		recorded,
		ended,
		failed,
		running,
		unclaimed,
		measured,
		retired,
		tuned,
		provided,
		dropped,
		start,
	}
)

// Next decides what a run does next.
func Next(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) Decision {
	s := newSituation(run, p, seen, now)
	d := s.decide()
	d.Finished = d.Finished || d.Failure != nil && s.nothingToPublish()
	return d
}

func (s *situation) decide() Decision {
	if s.seen.ObserveFailed {
		switch {
		case s.run.DeletionTimestamp != nil:
			return beingDeleted("run", s.run, &s.seen.Blockers)
		case s.is(v1alpha1.ConditionFailed), s.is(v1alpha1.ConditionFinished):
			return Decision{Action: Wait{}}
		}
		return s.bound(Decision{Action: Wait{}})
	}
	if d := s.first(ends); d != nil {
		return *d
	}
	if d := s.first(steps); d != nil {
		return s.bound(*d)
	}
	return Decision{Action: Wait{}}
}

// first decision of some rules, or nil.
func (s *situation) first(rules []rule) *Decision {
	for _, r := range rules {
		if d := r(s); d != nil {
			return d
		}
	}
	return nil
}

func newSituation(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) *situation {
	return &situation{run: run, plan: p, seen: seen, now: now, progress: progressOf(run, p, seen.Records)}
}

func obstructed(s *situation) *Decision {
	if s.seen.Terminal != nil {
		return fail(*s.seen.Terminal)
	}
	if f := s.seen.taken("run", s.needs); f != nil {
		return fail(*f)
	}
	return nil
}

func predecessor(s *situation) *Decision {
	if len(s.seen.Predecessor) == 0 {
		return nil
	}
	return &Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonWaitingForPredecessor, After: time.Second,
		Message: "objects of an earlier run of this name are still being deleted: " + strings.Join(s.seen.Predecessor, ", "),
	}
}

func suspended(s *situation) *Decision {
	if !ptr.Deref(s.run.Spec.Suspend, false) {
		return nil
	}
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}
	if a := s.removeEverything(); a != nil {
		d.Action = a
	} else {
		s.leave(&d)
	}
	return &d
}

// removeEverything is the next step on the way to no Job, no database and no tuned node, or nil.
func (s *situation) removeEverything() Action {
	for _, a := range append(s.unclaimed(), s.seen.Attempts...) {
		if a.Job.DeletionTimestamp == nil {
			return RemoveJob{Name: a.Job.Name, UID: a.Job.UID}
		}
	}
	if a := removal(s.seen.Instances); a != nil {
		return a
	}
	return s.leaveNodes("")
}

// measured publishes when no trial is left, and completes the run when that is done.
func measured(s *situation) *Decision {
	if s.next != nil {
		return nil
	}
	if s.seen.Results == nil {
		if d := s.restoring(); d != nil {
			return d
		}
		return &Decision{
			Action: Publish{Outcome: v1alpha1.ConditionComplete},
			Reason: v1alpha1.ReasonPublishing, Message: "every trial is measured; the results are being written",
		}
	}
	return &Decision{
		Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonComplete,
		Message: fmt.Sprintf("%d trials at %d points were measured", s.Measured, len(s.plan.Points)),
	}
}

func fail(f Failure) *Decision { return &Decision{Action: Wait{}, Failure: &f} }

// atPoint names a point in a message.
func atPoint(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return " (" + stats.Label(parameters) + ")"
}
