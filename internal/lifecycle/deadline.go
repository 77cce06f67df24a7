// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

const (
	// spareTime is for what the deadlines of trials do not bound: databases and predecessors that are being removed, and results
	// that are being written.
	spareTime = 10 * time.Minute
	// maxDeadline of a run is also the API's maximum.
	maxDeadline = 365 * 24 * time.Hour
)

// Deadline is how long a run may take from its start, without the time for which it is suspended or queued: what it asks for
// or, by default, as long as all trials and all allowed disturbances may take by their own deadlines.
func Deadline(run *v1alpha1.BenchmarkRun, p *plan.Plan) time.Duration {
	if asked := run.Spec.DeadlineSeconds; asked != nil {
		return time.Duration(*asked) * time.Second
	}
	t := &run.Spec.Trials
	attempts := int64(ptr.Deref(t.MaxInvalid, v1alpha1.DefaultMaxInvalid)) + 1
	if p != nil {
		attempts += int64(len(p.Trials))
		if t.MinSeconds != nil {
			attempts += int64(len(p.Points)) // pilots
		}
	}
	// Each attempt may need a new database, and its warm-up.
	seconds := attempts * (2*int64(t.StartDeadlineSeconds) + int64(t.DeadlineSeconds) + 2*int64(ptr.Deref(t.WarmUpSeconds, 0)))
	if seconds >= int64(maxDeadline/time.Second) {
		return maxDeadline
	}
	return time.Duration(seconds)*time.Second + spareTime
}

// deadline of the run.
func (s *situation) deadline() time.Time {
	start := ptr.Deref(s.run.Status.StartTime, metav1.NewTime(s.now))
	return start.Add(Deadline(s.run, s.plan) + s.pausedFor())
}

// Pauses says whether no step is taken, by the will of a person or for the sake of another run: such time does not count.
func (d *Decision) Pauses() bool { return pauses(d.Reason) }

func pauses(reason string) bool {
	return reason == v1alpha1.ReasonSuspended || reason == v1alpha1.ReasonQueued || reason == v1alpha1.ReasonBeingDeleted
}

// pausedFor is how long the run has been suspended since its start, and then queued. It is not admitted from the one to the end
// of the other.
func (s *situation) pausedFor() time.Duration {
	status := &s.run.Status
	return pausedFor(status.StartTime, status.SuspendedSeconds, pause(status.Conditions), s.now)
}

// pause is the condition of an object that is suspended or queued at the moment, or nil.
func pause(conditions []metav1.Condition) *metav1.Condition {
	c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionAdmitted)
	if c == nil || c.Status != metav1.ConditionFalse || !pauses(c.Reason) {
		return nil
	}
	return c
}

// pausedFor is how long an object has been paused since its start, whatever its kind. The pause is the condition that says so, or
// nil if there is none at the moment.
func pausedFor(start *metav1.Time, seconds *int64, pause *metav1.Condition, now time.Time) time.Duration {
	total := time.Duration(ptr.Deref(seconds, 0)) * time.Second
	if start != nil && pause != nil {
		total += max(0, now.Sub(pause.LastTransitionTime.Time))
	}
	return total
}

// bound a step by the run's deadline: a run that is over it ends, and says what it waited for. What has been measured is recorded
// and published all the same if the cluster takes it. A step that fails again and again says so, and so does one that the cluster
// refuses.
func (s *situation) bound(d Decision) Decision {
	if d.Failure != nil || d.Complete {
		return d
	}
	if r := s.seen.Refused; r != nil {
		d = r.decide(s.run.Status.Refusal, s.run.Spec.Trials.StartDeadlineSeconds, s.now)
	}
	if s.seen.Trouble != "" {
		d.Reason, d.Message = v1alpha1.ReasonRetrying, s.seen.Trouble
	}
	if over := !s.now.Before(s.deadline()); over && d.Failure == nil && (s.seen.Trouble != "" || !writes(d.Action)) {
		return *fail(Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: fmt.Sprintf(
			"the run did not end within %s (spec.deadlineSeconds): %s", Deadline(s.run, s.plan), d.Message)})
	}
	return d
}

// writes says whether an action keeps what was measured.
func writes(a Action) bool {
	switch a.(type) {
	case RecordAttempt, Publish:
		return true
	}
	return false
}
