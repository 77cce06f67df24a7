// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// A run or a comparison that is being deleted may stay for as long as somebody likes: by a finalizer, or with foreground deletion
// by a Pod on a node that does not answer. It must not hold anything meanwhile. What it has recorded is left to the garbage
// collector.

// beingDeleted is the decision about what is being deleted, as long as it has something.
func (o *owner) beingDeleted() Decision {
	d := Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonBeingDeleted,
		Message: fmt.Sprintf("the %s is being deleted; its objects are being removed", o.noun) + keptBy(o.object),
	}
	if o.blockers.RetryError != "" {
		d.Message += ": " + o.blockers.RetryError
	}
	return d
}

// stopped makes that the decision about what has nothing any more.
func (o *owner) stopped(d *Decision) {
	d.Stopped = true
	d.Message = fmt.Sprintf("the %s is being deleted and has stopped", o.noun) + keptBy(o.object)
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
	case s.disturbs():
		d.After = time.Second
	default:
		if leave(s, &d); d.Action == (Wait{}) {
			s.stopped(&d)
		}
	}
	return &d
}

// comparisonDeleted suspends the run that is under way, removes the database that the runs share, and leaves the lane. It does
// not delete runs: whoever deletes a comparison may want to keep them.
func comparisonDeleted(s *comparisonSituation) *Decision {
	if s.comparison.DeletionTimestamp == nil {
		return nil
	}
	d := s.beingDeleted()
	run := s.unfinished()
	if run != nil && run.DeletionTimestamp == nil && !ptr.Deref(run.Spec.Suspend, false) {
		d.Action = SuspendMember{Name: run.Name, Suspend: true}
	} else if a := s.vacate(); a != nil {
		d.Action = a
	} else if s.disturbs() {
		d.After = time.Second
	} else if leave(s, &d); d.Action == (Wait{}) {
		s.stopped(&d)
	}
	return &d
}

// saysDeleted says whether a status says that its object is being deleted: from then on, that makes nothing.
func saysDeleted(conditions []metav1.Condition) bool {
	c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReconciling)
	return c != nil && c.Reason == v1alpha1.ReasonBeingDeleted
}

// deleting sets the conditions of what is being deleted and has not finished. What was measured stays as it was told last.
func (c conditions) deleting(noun string, d Decision) {
	c.keep()
	c.set(v1alpha1.ConditionAdmitted, false, d.Reason, d.Message)
	c.set(v1alpha1.ConditionReconciling, !d.Stopped, d.Reason, d.Message)
	if c.have(v1alpha1.ConditionFailed) {
		return
	}
	c.set(v1alpha1.ConditionReady, false, d.Reason, d.Message)
	for _, condition := range []string{
		v1alpha1.ConditionComplete, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished, v1alpha1.ConditionStalled,
	} {
		c.set(condition, false, d.Reason, "the "+noun+" is being deleted")
	}
}
