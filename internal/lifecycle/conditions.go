// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// conditions sets the conditions of an object, of whatever kind.
type conditions struct {
	list *[]metav1.Condition
	// generation of the object that was observed, and the time of the observation.
	generation int64
	now        time.Time
}

func (c conditions) set(conditionType string, value bool, reason, message string) {
	status := metav1.ConditionFalse
	if value {
		status = metav1.ConditionTrue
	}
	c.put(conditionType, status, reason, message)
}

func (c conditions) put(conditionType string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(c.list, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: cut(message, maxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: metav1.NewTime(c.now),
	})
}

// have says whether a condition is true.
func (c conditions) have(conditionType string) bool {
	return apimeta.IsStatusConditionTrue(*c.list, conditionType)
}

// keep leaves all conditions as they are; only their observed generation moves on. An end is never taken back.
func (c conditions) keep() {
	for i := range *c.list {
		(*c.list)[i].ObservedGeneration = c.generation
	}
}

// summarize sets the conditions that every kind has: Complete, Failed and Finished say whether and how it has ended; Ready,
// Reconciling and Stalled say the same to other tools. The noun is what messages call the object.
func (c conditions) summarize(noun string, d Decision) {
	defer c.sayOnce()
	if c.have(v1alpha1.ConditionFailed) {
		c.keep()
		if d.Finished {
			f := apimeta.FindStatusCondition(*c.list, v1alpha1.ConditionFailed)
			c.set(v1alpha1.ConditionFinished, true, f.Reason, f.Message)
			c.set(v1alpha1.ConditionReconciling, false, f.Reason, f.Message)
		}
		return
	}
	failed := d.Failure != nil
	ended, finished := failed || d.Complete, d.Finished || d.Complete
	reason, message := d.Reason, d.Message
	if failed {
		reason, message = d.Failure.Reason, d.Failure.Message
	}
	endReason, endMessage := reason, message
	if !ended {
		endReason, endMessage = v1alpha1.ReasonInProgress, "the "+noun+" is under way"
	}
	c.set(v1alpha1.ConditionComplete, d.Complete, endReason, endMessage)
	c.set(v1alpha1.ConditionFailed, failed, endReason, endMessage)
	c.set(v1alpha1.ConditionFinished, finished, endReason, endMessage)
	c.set(v1alpha1.ConditionReconciling, !finished && reason != v1alpha1.ReasonSuspended, reason, message)
	c.set(v1alpha1.ConditionStalled, failed, endReason, endMessage)
	c.set(v1alpha1.ConditionReady, d.Complete, reason, message)
}

// sayOnce leaves the message of a failure to the condition Failed: the others, of which tools print one or another, refer to it.
func (c conditions) sayOnce() {
	failed := apimeta.FindStatusCondition(*c.list, v1alpha1.ConditionFailed)
	if failed == nil || failed.Status != metav1.ConditionTrue {
		return
	}
	for i := range *c.list {
		if other := &(*c.list)[i]; other.Type != v1alpha1.ConditionFailed && other.Message == failed.Message {
			other.Message = failed.Reason + ": see condition Failed"
		}
	}
}
