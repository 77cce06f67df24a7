// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"

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
// lost its lane, because somebody has deleted the Lease, it removes them.
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
	return s.unsettled() || slices.ContainsFunc(s.seen.Lingering, works)
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
