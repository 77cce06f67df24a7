// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// situation is the input of every rule about runs.
type situation struct {
	run  *v1alpha1.BenchmarkRun
	plan *plan.Plan
	seen *Observed
	// compared is what the records say of the run's variants; nil without.
	compared *analysis.Compared
	now      time.Time
	progress
}

// runRules decide about a run.
var runRules = rules{
	ends: []rule{
		finished,
		deleted,
		failing,
		retained,
		obstructed,
		suspended,
	},
	steps: []rule{
		variantsChecked,
		queued,
		predecessor,
		recorded,
		ended,
		failed,
		running,
		unclaimed,
		measured,
		roomForAll,
		retired,
		tuned,
		provided,
		start,
	},
}

// Next decides what a run does next.
func Next(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) Decision {
	return runRules.next(newSituation(run, p, seen, now))
}

func newSituation(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) *situation {
	seen.Compared = analysis.OfVariants(run, p, seen.Records, seen.Variables, seen.Compared)
	g := progressOf(run, p, seen.Records, seen.Compared)
	return &situation{run: run, plan: p, seen: seen, compared: seen.Compared, progress: g, now: now}
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
	return s.leaveNodes()
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
	if s.compared != nil {
		return s.answered()
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

// A turn is the time for which a run has its lane, without the time for which it is suspended or waits for the
// lane again. An administrator may bound it, so that no owner keeps a lane from the others for months.

// RunTurnRefused says why a run that has not begun does not: it asks for more than a turn. It returns nil if it may begin. Most
// is 0 without a bound.
func RunTurnRefused(run *v1alpha1.BenchmarkRun, most time.Duration) *Failure {
	requested := run.Spec.DeadlineSeconds
	if most == 0 || requested == nil || run.Status.StartTime != nil || time.Duration(*requested)*time.Second <= most {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: fmt.Sprintf(
		"spec.deadlineSeconds is %d but must be at most %d: this installation limits how long a run may hold its lane (--max-turn)",
		*requested, int64(most/time.Second))}
}

// turnEnd is when the owner's turn is over. It returns nil without a bound.
func (s *situation) turnEnd() *time.Time {
	most := s.seen.MaxTurn
	if most == 0 {
		return nil
	}
	return ptr.To(ptr.Deref(s.run.Status.StartTime, metav1.NewTime(s.now)).Add(most + s.pausedFor()))
}

// turnOver ends a run whose turn is over, or returns nil. Like a deadline that was asked for, it does not wait
// for what is about to be made, only for what keeps what was measured.
func (s *situation) turnOver(waits string) *Decision {
	if end := s.turnEnd(); end == nil || s.now.Before(*end) {
		return nil
	}
	return fail(Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: fmt.Sprintf(
		"the run has held its lane for %s, the maximum of this installation (--max-turn): %s",
		s.seen.MaxTurn, waits)})
}

// within is the earlier of a deadline and the end of a turn, if that has one.
func within(deadline time.Time, turn *time.Time) time.Time {
	if turn == nil {
		return deadline
	}
	return earlier(deadline, *turn)
}
