// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

type writer struct {
	*BenchmarkRunReconciler
	owner owner
}

func (r *BenchmarkRunReconciler) writer(run *v1alpha1.BenchmarkRun) *writer {
	return &writer{r, owner{run}}
}

// terminalError is an answer of the cluster that trying again does not change: it ends what the owner does.
type terminalError struct{ failure lifecycle.Failure }

func (e *terminalError) Error() string { return e.failure.Reason + ": " + e.failure.Message }

func terminal(reason, message string) error {
	return &terminalError{lifecycle.Failure{Reason: reason, Message: message}}
}

// create an object under its fixed name, to be deleted with the owner. If the owner has one of that name already, that is read.
// One that is being deleted is an error that passes. Another owner's is left alone, and is a terminal error.
func (w *writer) create(ctx context.Context, object client.Object) (existed bool, err error) {
	kind, name := w.kindOf(object), object.GetName()
	// Strictly: an older MariaDB operator must not drop a field that it does not know.
	err = w.createUnchecked(ctx, object, true, client.FieldValidation("Strict"))
	if !apierrors.IsAlreadyExists(err) {
		return false, err
	}
	err = w.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	switch {
	case err != nil:
		return true, fmt.Errorf("reading %s %s, which exists already: %w", kind, name, err)
	case object.GetDeletionTimestamp() != nil:
		return true, fmt.Errorf("%s %s is still being deleted", kind, name)
	case !madeOf(object, w.owner):
		return true, w.owner.taken(kind, name)
	}
	return true, nil
}

// createUnchecked creates an object without a look at the one that may have its name: the error is then AlreadyExists.
func (w *writer) createUnchecked(ctx context.Context, object client.Object, referenced bool, opts ...client.CreateOption) error {
	if referenced {
		if err := controllerutil.SetControllerReference(w.owner.BenchmarkRun, object, w.Scheme()); err != nil {
			return fmt.Errorf("owning %s: %w", object.GetName(), err)
		}
	}
	if w.ClusterUsers {
		podutil.LeaveUsers(object)
	}
	err := w.Create(ctx, object, append(opts, client.FieldOwner(v1alpha1.FieldOwner))...)
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	return refusal(w.kindOf(object), object.GetName(), err)
}

// remove deletes an object if it still has the same UID. It is no error if the object is gone. What an object has made is deleted
// after it; or before it, if a finalizer keeps it.
func (w *writer) remove(ctx context.Context, object client.Object) error {
	return w.removeIf(ctx, object, client.Preconditions{UID: ptr.To(object.GetUID())})
}

func (w *writer) removeIf(ctx context.Context, object client.Object, unchanged client.Preconditions) error {
	policy := metav1.DeletePropagationBackground
	switch object.(type) {
	case *batchv1.Job, *appsv1.StatefulSet:
		if podutil.IsKept(object) {
			policy = metav1.DeletePropagationForeground
		}
	}
	err := w.Delete(ctx, object, unchanged, client.PropagationPolicy(policy))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting %s: %w", object.GetName(), err)
	}
	return nil
}

// removeOrphan deletes an object that an earlier owner of the same name controls, if it was not changed since. That this owner
// has the name today, and so the earlier one is gone, is asked of the API server: the cache of one kind may be behind another's.
func (w *writer) removeOrphan(ctx context.Context, orphan client.Object) error {
	var now metav1.PartialObjectMetadata
	now.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(lifecycle.RunKind))
	if err := w.Live.Get(ctx, client.ObjectKeyFromObject(w.owner), &now); err != nil || now.UID != w.owner.GetUID() {
		return client.IgnoreNotFound(err)
	}
	return w.removeIf(ctx, orphan, client.Preconditions{
		UID: ptr.To(orphan.GetUID()), ResourceVersion: ptr.To(orphan.GetResourceVersion()),
	})
}

// patchStatus writes the owner's status if it is not that of the old object any more. It fails with a conflict if the owner was
// written to since it was read. What changed is told after it was written: each change once.
func (w *writer) patchStatus(ctx context.Context, old client.Object, c changes) error {
	if equality.Semantic.DeepEqual(old, w.owner.BenchmarkRun) {
		return nil
	}
	patch := client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
	answering.Lock()
	err := w.Status().Patch(ctx, w.owner.BenchmarkRun, patch)
	answering.Unlock()
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	w.tell(ctx, c)
	return nil
}

// answering is held while a status is written: the API server answers with the whole owner, which anybody may have made large.
// Not more than one such answer is to be in memory.
var answering sync.Mutex

func (w *writer) kindOf(object client.Object) string {
	gvk, err := w.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return gvk.Kind
}

type refusedError struct{ lifecycle.Refusal }

func (e *refusedError) Error() string { return "creating " + e.Object + ": " + e.Message }

// refusal turns an answer that trying again does not change into a terminalError, and one that may change into a refusedError. A
// namespace that is being deleted refuses everything: that is no error, because the owner will be deleted too.
func refusal(kind, name string, err error) error {
	switch {
	case err == nil, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil
	case apimeta.IsNoMatchError(err):
		return terminal(v1alpha1.ReasonMariaDBOperatorMissing, database.InstallMariaDBOperator)
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		switch answer := status.Status(); {
		case neverValid(&answer):
			return terminal(v1alpha1.ReasonRejected, fmt.Sprintf("the cluster refuses %s %s: %s", kind, name, answer.Message))
		case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			return &refusedError{lifecycle.Refusal{Object: kind + " " + name, Message: answer.Message}}
		}
	}
	return fmt.Errorf("creating %s %s: %w", kind, name, err)
}

// neverValid says whether an object is refused for what it is. A policy (ValidatingAdmissionPolicy) answers Invalid too, but
// names no field, and a webhook that gives no reason answers with the code of a bad request alone: both may change their minds.
func neverValid(answer *metav1.Status) bool {
	switch answer.Reason { //nolint:exhaustive // the others may pass
	case metav1.StatusReasonBadRequest, metav1.StatusReasonRequestEntityTooLarge:
		return true
	case metav1.StatusReasonInvalid:
		return answer.Details != nil &&
			slices.ContainsFunc(answer.Details.Causes, func(c metav1.StatusCause) bool { return c.Field != "" })
	}
	return false
}

type announcement struct{ kind, reason, action, message string }

// maxNote is how many bytes the text of an event may have; the API server refuses one that has more.
const maxNote = 1024

var runConditions = []struct{ condition, kind, action string }{
	{v1alpha1.ConditionAdmitted, corev1.EventTypeNormal, "Admit"},
	{v1alpha1.ConditionDatabaseReady, corev1.EventTypeNormal, "Provide"},
	{v1alpha1.ConditionSuspended, corev1.EventTypeNormal, "Suspend"},
	{v1alpha1.ConditionComplete, corev1.EventTypeNormal, "Finish"},
	{v1alpha1.ConditionFailed, corev1.EventTypeWarning, "Finish"},
}

func announcements(old, status *v1alpha1.BenchmarkRunStatus, seen *lifecycle.Observed) []announcement {
	var list []announcement
	add := func(kind, reason, action, message string) {
		list = append(list, announcement{kind, reason, action, result.Truncate(message, maxNote)})
	}
	if ptr.Deref(status.Trials.Invalidated, 0) > ptr.Deref(old.Trials.Invalidated, 0) {
		counted := int(ptr.Deref(old.Trials.Measured, 0) + ptr.Deref(old.Trials.Invalidated, 0))
		for _, r := range seen.Records[min(len(seen.Records), counted):] {
			if r.Outcome == result.OutcomeInvalidated {
				add(corev1.EventTypeWarning, "AttemptInvalidated", "Measure",
					fmt.Sprintf("trial %d, attempt %d: %s: %s", r.Trial, r.Attempt, r.Cause, r.Message))
			}
		}
	}
	for _, h := range status.HostTuning {
		if notRestored(h) && !slices.ContainsFunc(old.HostTuning, func(b v1alpha1.HostTuningStatus) bool {
			return notRestored(b) && b.Node == h.Node
		}) {
			add(corev1.EventTypeWarning, "HostNotRestored", "Restore", fmt.Sprintf("node %s was not restored: %s", h.Node, h.Message))
		}
	}
	c := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if c != nil && c.Reason == v1alpha1.ReasonRefused && status.Refusal.Object != old.Refusal.Object {
		add(corev1.EventTypeWarning, c.Reason, "Create", c.Message)
	}
	for _, a := range runConditions {
		c := apimeta.FindStatusCondition(status.Conditions, a.condition)
		if c != nil && c.Status == metav1.ConditionTrue && !apimeta.IsStatusConditionTrue(old.Conditions, a.condition) {
			add(a.kind, c.Reason, a.action, c.Message)
		}
	}
	return list
}

func notRestored(h v1alpha1.HostTuningStatus) bool { return !ptr.Deref(h.Restored, true) }

type changes struct {
	announcements []announcement
	transitions   []telemetry.Transition
}

// tell what changed: events, metrics and log.
func (w *writer) tell(ctx context.Context, c changes) {
	for _, a := range c.announcements {
		w.Recorder.Eventf(w.owner.BenchmarkRun, nil, a.kind, a.reason, a.action, "%s", a.message)
	}
	w.Metrics.Count(c.transitions)
	for i := range c.transitions {
		log.FromContext(ctx).Info("Transition", c.transitions[i].KeysAndValues()...)
	}
}
