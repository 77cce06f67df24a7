// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

// announcement is an event to be sent.
type announcement struct{ kind, reason, action, message string }

// maxNote is how many bytes the text of an event may have; the API server refuses one that has more.
const maxNote = 1024

func newAnnouncement(kind, reason, action, message string) announcement {
	return announcement{kind, reason, action, result.Truncate(message, maxNote)}
}

// announcedCondition is one that is announced when it becomes true.
type announcedCondition struct{ condition, kind, action string }

// runConditions of a run that are announced.
var runConditions = []announcedCondition{
	{v1alpha1.ConditionAdmitted, corev1.EventTypeNormal, "Admit"},
	{v1alpha1.ConditionDatabaseReady, corev1.EventTypeNormal, "Provide"},
	{v1alpha1.ConditionSuspended, corev1.EventTypeNormal, "Suspend"},
	{v1alpha1.ConditionComplete, corev1.EventTypeNormal, "Finish"},
	{v1alpha1.ConditionFailed, corev1.EventTypeWarning, "Finish"},
}

// becameTrue are the announcements of conditions that are true and were not before.
func becameTrue(old, current []metav1.Condition) []announcement {
	var list []announcement
	for _, a := range runConditions {
		c := apimeta.FindStatusCondition(current, a.condition)
		if c != nil && c.Status == metav1.ConditionTrue && !apimeta.IsStatusConditionTrue(old, a.condition) {
			list = append(list, newAnnouncement(a.kind, c.Reason, a.action, c.Message))
		}
	}
	return list
}

// becameRefused is the announcement of an object that the cluster refuses from now on.
func becameRefused(old, status v1alpha1.RefusalStatus, conditions []metav1.Condition) []announcement {
	c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if c == nil || c.Reason != v1alpha1.ReasonRefused || status.Object == old.Object {
		return nil
	}
	return []announcement{newAnnouncement(corev1.EventTypeWarning, c.Reason, "Create", c.Message)}
}

// announcements of what changed from one status of a run to the next.
func announcements(old, status *v1alpha1.BenchmarkRunStatus, seen *lifecycle.Observed) []announcement {
	var list []announcement
	if ptr.Deref(status.Trials.Invalidated, 0) > ptr.Deref(old.Trials.Invalidated, 0) {
		counts := slices.DeleteFunc(slices.Clone(seen.Records), func(r *result.Record) bool {
			return r.Outcome == result.OutcomePilot // which no status counts
		})
		counted := int(ptr.Deref(old.Trials.Measured, 0) + ptr.Deref(old.Trials.Invalidated, 0))
		for _, r := range counts[min(len(counts), counted):] {
			if r.Outcome == result.OutcomeInvalidated {
				list = append(list, newAnnouncement(corev1.EventTypeWarning, "AttemptInvalidated", "Measure",
					fmt.Sprintf("trial %d, attempt %d: %s: %s", r.Trial, r.Attempt, r.Cause, r.Message)))
			}
		}
	}
	for _, h := range status.HostTuning {
		if notRestored(h) && !slices.ContainsFunc(old.HostTuning, func(b v1alpha1.HostTuningStatus) bool {
			return notRestored(b) && b.Node == h.Node
		}) {
			list = append(list, newAnnouncement(corev1.EventTypeWarning, "HostNotRestored", "Restore",
				fmt.Sprintf("node %s was not restored: %s", h.Node, h.Message)))
		}
	}
	list = append(list, becameRefused(old.Refusal, status.Refusal, status.Conditions)...)
	return append(list, becameTrue(old.Conditions, status.Conditions)...)
}

func notRestored(h v1alpha1.HostTuningStatus) bool { return !ptr.Deref(h.Restored, true) }

// changes from one status to the next: the events to be sent, and the transitions to be counted and logged.
type changes struct {
	announcements []announcement
	transitions   []telemetry.Transition
}

// tell what changed: events, metrics and log.
func (w *writer) tell(ctx context.Context, c changes) {
	for _, a := range c.announcements {
		w.recorder.Eventf(w.owner.Object, nil, a.kind, a.reason, a.action, "%s", a.message)
	}
	w.metrics.Count(c.transitions)
	for i := range c.transitions {
		log.FromContext(ctx).Info("Transition", c.transitions[i].KeysAndValues()...)
	}
}

// ReadRuns has all runs as the cache has them: they must not be changed.
func ReadRuns(ctx context.Context, cache client.Reader, scope Scope) ([]v1alpha1.BenchmarkRun, error) {
	return scope.runs(ctx, cache)
}
