// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// recorded removes the Job of an attempt that has its record.
func recorded(s *situation) *Decision {
	for _, a := range s.seen.Attempts {
		if s.seen.recorded(a.Trial, a.Number) && (a.Job.DeletionTimestamp == nil || podutil.HeldUp(a.Job, a.Pods...)) {
			return s.measuring(RemoveJob{Job: a.Job})
		}
	}
	return nil
}

// ended records an attempt that has ended, or whose loaders did not start in time.
func ended(s *situation) *Decision {
	for _, a := range s.seen.Attempts {
		switch {
		case s.seen.recorded(a.Trial, a.Number):
			continue
		case s.abandoned(&a):
			a.Verdict = a.Verdict.Because(result.CausePodDeleted, "its Job was deleted, and stays because of its finalizers: "+
				strings.Join(a.Job.Finalizers, ", "))
		case a.Job.DeletionTimestamp != nil:
			continue // deleted without a record: the run was suspended, or somebody deleted the Job
		case a.Verdict.Stage == trial.StagePending && s.remaining(trial.WaitingSince(a.Job)) == 0:
			a.Verdict = s.notStarted(&a)
		}
		if a.Verdict.Stage == trial.StageEnded {
			return s.measuring(RecordAttempt{Attempt: a, Parameters: s.parameters(a.Trial)})
		}
	}
	return nil
}

// notStarted is the verdict about an attempt whose loaders, or some of them, did not run in time.
func (s *situation) notStarted(a *Attempt) trial.Verdict {
	end := trial.Verdict{Pod: a.Verdict.Pod}
	if a.Verdict.Running > 0 {
		return end.Because(result.CauseBarrierTimeout, s.deadlineMessage("not all loaders ran", a.waiting()))
	}
	return end.Because(result.CauseNotStarted, s.deadlineMessage("no loader ran", a.waiting()))
}

// failed ends the run after an attempt that failed, or after more disturbed ones than are allowed.
func failed(s *situation) *Decision {
	if r := s.failed; r != nil {
		return fail(cmp.Or(reasonsOfCauses[r.Cause], v1alpha1.ReasonLoaderFailed),
			fmt.Sprintf("trial %d%s: %s", r.Trial, atPoint(r.Parameters), r.Message))
	}
	limit := int(ptr.Deref(s.run.Spec.Trials.MaxInvalid, v1alpha1.DefaultMaxInvalid))
	invalidated := s.Invalidated - s.seen.copied()
	if invalidated <= limit {
		return nil
	}
	last := s.lastInvalidated()
	return fail(v1alpha1.ReasonTooManyInvalid, fmt.Sprintf(
		"invalidated attempts: %d (trials.maxInvalid allows %d); the last one was of trial %d%s: %s: %s",
		invalidated, limit, last.Trial, atPoint(last.Parameters), last.Cause, last.Message))
}

func (s *situation) lastInvalidated() (last *result.Record) {
	for _, r := range s.seen.Records {
		if r.Outcome == result.OutcomeInvalidated {
			last = r
		}
	}
	return last
}

// abandoned says whether the Job of an attempt is being deleted, stays because of a foreign finalizer, and has no Pod that
// loads a node: it is not waited for.
func (s *situation) abandoned(a *Attempt) bool {
	return podutil.IsKept(a.Job) && !slices.ContainsFunc(a.Pods, func(pod corev1.Pod) bool { return podutil.MayLoad(&pod, s.now) })
}

func running(s *situation) *Decision {
	i := slices.IndexFunc(s.seen.Attempts, func(a Attempt) bool { return !s.abandoned(&a) })
	if i < 0 {
		return nil
	}
	d := s.measuring(Wait{})
	a := s.seen.Attempts[i]
	if a.Verdict.Stage == trial.StagePending {
		d.After = min(pollInterval, s.remaining(trial.WaitingSince(a.Job)))
		d.waitsFor(a.Verdict.Held, a.Verdict.NoRoom)
		if a.Verdict.Held || a.Warning != "" {
			d.Message += ": " + a.waiting()
		}
	}
	return d
}

// unclaimed are the Jobs that have the name of the next attempt and are not known to be the operator's: one that it made before
// it could write that to the status, or one that a third party has made. All others belong to no attempt. Of a run that is being
// deleted they are all: what it has recorded is not read any more, and the garbage collector deletes each of them.
func (s *situation) unclaimed() []Attempt {
	return slices.DeleteFunc(slices.Clone(s.seen.Unclaimed), func(a Attempt) bool {
		ofNext := s.next != nil && a.Job.Name == plan.AttemptName(s.run, s.next.Number, s.attempt)
		return s.run.DeletionTimestamp == nil && !ofNext
	})
}

func unclaimed(s *situation) *Decision {
	jobs := s.unclaimed()
	switch {
	case len(jobs) == 0:
		return nil
	case jobs[0].Job.DeletionTimestamp != nil:
		d := s.measuring(Wait{})
		d.After = time.Second
		return d
	}
	return s.measuring(ClaimAttempt{Attempt: s.attemptOn(jobs[0].Instance)})
}

// waiting says what a pending attempt waits for, with the cluster's warning about it.
func (a *Attempt) waiting() string {
	if a.Warning == "" {
		return a.Verdict.Waiting
	}
	return a.Verdict.Waiting + ": " + a.Warning
}

// cold says whether an instance is to be primed: it may be measured more than once, and never was. An attempt that did not
// count may have ended before it was warm.
func (s *situation) cold(instance int) bool {
	t := &s.run.Spec.Trials
	if t.Server == v1alpha1.ServerPerTrial || ptr.Deref(t.PrimeSeconds, 0) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.seen.Records, func(r *result.Record) bool {
		return r.Served(instance) && r.Outcome == result.OutcomeAccepted
	})
}

func start(s *situation) *Decision {
	instance := s.wantedInstances()[0]
	if len(s.next.Sides) == 1 {
		instance = plan.InstanceIn(s.run, plan.SetOf(s.run, instance), s.next.Sides[0])
	}
	return s.measuring(StartAttempt{Attempt: s.attemptOn(instance)})
}

func (s *situation) attemptOn(instance int) trial.Attempt {
	a := trial.Attempt{
		Trial: *s.next, Point: s.plan.Points[s.next.Point], Number: s.attempt, Instance: instance, Metric: s.plan.Metric,
	}
	a.Prime, a.Address = s.cold(instance), s.addressOf(instance)
	for _, variant := range s.next.Sides {
		number := plan.InstanceIn(s.run, plan.SetOf(s.run, instance), variant)
		a.Sides = append(a.Sides, trial.Side{Variant: variant, Instance: number, Address: s.addressOf(number)})
	}
	if s.run.Spec.Placement == v1alpha1.PlacementSameNode {
		a.Nodes = s.boundLoaders()
	}
	return a
}

func (s *situation) addressOf(instance int) string {
	if i := s.seen.Instance(instance); i != nil && i.Pod != nil {
		return i.Pod.Status.PodIP
	}
	return ""
}

func (s *situation) measuring(a Action) *Decision {
	message := "the last trial is being recorded"
	if s.next != nil {
		at := atPoint(s.parameters(s.next.Number))
		message = fmt.Sprintf("trial %d of %d%s", s.next.Number, len(s.plan.Trials), at)
		if len(s.plan.Variants) > 0 {
			message = fmt.Sprintf("round %d of at most %d, trial %d%s", s.next.Round, s.plan.Rounds, s.next.Number, at)
			if len(s.next.Sides) == 1 {
				message += ", variant " + s.plan.Variants[s.next.Sides[0]]
			}
		}
	}
	return &Decision{Action: a, Reason: v1alpha1.ReasonMeasuring, Message: message}
}

func (s *situation) parameters(trialNumber int) map[string]string {
	if t := s.trial(trialNumber); t != nil {
		return s.plan.Points[t.Point].Swept()
	}
	return nil
}

// remaining is the time left until the start deadline of an object that was created at the given time, or 0.
func (s *situation) remaining(created time.Time) time.Duration {
	deadline := created.Add(time.Duration(s.run.Spec.Trials.StartDeadlineSeconds) * time.Second)
	return max(0, deadline.Sub(s.now))
}

func (s *situation) deadlineMessage(what, waiting string) string {
	return fmt.Sprintf("%s within trials.startDeadlineSeconds (%d): %s", what, s.run.Spec.Trials.StartDeadlineSeconds, waiting)
}

// reasonsOfCauses are the run's reasons for the causes of attempts that failed; for all others it is LoaderFailed.
var reasonsOfCauses = map[result.Cause]string{
	result.CauseSettingNotEffective: v1alpha1.ReasonSettingNotEffective, result.CauseConnect: v1alpha1.ReasonDatabaseUnreachable,
	result.CauseSchemaTaken: v1alpha1.ReasonNameTaken, result.CauseNotStarted: v1alpha1.ReasonLoaderNotStarted,
	result.CauseBarrierTimeout: v1alpha1.ReasonBarrierTimeout, result.CauseDeadlineExceeded: v1alpha1.ReasonDeadlineExceeded,
	result.CauseTooManyErrors: v1alpha1.ReasonTooManyErrors,
}
