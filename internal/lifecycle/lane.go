// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Lane is what was observed of the lane of a run.
type Lane struct {
	// Holder of the lane, or nil: it is free.
	Holder *Holder
	// Lease is the name of the lane's Lease, with its namespace.
	Lease string
	// Line has all that want the lane and do not hold it, the next one first. It is empty if the run holds the lane.
	Line []Holder
	// Foreign: the holder belongs to another installation, so that nothing wakes this one when it ends. Abandoned: the holder is
	// gone or has finished, nothing of it is left, and nobody has released the lane.
	Foreign, Abandoned bool
}

// Holder is who holds a lane, or wants it: an object of any kind that measures.
type Holder struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// RunKind is the kind of a Holder that is a run.
const RunKind = "BenchmarkRun"

// HolderOf a run's lane is the run itself.
func HolderOf(run *v1alpha1.BenchmarkRun) Holder {
	return Holder{Kind: RunKind, Namespace: run.Namespace, Name: run.Name, UID: run.UID}
}

// Identity of a holder, as a Lease has it.
func (h Holder) Identity() string {
	return strings.Join([]string{h.Kind, h.Namespace, h.Name, string(h.UID)}, "/")
}

// ParseHolder reads an identity. Of one that Benchrun has not written, all is the kind.
func ParseHolder(identity string) Holder {
	parts := strings.Split(identity, "/")
	if len(parts) != 4 {
		return Holder{Kind: identity}
	}
	return Holder{Kind: parts[0], Namespace: parts[1], Name: parts[2], UID: types.UID(parts[3])}
}

// String is what messages call a holder.
func (h Holder) String() string {
	if h.Name == "" {
		return h.Kind
	}
	return fmt.Sprintf("%s %s/%s", strings.ToLower(strings.TrimPrefix(h.Kind, "Benchmark")), h.Namespace, h.Name)
}

// Wants says whether a run holds its lane or wants it: it is neither suspended nor at its end.
func Wants(run *v1alpha1.BenchmarkRun) bool {
	ended := func(condition string) bool { return apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) }
	return run.DeletionTimestamp == nil && !ptr.Deref(run.Spec.Suspend, false) &&
		!ended(v1alpha1.ConditionFailed) && !ended(v1alpha1.ConditionFinished)
}

// Admitted says whether the status of a run says that it is admitted.
func Admitted(run *v1alpha1.BenchmarkRun) bool {
	return apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionAdmitted)
}

// Line of those among some runs that want a run's lane and do not hold it: the oldest first, but before it one that was admitted
// and has lost its Lease. The run itself is in it as it was read, whatever the list says of it.
func Line(run *v1alpha1.BenchmarkRun, all []v1alpha1.BenchmarkRun, holder *Holder) []Holder {
	waiting := []*v1alpha1.BenchmarkRun{run}
	for i := range all {
		other := &all[i]
		if other.Namespace == run.Namespace && other.Name == run.Name || other.Spec.Lane != run.Spec.Lane {
			continue
		}
		if Wants(other) && (holder == nil || *holder != HolderOf(other)) {
			waiting = append(waiting, other)
		}
	}
	slices.SortFunc(waiting, func(a, b *v1alpha1.BenchmarkRun) int {
		first := func(r *v1alpha1.BenchmarkRun) int {
			if Admitted(r) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var line []Holder
	for _, r := range waiting {
		line = append(line, HolderOf(r))
	}
	return line
}

// holds says whether the run holds its lane.
func (s *situation) holds() bool {
	return s.seen.Lane.Holder != nil && *s.seen.Lane.Holder == HolderOf(s.run)
}

// foreignInterval is the time between two looks at a lane that another installation holds.
const foreignInterval = 10 * time.Second

// queued waits until it is the run's turn. A run that is not admitted has no Job and no database: if it has lost its lane,
// because somebody has deleted the Lease, it removes them.
func queued(s *situation) *Decision {
	lane := &s.seen.Lane
	if s.holds() {
		return nil
	}
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonQueued, Message: s.position()}
	switch {
	case lane.Abandoned:
		d.Action = ReleaseLane{Holder: *lane.Holder}
	case lane.Foreign:
		d.After = foreignInterval
	case lane.Holder == nil && (len(lane.Line) == 0 || lane.Line[0] == HolderOf(s.run)):
		d.Action = TakeLane{}
		return &d
	}
	d.Unexpected = s.is(v1alpha1.ConditionAdmitted)
	if a := s.removeEverything(); a != nil {
		d.Action, d.Unexpected = a, true
	}
	return &d
}

// position says whom the run waits for, and where it stands in the queue.
func (s *situation) position() string {
	lane := &s.seen.Lane
	at := slices.Index(lane.Line, HolderOf(s.run)) + 1
	place := fmt.Sprintf("position %d of %d", at, len(lane.Line))
	switch {
	case lane.Holder == nil && at <= 1:
		return fmt.Sprintf("lane %s is free; %s", s.run.Spec.Lane, place)
	case lane.Holder == nil:
		return fmt.Sprintf("waiting for %s, which is next in lane %s; %s", lane.Line[0], s.run.Spec.Lane, place)
	case lane.Foreign:
		return fmt.Sprintf("waiting for %s of another installation, which holds lane %s (Lease %s); %s",
			lane.Holder, s.run.Spec.Lane, lane.Lease, place)
	}
	return fmt.Sprintf("waiting for %s, which holds lane %s; %s", lane.Holder, s.run.Spec.Lane, place)
}

// leave releases the lane of a run that has removed what it had, as soon as nothing of it disturbs the next one.
func (s *situation) leave(d *Decision) {
	switch {
	case !s.holds():
	case s.disturbs():
		d.After = time.Second // a server that a MariaDB resource stands for, and a node that does not answer, are not watched
	default:
		d.Action = ReleaseLane{Holder: HolderOf(s.run)}
	}
}

// disturbs says whether a run that has ended, or is suspended, may still put load on its nodes. A database that stays is idle as
// soon as no loader works.
func (s *situation) disturbs() bool {
	works := func(pod corev1.Pod) bool { return podutil.Works(&pod, s.now) }
	kept := s.is(v1alpha1.ConditionFinished) && s.keeps(s.is(v1alpha1.ConditionComplete))
	for _, a := range s.seen.Attempts {
		if !kept || slices.ContainsFunc(a.Pods, works) || len(a.Pods) == 0 && !jobEnded(a.Job) {
			return true
		}
	}
	for _, i := range s.seen.Instances {
		if !kept && i.Works(s.now) {
			return true
		}
	}
	return slices.ContainsFunc(s.seen.Lingering, works)
}

// jobEnded says whether a Job will make no further Pod.
func jobEnded(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type != batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	})
}

// Sooner is the smaller of two times until the next look, of which 0 is never.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// admitted is the condition Admitted.
func (s *situation) admitted(d Decision) (status metav1.ConditionStatus, reason, message string) {
	switch {
	case d.Finished, d.Complete, d.Failure != nil, s.is(v1alpha1.ConditionFailed):
		return metav1.ConditionFalse, v1alpha1.ReasonFinished, "the run has ended, and leaves its lane"
	case d.Pauses():
		return metav1.ConditionFalse, d.Reason, d.Message
	case s.holds(), s.seen.Blind && s.is(v1alpha1.ConditionAdmitted):
		return metav1.ConditionTrue, v1alpha1.ReasonAdmitted, "the run holds lane " + s.run.Spec.Lane
	}
	return metav1.ConditionUnknown, d.Reason, d.Message
}
