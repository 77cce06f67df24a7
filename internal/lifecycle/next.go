// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

type situation struct {
	run      *v1alpha1.BenchmarkRun
	plan     *plan.Plan
	seen     *Observed
	compared *judge.Compared
	now      time.Time
	judge.Progress
	failed *result.Record
	// next is the first trial that is not measured yet, or nil; attempt is the number of its next attempt.
	next    *plan.Trial
	attempt int
}

// Rules in the order in which they are asked: ends are for a run that takes no further step, and steps for one that does. A
// deadline bounds steps.
var (
	ends  = []rule{finished, deleted, failing, retained, obstructed, suspended}
	steps = []rule{
		variantsChecked, queued, predecessor,
		recorded, ended, failed, running, unclaimed, measured,
		begunAgain, retired, tuned, provided, vacated, start,
	}
)

// Next decides what a run does next.
func Next(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) Decision {
	s := newSituation(run, p, seen, now)
	d := s.decide()
	d.Finished = d.Finished || d.Failure != nil && s.nothingToPublish()
	return d
}

func newSituation(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) *situation {
	seen.Compared = judge.OfVariants(run, p, seen.Records, seen.Variables, seen.Compared)
	s := &situation{
		run: run, plan: p, seen: seen, compared: seen.Compared, now: now, Progress: judge.ProgressOf(run, p, seen.Records),
	}
	s.Keep(func(t *plan.Trial) bool { return s.compared.Left(p, t) })
	if len(s.Left) > 0 {
		next := *s.Left[0]
		next.Sides = s.compared.SidesOf(&next)
		s.next, s.attempt = &next, 1
	}
	for _, r := range seen.Records {
		if s.next != nil && r.Trial == s.next.Number {
			s.attempt = max(s.attempt, r.Attempt+1)
		}
		if r.Outcome == result.OutcomeFailed && s.failed == nil {
			s.failed = r
		}
	}
	return s
}

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
	for _, i := range s.seen.Instances {
		if i.Removable() {
			return RemoveDatabase{Instance: i.Number}
		}
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

func fail(reason, message string) *Decision {
	return &Decision{Action: Wait{}, Failure: &Failure{reason, message}}
}

func atPoint(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return " (" + stats.Label(parameters) + ")"
}

// A turn is the time for which a run has its lane, without the time for which it is suspended or waits for the
// lane again. An administrator may bound it, so that no owner keeps a lane from the others for months.

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
	return fail(v1alpha1.ReasonDeadlineExceeded, fmt.Sprintf(
		"the run has held its lane for %s, the maximum of this installation (--max-turn): %s", s.seen.MaxTurn, waits))
}

// Decision is the next action, and what the status says about it.
type Decision struct {
	Action Action
	// Failure says why the run cannot have all of its results. The action is Wait then.
	Failure *Failure
	// Complete ends the run with all of its results. Finished ends one that failed: nothing more will be written.
	Complete, Finished bool
	// Reason is what the run is doing, one of the API's reasons; Message says it in a sentence. A Failure has its own.
	Reason, Message string
	// Stopped: the run is being deleted, and nothing of it is left that has to be removed.
	Stopped bool
	// Unexpected: the run has been admitted, and its lane is another's now. Only a cache that is behind should say so.
	Unexpected bool
	// After is the time until the next reconcile if no watch triggers it earlier; 0 waits for a watch.
	After time.Duration
}

// Action is one of the types in this file.
type Action interface{ action() }

type (
	// Wait does nothing.
	Wait struct{}
	// TakeLane creates the Lease of the lane of a run, if the lane is free.
	TakeLane struct{}
	// ReleaseLane deletes the Lease of that lane, if it is still this holder's.
	ReleaseLane struct{ Holder Holder }
	// RemoveOrphan deletes an object of an earlier owner of the same name, if it is unchanged and that owner is gone.
	RemoveOrphan struct{ Object database.Object }
	// ProvideDatabase creates an instance, bound to Node if that is not empty. Beside is how many servers are up together with it;
	// one that is Guarded has no guard of its own.
	ProvideDatabase struct {
		Instance int
		Node     string
		Beside   int
		Guarded  bool
	}
	// RemoveDatabase deletes the objects of an instance.
	RemoveDatabase struct{ Instance int }
	// RemoveDataCopies deletes the claims with copies of prepared data.
	RemoveDataCopies struct{}
	// StartAttempt creates an attempt's Job.
	StartAttempt struct{ Attempt trial.Attempt }
	// ClaimAttempt makes a Job that exists that of the next attempt, if it is what the operator would have made.
	ClaimAttempt struct{ Attempt trial.Attempt }
	// RecordAttempt fetches an accepted attempt's document and writes the attempt's record.
	RecordAttempt struct {
		Attempt    Attempt
		Parameters map[string]string
	}
	// RemoveJob deletes a Job if it still has that UID.
	RemoveJob struct{ Job *batchv1.Job }
	// Publish writes the results of the run.
	Publish struct{ Outcome string }
	// ReleaseNodes deletes the PodDisruptionBudget of an instance that stays: nothing is measured any more.
	ReleaseNodes struct{ Instance int }
	// TuneHost creates the Lease of a node, by which that is tuned. Disk is the one below the data volume, or unknown.
	TuneHost struct {
		Node, Disk string
		Tuning     *v1alpha1.HostTuningSpec
	}
	// ReleaseHost has a node restored.
	ReleaseHost struct{ Node TunedNode }
	// CheckVariants has the API server check what each variant asks for, without creating it.
	CheckVariants struct{}
	// DeleteRun deletes the run, because its time to live has passed.
	DeleteRun struct{}
)

func (d *Decision) waitsFor(kueue, room bool) {
	switch {
	case kueue:
		d.Reason = v1alpha1.ReasonWaitingForKueue
	case room:
		d.Reason = v1alpha1.ReasonInsufficientResources
	}
}

// Irrevocable says whether a decision cannot be taken back. It must not be carried out because of what a cache says that may be
// behind. The creation of a Job and the record of an accepted attempt are not among these: their names and what the API server
// answers protect them.
func (d *Decision) Irrevocable() bool {
	if d.Failure != nil || d.Unexpected {
		return true
	}
	switch a := d.Action.(type) {
	case RecordAttempt:
		return a.Attempt.Verdict.Outcome != result.OutcomeAccepted
	case TakeLane, ReleaseLane, ProvideDatabase, RemoveDatabase, RemoveDataCopies, TuneHost, ReleaseHost, DeleteRun:
		return true
	}
	return false
}

func (Wait) action()             {}
func (TakeLane) action()         {}
func (ReleaseLane) action()      {}
func (RemoveOrphan) action()     {}
func (ProvideDatabase) action()  {}
func (RemoveDatabase) action()   {}
func (RemoveDataCopies) action() {}
func (StartAttempt) action()     {}
func (ClaimAttempt) action()     {}
func (RecordAttempt) action()    {}
func (RemoveJob) action()        {}
func (Publish) action()          {}
func (ReleaseNodes) action()     {}
func (TuneHost) action()         {}
func (ReleaseHost) action()      {}
func (DeleteRun) action()        {}
func (CheckVariants) action()    {}
