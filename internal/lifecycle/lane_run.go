// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

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
	} else if !d.Unexpected {
		status := &s.run.Status
		since := queuedSince(ready(s.run.CreationTimestamp, status.QueuedTime, status.Conditions), status.Conditions)
		return d.queueDeadline(s.run.Spec.QueueDeadlineSeconds, s.now.Sub(since))
	}
	return &d
}

// disturbs says whether a run that has ended, or is suspended, may still put load on its nodes, or has a node to restore. A
// database that stays is idle as soon as no loader works.
func (s *situation) disturbs() bool {
	works := func(pod corev1.Pod) bool { return podutil.MayLoad(&pod, s.now) }
	kept := s.is(v1alpha1.ConditionFinished) && s.keeps(s.is(v1alpha1.ConditionComplete))
	for _, a := range append(s.unclaimed(), s.seen.Attempts...) {
		if podutil.MayLoad(a.Job, s.now) || slices.ContainsFunc(a.Pods, works) {
			return true
		}
	}
	for _, i := range s.seen.Instances {
		if !kept && i.MayLoad(s.now) {
			return true
		}
	}
	return slices.ContainsFunc(s.tunedByMe(), TunedNode.unsettled) || slices.ContainsFunc(s.seen.Lingering, works)
}

// admitted is the condition Admitted.
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

// A user who names a lane of his own does not wait, and measures beside others, who are disturbed. An administrator therefore
// says which lanes there are.

// RunLaneRefused says why a run that has not begun does not: it asks for a lane that is not one of the installation's, or returns
// nil. Without any listed, all may be asked for.
func RunLaneRefused(run *v1alpha1.BenchmarkRun, lanes []string) *Failure {
	lane := run.Spec.Lane
	if len(lanes) == 0 || run.Status.StartTime != nil || slices.Contains(lanes, lane) {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: fmt.Sprintf(
		"spec.lane is %s, but the lanes of this installation are: %s; use one of them, or ask an administrator for another (--lanes)",
		lane, strings.Join(lanes, ", "))}
}

// holds says whether the run is admitted: it holds its lane.
func (s *situation) holds() bool { return s.seen.Lane.is(HolderOf(s.run)) }

// called is what a message in a namespace calls a holder: readers of the message may be allowed to see that namespace only.
func (h Holder) called(namespace string, anonymous bool) string {
	words, elsewhere := h.named(namespace, anonymous)
	if elsewhere {
		words += " of another namespace"
	}
	return words
}

// named is a holder by its name or, if the name is not told, by its kind; elsewhere says that it is in another namespace.
func (h Holder) named(namespace string, anonymous bool) (words string, elsewhere bool) {
	switch {
	case !anonymous || h.Namespace == namespace:
		return h.String(), false
	case h.Kind == RunKind:
		return "a " + strings.ToLower(strings.TrimPrefix(h.Kind, "Benchmark")), true
	}
	return "an unrecognized holder", false
}

// holder is what a message to an owner that waits calls the holder of the lane, with the Lease if the message does not name it.
func (l *Lane) holder(lane string, one Holder) string {
	words, elsewhere := l.Holder.named(one.Namespace, l.Anonymous)
	lease := ""
	switch {
	case l.Foreign:
		words, lease = words+" of another installation", " (Lease "+l.Lease+")"
	case elsewhere:
		words += " of another namespace"
	}
	if l.Anonymous && l.Holder.Namespace != one.Namespace {
		lease = " (Lease " + l.Lease + ")"
	}
	return fmt.Sprintf("%s, which holds lane %s%s", words, lane, lease)
}
