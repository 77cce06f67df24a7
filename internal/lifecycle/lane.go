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
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Lane is what was observed of the lane of a run.
type Lane struct {
	// Holder of the lane, or nil: it is free.
	Holder *Holder
	// Lease is the name of the lane's Lease, with its namespace.
	Lease string
	// Next is the first of those that want the lane and do not hold it. It is the zero value for who holds the lane.
	Next Holder
	// Foreign: the holder belongs to another installation, so that nothing wakes this one when it ends. Abandoned: the holder is
	// gone or has finished, nothing of it is left, and the lane was not released.
	Foreign, Abandoned bool
	// Anonymous: messages name no object of another namespace.
	Anonymous bool
}

// Holder is who holds a lane, or wants it: an object of any kind that measures.
type Holder struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// RunKind is the kind of a Holder.
const RunKind = plan.RunKind

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

// Contender is who may stand in the queue of a lane.
type Contender struct {
	Holder
	// Lane that it is in.
	Lane string
	// Wants the lane, or holds it. Admitted: its status says that it holds it.
	Wants, Admitted bool
	// Ready is since when it could measure: the order of the queue.
	Ready metav1.Time
}

// ContenderOf a run.
func ContenderOf(run *v1alpha1.BenchmarkRun) Contender {
	is := func(condition string) bool { return apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) }
	return Contender{
		Holder: HolderOf(run), Lane: run.Spec.Lane, Ready: ready(run), Admitted: is(v1alpha1.ConditionAdmitted),
		Wants: run.DeletionTimestamp == nil && !ptr.Deref(run.Spec.Suspend, false) &&
			!is(v1alpha1.ConditionFailed) && !is(v1alpha1.ConditionFinished),
	}
}

// ready is since when a run could measure, if its lane was free: since its creation, or since it was last
// resumed. Of one that was resumed a moment ago that is not noted yet, and it comes last.
func ready(run *v1alpha1.BenchmarkRun) metav1.Time {
	switch {
	case run.Status.QueuedTime != nil:
		return *run.Status.QueuedTime
	case apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionSuspended):
		return metav1.NewTime(time.Unix(1<<40, 0))
	}
	return run.CreationTimestamp
}

// queuedTime is what the status says of that: nothing of one that is suspended.
func queuedTime(run *v1alpha1.BenchmarkRun, d Decision, now time.Time) *metav1.Time {
	switch {
	case d.Reason == v1alpha1.ReasonSuspended:
		return nil
	case run.Status.QueuedTime == nil && apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionSuspended):
		return ptr.To(metav1.NewTime(now))
	}
	since := ready(run)
	if since.IsZero() {
		return nil
	}
	return &since
}

// compare says which of two in the queue of a lane comes first: who has been ready for longer, but before that one who was
// admitted and has lost its Lease.
func (c Contender) compare(other Contender) int {
	first := func(c Contender) int {
		if c.Admitted {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(first(c), first(other)), c.Ready.Compare(other.Ready.Time),
		cmp.Compare(c.Namespace, other.Namespace), cmp.Compare(c.Name, other.Name), cmp.Compare(c.Kind, other.Kind))
}

// competes says whether another one stands in the same queue, whatever the list that it is from says of this one.
func (c Contender) competes(other *Contender, holder *Holder) bool {
	same := other.Kind == c.Kind && other.Namespace == c.Namespace && other.Name == c.Name
	return !same && other.Wants && other.Lane == c.Lane && (holder == nil || *holder != other.Holder)
}

// NextInLine is the first of those among some contenders that want one's lane and do not hold it. The one that asks is among them
// as it was read.
func NextInLine(one Contender, all []Contender, holder *Holder) Holder {
	next := one
	for i := range all {
		if one.competes(&all[i], holder) && all[i].compare(next) < 0 {
			next = all[i]
		}
	}
	return next.Holder
}

// foreignInterval is the time between two looks at a lane that another installation holds.
const foreignInterval = 10 * time.Second

// turn is what one does that does not hold its lane: it waits, releases the lane of a holder that is gone, or takes it. Only the
// next one says whom it waits for, and looks after a holder that is not watched: what happens in a lane does not concern the
// others.
func (l *Lane) turn(lane string, one Holder) Decision {
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonQueued}
	if l.Next != (Holder{}) && l.Next != one {
		d.Message = fmt.Sprintf("in the queue of lane %s; others are ahead of it", lane)
		return d
	}
	switch {
	case l.Holder == nil:
		d.Action, d.Message = TakeLane{}, fmt.Sprintf("lane %s is free; next in the queue", lane)
		return d
	case l.Abandoned:
		d.Action = ReleaseLane{Holder: *l.Holder}
	case l.Foreign:
		d.After = foreignInterval
	}
	d.Message = fmt.Sprintf("waiting for %s; next in the queue", l.holder(lane, one))
	return d
}

// Sooner is the smaller of two times until the next look, of which 0 is never.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// queued waits until it is the run's turn. A run that is not admitted has no Job and no database: if it has
// lost its lane, because a user has deleted the Lease, it removes them.
func queued(s *situation) *Decision {
	if s.holds() {
		return nil
	}
	d := s.seen.Lane.turn(s.run.Spec.Lane, HolderOf(s.run))
	if d.Action == (TakeLane{}) {
		return &d
	}
	d.Unexpected = s.is(v1alpha1.ConditionAdmitted)
	if a := s.removeEverything(); a != nil {
		d.Action, d.Unexpected = a, true
	}
	return &d
}

// disturbs says whether a run that has ended, or is suspended, may still put load on its nodes, or has a node to restore. A
// database that stays is idle as soon as no loader works.
func (s *situation) disturbs() bool {
	works := func(pod corev1.Pod) bool { return podutil.MayLoad(&pod, s.now) }
	kept := s.is(v1alpha1.ConditionFinished) && s.keeps()
	for _, a := range append(s.unclaimed(), s.seen.Attempts...) {
		if podutil.MayLoad(a.Job, s.now) || slices.ContainsFunc(a.Pods, works) {
			return true
		}
	}
	return !kept && slices.ContainsFunc(s.seen.Instances, func(i Instance) bool { return i.MayLoad(s.now) }) ||
		slices.ContainsFunc(s.tunedByMe(), TunedNode.unsettled) || slices.ContainsFunc(s.seen.Lingering, works)
}

func (s *situation) admitted(d Decision) (status metav1.ConditionStatus, reason, message string) {
	switch {
	case d.Finished, d.Complete, d.Failure != nil, s.is(v1alpha1.ConditionFailed):
		return metav1.ConditionFalse, v1alpha1.ReasonFinished, "the run has ended and is releasing its lane"
	case d.Pauses():
		return metav1.ConditionFalse, d.Reason, d.Message
	case s.holds(), s.seen.ObserveFailed && s.is(v1alpha1.ConditionAdmitted):
		return metav1.ConditionTrue, v1alpha1.ReasonAdmitted, "the run holds lane " + s.run.Spec.Lane
	}
	return metav1.ConditionUnknown, d.Reason, d.Message
}

// holds says whether the run is admitted: it holds its lane.
func (s *situation) holds() bool {
	return s.seen.Lane.Holder != nil && *s.seen.Lane.Holder == HolderOf(s.run)
}

// named is what a message in a namespace calls a holder: by its name or, because readers of the message may be allowed to see
// that namespace only, by its kind, and where it is.
func (h Holder) named(namespace string, anonymous bool) (words, where string) {
	switch {
	case !anonymous || h.Namespace == namespace:
		return h.String(), ""
	case h.Kind == RunKind:
		return "a run", " of another namespace"
	}
	return "an unrecognized holder", ""
}

// holder is what a message to an owner that waits calls the holder of the lane, with the Lease if the message does not name it.
func (l *Lane) holder(lane string, one Holder) string {
	words, where := l.Holder.named(one.Namespace, l.Anonymous)
	lease := ""
	if l.Foreign {
		where = " of another installation"
	}
	if l.Foreign || l.Anonymous && l.Holder.Namespace != one.Namespace {
		lease = " (Lease " + l.Lease + ")"
	}
	return fmt.Sprintf("%s%s, which holds lane %s%s", words, where, lane, lease)
}
