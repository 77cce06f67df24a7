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

// holds says whether the run is admitted: it holds its lane, or its comparison does and measures this one.
func (s *situation) holds() bool {
	comparison := MemberOf(s.run)
	return s.seen.Lane.is(HolderOf(s.run)) || comparison != nil && s.seen.Lane.is(*comparison) && s.seen.Named
}

// queued waits until it is the run's turn, or its comparison's. A run that is not admitted has no Job and no database: if it has
// lost its lane, because a user has deleted the Lease, it removes them.
func queued(s *situation) *Decision {
	if s.holds() {
		return nil
	}
	d := s.seen.Lane.turn(s.run.Spec.Lane, HolderOf(s.run))
	if comparison := MemberOf(s.run); comparison != nil {
		d = Decision{Action: Wait{}, Reason: v1alpha1.ReasonQueued, Message: fmt.Sprintf(
			"waiting until %s, to which this run belongs, holds lane %s", comparison, s.run.Spec.Lane)}
		if s.seen.Lane.is(*comparison) {
			d.Message = fmt.Sprintf("waiting until %s, which holds lane %s, measures this run; it measures only runs that it created",
				comparison, s.run.Spec.Lane)
		}
	}
	if d.Action == (TakeLane{}) {
		return &d
	}
	d.Unexpected = s.is(v1alpha1.ConditionAdmitted)
	if a := s.removeEverything(); a != nil {
		d.Action, d.Unexpected = a, true
	} else if MemberOf(s.run) == nil && !d.Unexpected {
		status := &s.run.Status
		since := queuedSince(ready(s.run.CreationTimestamp, status.QueuedTime, status.Conditions), status.Conditions)
		return d.queueDeadline("run", s.run.Spec.QueueDeadlineSeconds, s.now.Sub(since))
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
	comparison := MemberOf(s.run)
	switch {
	case d.Finished, d.Complete, d.Failure != nil, s.is(v1alpha1.ConditionFailed):
		message = "the run has ended and is releasing its lane"
		if comparison != nil {
			message = fmt.Sprintf("the run has ended; its lane is released when %s has ended", comparison)
		}
		return metav1.ConditionFalse, v1alpha1.ReasonFinished, message
	case d.Pauses():
		return metav1.ConditionFalse, d.Reason, d.Message
	case s.holds(), s.seen.ObserveFailed && s.is(v1alpha1.ConditionAdmitted):
		message = "the run holds lane " + s.run.Spec.Lane
		if comparison != nil {
			message = fmt.Sprintf("%s, to which this run belongs, holds lane %s", comparison, s.run.Spec.Lane)
		}
		return metav1.ConditionTrue, v1alpha1.ReasonAdmitted, message
	}
	return metav1.ConditionUnknown, d.Reason, d.Message
}

// A user who names a lane of his own does not wait, and measures beside others, who are disturbed. An administrator therefore
// says which lanes there are.

// RunLaneRefused says why a run that has not begun does not: it asks for a lane that is not one of the installation's, or returns
// nil. Without any listed, all may be asked for. A run of a comparison has the comparison's.
func RunLaneRefused(run *v1alpha1.BenchmarkRun, lanes []string) *Failure {
	if MemberOf(run) != nil {
		return nil
	}
	return laneRefused("spec.lane", run.Spec.Lane, run.Status.StartTime, lanes)
}

// ComparisonLaneRefused says the same of a comparison.
func ComparisonLaneRefused(comparison *v1alpha1.BenchmarkRun, lanes []string) *Failure {
	return laneRefused("spec.template.spec.lane", comparison.Spec.Lane, comparison.Status.StartTime, lanes)
}

func laneRefused(field, lane string, start *metav1.Time, lanes []string) *Failure {
	if len(lanes) == 0 || start != nil || slices.Contains(lanes, lane) {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: fmt.Sprintf(
		"%s is %s, but the lanes of this installation are: %s; use one of them, or ask an administrator for another (--lanes)",
		field, lane, strings.Join(lanes, ", "))}
}

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
	case h.Kind == RunKind, h.Kind == ComparisonKind:
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
