// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// setConditions sets every condition, the summarising ones last. An end that was reached before is kept as it is.
func setConditions(status *v1alpha1.BenchmarkRunStatus, s *situation, d Decision, now time.Time) {
	set := func(conditionType string, value bool, reason, message string) {
		c := metav1.Condition{
			Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: message,
			ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(now),
		}
		if value {
			c.Status = metav1.ConditionTrue
		}
		apimeta.SetStatusCondition(&status.Conditions, c)
	}
	ready, reason, message := s.databaseReady(d)
	set(v1alpha1.ConditionDatabaseReady, ready, reason, message)

	if apimeta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionFinished) {
		for i := range status.Conditions {
			status.Conditions[i].ObservedGeneration = status.ObservedGeneration
		}
		return
	}
	if d.Reason == v1alpha1.ReasonSuspended {
		set(v1alpha1.ConditionSuspended, true, d.Reason, d.Message)
	} else {
		set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonNotSuspended, "spec.suspend is false")
	}
	end(set, s, d)
}

// end sets the conditions that say how far the run is, and the three that other tools read.
func end(set func(string, bool, string, string), s *situation, d Decision) {
	switch {
	case d.Failure != nil:
		reason, message := d.Failure.Reason, truncated(d.Failure.Message)
		set(v1alpha1.ConditionComplete, false, reason, message)
		set(v1alpha1.ConditionFailed, true, reason, message)
		set(v1alpha1.ConditionFinished, true, reason, message)
		set(v1alpha1.ConditionReconciling, false, reason, message)
		set(v1alpha1.ConditionStalled, true, reason, message)
		set(v1alpha1.ConditionReady, false, reason, message)
	case d.Complete:
		message := fmt.Sprintf("%d trials at %d points were measured", s.measured, len(s.points))
		reason := v1alpha1.ReasonComplete
		set(v1alpha1.ConditionComplete, true, reason, message)
		set(v1alpha1.ConditionFailed, false, reason, message)
		set(v1alpha1.ConditionFinished, true, reason, message)
		set(v1alpha1.ConditionReconciling, false, reason, message)
		set(v1alpha1.ConditionStalled, false, reason, message)
		set(v1alpha1.ConditionReady, true, reason, message)
	default:
		message := truncated(d.Message)
		set(v1alpha1.ConditionComplete, false, v1alpha1.ReasonInProgress, "the run is under way")
		set(v1alpha1.ConditionFailed, false, v1alpha1.ReasonInProgress, "the run is under way")
		set(v1alpha1.ConditionFinished, false, v1alpha1.ReasonInProgress, "the run is under way")
		set(v1alpha1.ConditionReconciling, d.Reason != v1alpha1.ReasonSuspended, d.Reason, message)
		set(v1alpha1.ConditionStalled, false, v1alpha1.ReasonInProgress, "the run is under way")
		set(v1alpha1.ConditionReady, false, d.Reason, message)
	}
}

// databaseReady is the condition of that name.
func (s *situation) databaseReady(d Decision) (ready bool, reason, message string) {
	for i := range s.seen.Instances {
		instance := &s.seen.Instances[i]
		if !instance.Going() && instance.State().Ready {
			return true, v1alpha1.ReasonDatabaseAnswers, "the database answers"
		}
	}
	switch {
	case d.Failure != nil:
		return false, d.Failure.Reason, truncated(d.Failure.Message)
	case apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionFinished):
		return false, v1alpha1.ReasonDatabaseRemoved, "the run has finished"
	case d.Reason == "":
		return false, v1alpha1.ReasonDatabaseRemoved, "the run has finished"
	default:
		return false, d.Reason, truncated(d.Message)
	}
}

// truncated keeps a message within what a condition may hold.
func truncated(message string) string { return cut(message, 4096) }

// cut keeps the first characters of a text, as many as the API allows.
func cut(text string, length int) string {
	if r := []rune(text); len(r) > length {
		return string(r[:length])
	}
	return text
}
