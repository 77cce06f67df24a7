// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// situation is the input of every rule about runs.
type situation struct {
	owner
	run  *v1alpha1.BenchmarkRun
	plan *plan.Plan
	seen *Observed
	progress
}

// runRules decide about runs.
var runRules = rules[*situation]{
	ends: []rule[*situation]{
		finished[*situation],
		deleted,
		failing,
		retained,
		obstructed[*situation],
		suspended,
	},
	steps: []rule[*situation]{
		queued,
		predecessor[*situation],
		recorded,
		ended,
		failed,
		running,
		unclaimed,
		othersMeasure,
		measured,
		retired,
		tuned,
		provided,
		dropped,
		waitForTurn,
		start,
	},
}

// Next decides what a run does next.
func Next(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) Decision {
	return runRules.next(newSituation(run, p, seen, now))
}

func newSituation(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) *situation {
	status, spec := &run.Status, &run.Spec
	return &situation{run: run, plan: p, seen: seen, progress: progressOf(run, p, seen.Records), owner: owner{
		noun: "run", object: run, holder: HolderOf(run), now: now,
		lane: &seen.Lane, blockers: &seen.Blockers, predecessor: &seen.Predecessor,
		conditions: status.Conditions, started: status.StartTime, suspended: status.SuspendedSeconds, deadlineBefore: status.Deadline,
		refusal: status.Refusal, deadlineSeconds: spec.DeadlineSeconds, startDeadlineSeconds: spec.Trials.StartDeadlineSeconds,
		expires: runExpiry(run, status.CompletionTime, seen.DefaultTTL), deletion: DeleteRun{},
	}}
}

// retained: an earlier run of the same name and specification has left its results.
func retained(s *situation) *Decision {
	if s.plan == nil || s.next != nil || s.seen.Results == nil || s.seen.Results.FromRun == "" {
		return nil
	}
	return &Decision{
		Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonComplete,
		Message: fmt.Sprintf("nothing was measured: ConfigMap %s has the results of an earlier run of this name with the same "+
			"specification (UID %s); anybody who may write ConfigMaps in this namespace could have changed them. Delete them to "+
			"measure again", s.seen.Results.ConfigMap, s.seen.Results.FromRun),
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
		leave(s, &d)
	}
	return &d
}

// removeEverything is the next step on the way to no Job, no database and no tuned node, or nil.
func (s *situation) removeEverything() Action {
	for _, a := range append(s.unclaimed(), s.seen.Attempts...) {
		if a.Job.DeletionTimestamp == nil || podutil.HeldUp(a.Job, a.Pods...) {
			return RemoveJob{Job: a.Job}
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
		Message: fmt.Sprintf("measured: %s at %s", stats.Counted(s.Measured, "trial"), stats.Counted(len(s.plan.Points), "point")),
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
