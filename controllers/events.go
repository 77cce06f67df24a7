// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// announcement is an event to be sent.
type announcement struct{ kind, reason, action, message string }

// announced conditions, and whether becoming true is good news.
var announced = []struct {
	condition, action string
	good              bool
}{
	{v1alpha1.ConditionDatabaseReady, "Provide", true},
	{v1alpha1.ConditionSuspended, "Suspend", true},
	{v1alpha1.ConditionComplete, "Finish", true},
	{v1alpha1.ConditionFailed, "Finish", false},
}

// announcements are the events that the change from one status to the next is worth.
func announcements(old, status *v1alpha1.BenchmarkRunStatus, seen *lifecycle.Observed) []announcement {
	var list []announcement
	if ptr.Deref(status.Trials.Invalidated, 0) > ptr.Deref(old.Trials.Invalidated, 0) {
		announcedBefore := int(ptr.Deref(old.Trials.Measured, 0) + ptr.Deref(old.Trials.Invalidated, 0))
		for _, r := range seen.Records[min(len(seen.Records), announcedBefore):] {
			if r.Outcome == result.OutcomeInvalidated {
				list = append(list, announcement{
					corev1.EventTypeWarning, "AttemptInvalidated", "Measure",
					fmt.Sprintf("trial %d, attempt %d: %s: %s", r.Trial, r.Attempt, r.Cause, r.Message),
				})
			}
		}
	}
	for _, a := range announced {
		c := apimeta.FindStatusCondition(status.Conditions, a.condition)
		if c == nil || c.Status != "True" || apimeta.IsStatusConditionTrue(old.Conditions, a.condition) {
			continue
		}
		kind := corev1.EventTypeNormal
		if !a.good {
			kind = corev1.EventTypeWarning
		}
		list = append(list, announcement{kind, c.Reason, a.action, c.Message})
	}
	for i := range list {
		list[i].message = result.Truncate(list[i].message, maxNote)
	}
	return list
}

// maxNote is how many bytes of text the API server takes in an event; it refuses an event with more.
const maxNote = 1024
