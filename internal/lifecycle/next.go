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
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// situation is what every rule is given.
type situation struct {
	run  *v1alpha1.BenchmarkRun
	plan *plan.Plan
	seen *Observed
	now  time.Time
	progress
}

// rule decides, or leaves the decision to the rules after it.
type rule func(*situation) *Decision

// rules in the order in which they are asked.
var rules = []rule{
	deleted,
	finished,
	obstructed,
	predecessor,
	suspended,
	recorded,
	ended,
	failed,
	running,
	measured,
	retired,
	provided,
	start,
}

// Next decides what a run does next.
func Next(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) Decision {
	s := newSituation(run, p, seen, now)
	for _, r := range rules {
		if d := r(s); d != nil {
			return *d
		}
	}
	return Decision{Action: Wait{}}
}

func newSituation(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, now time.Time) *situation {
	return &situation{run: run, plan: p, seen: seen, now: now, progress: progressOf(run, p, seen.Records)}
}

func deleted(s *situation) *Decision {
	if s.run.DeletionTimestamp == nil {
		return nil
	}
	return &Decision{Action: Wait{}}
}

func obstructed(s *situation) *Decision {
	if s.seen.Obstacle == nil {
		return nil
	}
	return fail(*s.seen.Obstacle)
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
	}
	return &d
}

// removeEverything is the next step on the way to no Job and no database, or nil.
func (s *situation) removeEverything() Action {
	for _, a := range s.seen.Attempts {
		if a.Job.DeletionTimestamp == nil {
			return RemoveJob{Name: a.Job.Name, UID: a.Job.UID}
		}
	}
	for _, i := range s.seen.Instances {
		if i.Removable() {
			return RemoveDatabase{Instance: i.Number}
		}
	}
	return nil
}

// recorded removes a Job whose attempt's record is safe.
func recorded(s *situation) *Decision {
	for _, a := range s.seen.Attempts {
		if s.seen.record(a.Trial, a.Number) != nil && a.Job.DeletionTimestamp == nil {
			return s.measuring(RemoveJob{Name: a.Job.Name, UID: a.Job.UID})
		}
	}
	return nil
}

// ended records an attempt that has ended, or whose loader did not start in time.
func ended(s *situation) *Decision {
	for _, a := range s.seen.Attempts {
		if s.seen.record(a.Trial, a.Number) != nil {
			continue
		}
		if a.Job.DeletionTimestamp != nil {
			continue // being removed without a record: the run was suspended, or somebody deleted it
		}
		v := s.judge(a)
		if v.Stage == trial.StagePending && s.remaining(a.Job.CreationTimestamp.Time) == 0 {
			v = s.notStarted(&a, v)
		}
		if v.Stage == trial.StageEnded {
			return s.measuring(RecordAttempt{Attempt: a, Verdict: v, Parameters: s.parameters(a.Trial)})
		}
	}
	return nil
}

// notStarted is the end of an attempt whose loaders, or some of them, did not run in time.
func (s *situation) notStarted(a *Attempt, v trial.Verdict) trial.Verdict {
	end := trial.Verdict{
		Stage: trial.StageEnded, Outcome: result.OutcomeFailed, Cause: result.CauseNotStarted,
		Message: s.deadlineMessage("no loader ran", a.waiting(v)), Pod: v.Pod,
	}
	if v.Running > 0 {
		end.Cause = result.CauseBarrierTimeout
		end.Message = s.deadlineMessage("not all loaders ran", a.waiting(v))
	}
	return end
}

// judge an attempt, with the database in view: one that was lost is why the attempt failed, whatever the loader says of it,
// and a loader that waits for a lost database is not waited for. A result that is whole already counts, unless the database's
// node was away in the meantime.
func (s *situation) judge(a Attempt) trial.Verdict {
	v := trial.Judge(a.Job, a.Pods)
	i := s.seen.instance(a.Instance)
	if v.Stage == trial.StageEnded && v.Outcome == result.OutcomeAccepted {
		if interrupted := i.Interrupted(a.Job.CreationTimestamp.Time); interrupted != "" {
			v.Outcome, v.Cause, v.Message = result.OutcomeInvalidated, result.CauseNodeNotReady, interrupted
		}
		return v
	}
	if lost := i.Lost(); lost != "" && (i != nil || s.run.Spec.Database.Provisioner != v1alpha1.ProvisionerExternal) {
		v.Stage, v.Outcome, v.Cause, v.Message = trial.StageEnded, result.OutcomeInvalidated, result.CauseDatabaseLost, lost
	}
	return v
}

// failed ends the run for an attempt that a new one would repeat, or after too many that were disturbed.
func failed(s *situation) *Decision {
	if r := s.failed; r != nil {
		return fail(Failure{Reason: reasonOf(r.Cause), Message: fmt.Sprintf("trial %d%s: %s", r.Trial, at(r.Parameters), r.Message)})
	}
	limit := int(ptr.Deref(s.run.Spec.Trials.MaxInvalid, 3))
	if s.invalidated <= limit {
		return nil
	}
	last := result.Record{}
	for _, r := range s.seen.Records {
		if r.Outcome == result.OutcomeInvalidated {
			last = *r
		}
	}
	return fail(Failure{Reason: v1alpha1.ReasonTooManyInvalid, Message: fmt.Sprintf(
		"attempts disturbed: %d, allowed by trials.maxInvalid: %d; the last one, of trial %d%s: %s: %s",
		s.invalidated, limit, last.Trial, at(last.Parameters), last.Cause, last.Message)})
}

// running waits for an attempt's end.
func running(s *situation) *Decision {
	if len(s.seen.Attempts) == 0 {
		return nil
	}
	d := s.measuring(Wait{})
	a := s.seen.Attempts[0]
	if v := trial.Judge(a.Job, a.Pods); v.Stage == trial.StagePending {
		d.After = min(lookAgain, s.remaining(a.Job.CreationTimestamp.Time))
		if a.Trouble != "" {
			d.Message += ": " + a.waiting(v)
		}
	}
	return d
}

// waiting says what a pending attempt waits for, and what the cluster warns of.
func (a *Attempt) waiting(v trial.Verdict) string {
	if a.Trouble == "" {
		return v.Waiting
	}
	return v.Waiting + ": " + a.Trouble
}

// measured publishes when nothing is left to measure, and is content when that is done.
func measured(s *situation) *Decision {
	if s.next != nil {
		return nil
	}
	if s.seen.Results == nil {
		return &Decision{
			Action: Publish{Outcome: v1alpha1.ConditionComplete},
			Reason: v1alpha1.ReasonPublishing, Message: "every trial is measured; the results are being written",
		}
	}
	return &Decision{Action: Wait{}, Complete: true}
}

// start creates the next attempt's Job.
func start(s *situation) *Decision {
	a := trial.Attempt{
		Trial: *s.next, Point: s.plan.Points[s.next.Point], Number: s.attempt, Instance: s.wanted(),
	}
	if s.run.Spec.Placement == v1alpha1.PlacementSameNode {
		bound := s.seen.bound()
		a.Nodes = bound.Loaders()
	}
	return s.measuring(StartAttempt{Attempt: a})
}

// measuring is a decision while trials are being measured.
func (s *situation) measuring(a Action) *Decision {
	message := "the last trial is being recorded"
	if s.next != nil {
		message = fmt.Sprintf("trial %d of %d%s", s.next.Number, len(s.plan.Trials), at(s.parameters(s.next.Number)))
	}
	return &Decision{Action: a, Reason: v1alpha1.ReasonMeasuring, Message: message}
}

func (s *situation) parameters(trialNumber int) map[string]string {
	if trialNumber < 1 || trialNumber > len(s.plan.Trials) {
		return nil
	}
	return s.plan.Points[s.plan.Trials[trialNumber-1].Point].Parameters
}

// remaining is the time left until the start deadline of something made at the given time; 0 if it has passed.
func (s *situation) remaining(created time.Time) time.Duration {
	deadline := created.Add(time.Duration(s.run.Spec.Trials.StartDeadlineSeconds) * time.Second)
	return max(0, deadline.Sub(s.now))
}

func (s *situation) deadlineMessage(what, waiting string) string {
	return fmt.Sprintf("%s within trials.startDeadlineSeconds (%d): %s", what, s.run.Spec.Trials.StartDeadlineSeconds, waiting)
}

func fail(f Failure) *Decision { return &Decision{Action: Wait{}, Failure: &f} }

func at(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return " (" + stats.Label(parameters) + ")"
}

// reasonOf is the run's reason for an attempt's cause.
func reasonOf(c result.Cause) string {
	switch c {
	case result.CauseSettingNotEffective:
		return v1alpha1.ReasonSettingNotEffective
	case result.CauseConnect:
		return v1alpha1.ReasonDatabaseUnreachable
	case result.CauseSchemaTaken:
		return v1alpha1.ReasonNameTaken
	case result.CauseNotStarted:
		return v1alpha1.ReasonLoaderNotStarted
	case result.CauseBarrierTimeout:
		return v1alpha1.ReasonBarrierTimeout
	case result.CauseDeadlineExceeded:
		return v1alpha1.ReasonDeadlineExceeded
	default:
		return v1alpha1.ReasonLoaderFailed
	}
}
