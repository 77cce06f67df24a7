// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// deadline of a run. By default it moves on with its progress: however slow it is, it has time for the next attempt, and one that
// is stuck ends soon.
func deadline(s *situation) time.Time {
	begun := ptr.Deref(s.run.Status.StartTime, metav1.NewTime(s.now))
	ends := []time.Time{begun.Add(plan.Deadline(s.run, s.plan) + s.pausedFor())}
	if s.run.Spec.DeadlineSeconds == nil {
		ends = append(ends, s.movingDeadline())
	}
	if end := s.turnEnd(); end != nil {
		ends = append(ends, *end)
	}
	return slices.MinFunc(ends, time.Time.Compare)
}

// lastProgress is when the run was admitted, or made something, or recorded an attempt that its status does not know yet: what
// was recorded before has moved the deadline then.
func (s *situation) lastProgress() time.Time {
	status := &s.run.Status
	if status.StartTime == nil || pause(s.run) != nil || s.seen.Newest != status.Records {
		return s.now
	}
	times := []time.Time{status.StartTime.Time}
	switch c := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionAdmitted); {
	case c == nil: // it is seen for the first time
		times = append(times, s.now)
	case c.Status == metav1.ConditionTrue:
		times = append(times, c.LastTransitionTime.Time)
	}
	for _, a := range s.seen.Attempts {
		times = append(times, a.Job.CreationTimestamp.Time)
	}
	for i := range s.seen.Instances {
		if root := s.seen.Instances[i].Root(); root != nil {
			times = append(times, root.GetCreationTimestamp().Time)
		}
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

// leastMove of a deadline is worth a write of the status: an attempt that is made right after another was recorded moves it by
// less.
const leastMove = 10 * time.Second

// movingDeadline is a quiet time after the last progress. It is never earlier than before, and stays while nothing can be seen.
func (s *situation) movingDeadline() time.Time {
	before, moved := s.run.Status.Deadline, s.lastProgress().Add(plan.QuietTime(s.run, s.plan))
	if before != nil && (s.seen.ObserveFailed || moved.Sub(before.Time) < leastMove) {
		return before.Time
	}
	return moved
}

// Pauses says whether no step is taken, by the will of a person or for the sake of another run: such time does not count.
func (d *Decision) Pauses() bool { return pauses(d.Reason) }

func pauses(reason string) bool {
	return reason == v1alpha1.ReasonSuspended || reason == v1alpha1.ReasonQueued || reason == v1alpha1.ReasonTerminating
}

// pausedFor is how long the owner has been suspended since its start, and then queued. It is not admitted from the one to the
// end of the other.
func (s *situation) pausedFor() time.Duration {
	total := time.Duration(ptr.Deref(s.run.Status.SuspendedSeconds, 0)) * time.Second
	if c := pause(s.run); s.run.Status.StartTime != nil && c != nil {
		total += max(0, s.now.Sub(c.LastTransitionTime.Time))
	}
	return total
}

// pause is the condition of a run that is suspended or queued at the moment, or nil.
func pause(run *v1alpha1.BenchmarkRun) *metav1.Condition {
	c := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionAdmitted)
	if c == nil || c.Status != metav1.ConditionFalse || !pauses(c.Reason) {
		return nil
	}
	return c
}

// bound a step by the deadline: a run that is over it ends, and says what it waited for. What has been measured is recorded and
// published all the same if the cluster takes it. A step that fails again and again says so, and so does one
// that the cluster refuses.
func bound(s *situation, d Decision) Decision {
	if d.Failure != nil || d.Complete {
		return d
	}
	trouble := s.seen.RetryError
	if r := s.seen.Refused; r != nil {
		d = r.decide(s.run.Status.Refusal, s.run.Spec.Trials.StartDeadlineSeconds, s.now)
	}
	if trouble != "" {
		d.Reason, d.Message = v1alpha1.ReasonRetrying, trouble
	}
	kept := d.Failure != nil || trouble == "" && d.writes()
	if over := s.turnOver(d.Message); over != nil && !kept {
		return *over
	}
	// By default, what it does next is progress: the operator may have been away for long.
	progress := trouble == "" && s.run.Spec.DeadlineSeconds == nil && d.Action != (Wait{})
	if over := !s.now.Before(deadline(s)); !over || kept || progress {
		return d
	}
	message := fmt.Sprintf("the run made no progress for %s (spec.deadlineSeconds is not set): %s",
		plan.QuietTime(s.run, s.plan), d.Message)
	if requested := s.run.Spec.DeadlineSeconds; requested != nil {
		message = fmt.Sprintf("the run did not finish within %s (spec.deadlineSeconds): %s",
			time.Duration(*requested)*time.Second, d.Message)
	}
	return *fail(v1alpha1.ReasonDeadlineExceeded, message)
}

func (d *Decision) writes() bool {
	_, records := d.Action.(RecordAttempt)
	return records || d.Reason == v1alpha1.ReasonPublishing
}

// A run that is being deleted may stay indefinitely: by a finalizer, or with foreground deletion by a Pod on a
// node that does not answer. It must not hold anything meanwhile. What it has recorded is left to the garbage collector.

// beingDeleted is the decision about what is being deleted, as long as it has something.
func (s *situation) beingDeleted() Decision {
	d := Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonTerminating,
		Message: "the run is being deleted; its objects are being removed" + keptBy(s.run),
	}
	if s.seen.RetryError != "" {
		d.Message += ": " + s.seen.RetryError
	}
	return d
}

func keptBy(object metav1.Object) string {
	if len(object.GetFinalizers()) == 0 {
		return ""
	}
	return "; it stays until its finalizers are removed: " + strings.Join(object.GetFinalizers(), ", ")
}

// deleted removes what puts load on nodes, and leaves the lane. It records and publishes nothing.
func deleted(s *situation) *Decision {
	if s.run.DeletionTimestamp == nil {
		return nil
	}
	d := s.beingDeleted()
	switch a := s.removeEverything(); {
	case a != nil:
		d.Action = a
	case s.disturbs() || s.seen.Orphaned:
		d.After = time.Second
	default:
		if leave(s, &d); d.Action == (Wait{}) {
			d.Stopped, d.Message = true, "the run is being deleted and has stopped"+keptBy(s.run)
		}
	}
	return &d
}

// The records and results of a finished run stay in etcd, whose size is limited. An administrator therefore sets a default time
// to live, so that runs that are never deleted do not fill it.

// expiry is when a run that finished at that time is deleted, or nil if it stays. It prefers the time to live of the
// specification, whether it is longer or shorter. A default of 0 is none, whereas a specification that says 0 asks for the
// deletion at once.
func (s *situation) expiry(finished *metav1.Time) *metav1.Time {
	seconds, byDefault := s.run.Spec.TTLSecondsAfterFinished, s.seen.DefaultTTL
	switch {
	case finished == nil, seconds == nil && byDefault == 0:
		return nil
	case seconds != nil:
		return ptr.To(metav1.NewTime(finished.Add(time.Duration(*seconds) * time.Second)))
	}
	return ptr.To(metav1.NewTime(finished.Add(byDefault)))
}

// expire adds to the decision about a finished run that it is deleted when its time to live is over.
func (s *situation) expire(d *Decision) {
	at := s.expiry(s.run.Status.CompletionTime)
	if at == nil || s.run.DeletionTimestamp != nil {
		return
	}
	if left := at.Sub(s.now); left > 0 {
		d.After = Sooner(d.After, left)
	} else {
		d.Action = DeleteRun{}
	}
}
