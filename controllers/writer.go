// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

type writer struct {
	*RunReconciler
	owner owner
}

func (r *RunReconciler) writer(run *v1alpha1.BenchmarkRun) *writer {
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
// written to since it was read.
func (w *writer) patchStatus(ctx context.Context, old client.Object) (written bool, err error) {
	if equality.Semantic.DeepEqual(old, w.owner.BenchmarkRun) {
		return false, nil
	}
	patch := client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
	answering.Lock()
	err = w.Status().Patch(ctx, w.owner.BenchmarkRun, patch)
	answering.Unlock()
	return err == nil, client.IgnoreNotFound(err)
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

// owner is the run that the reconciler works for. Each object that belongs to it has two labels: the owner's name, by which it
// is listed and watched, and the owner's UID, because an owner that was deleted and created again is another one.
type owner struct{ *v1alpha1.BenchmarkRun }

// isLabelled says whether an object has the owner's UID in its label. Anybody can write a label: it sorts objects, it proves
// nothing.
func (o owner) isLabelled(object client.Object) bool {
	return object.GetLabels()[v1alpha1.LabelRunUID] == string(o.GetUID())
}

func (o owner) retains() bool { return o.Spec.Results.Retention == v1alpha1.RetentionRetain }

// owns says whether a ConfigMap with records or results is the owner's: it is controlled by the owner or, if it is to stay when
// the owner is deleted, has its UID.
func (o owner) owns(cm *corev1.ConfigMap) bool {
	if o.retains() {
		return o.isLabelled(cm)
	}
	return madeOf(cm, o)
}

// taken is the terminal error that an object of another owner has a name that the owner needs.
func (o owner) taken(kind, name string) error {
	return terminal(v1alpha1.ReasonNameTaken,
		fmt.Sprintf("%s %s exists and does not belong to this run: delete it, or use another name for the run", kind, name))
}

// ownership sorts observed objects that have the owner's name in their label: into its own, those of an earlier owner of the same
// name that are being deleted, and those that stay and have a name that the owner may need. All others are not ours, whatever
// their labels say.
type ownership struct {
	owner owner
	gone  bool
	// predecessor are the objects that are being deleted, and strangers the names of those that stay, both in order.
	predecessor lifecycle.Predecessor
	strangers   []string
}

func (o *ownership) ours(object client.Object) bool {
	if madeOf(object, o.owner) {
		return true
	}
	o.sort(object)
	return false
}

func (o *ownership) sort(object client.Object) {
	switch {
	case o.owner.isLabelled(object), !o.wanted(object.GetName()):
	case o.goes(object):
		o.predecessor.Remains = append(o.predecessor.Remains, object.GetName())
		slices.Sort(o.predecessor.Remains)
		if object.GetDeletionTimestamp() == nil && o.owner.succeeds(object) {
			o.predecessor.Orphan = object
		}
	default:
		o.strangers = append(o.strangers, object.GetName())
		slices.Sort(o.strangers)
	}
}

// ofRun are ends of names that Benchrun gives: of the instances, attempts, results and copied data of a run, and of the Pods,
// claims and further ConfigMaps of these.
var ofRun = regexp.MustCompile(`^-(db[0-9]+|t[0-9]+-a[0-9]+|results|data)(-|$)`)

func (o *ownership) wanted(name string) bool {
	for _, prefix := range []string{"", "data-", "storage-"} {
		if rest, found := strings.CutPrefix(name, prefix+o.owner.GetName()); found && ofRun.MatchString(rest) {
			return true
		}
	}
	return false
}

// goes says whether an object will be gone soon: it is being deleted, or what controls it is an earlier owner or was one's.
func (o *ownership) goes(object client.Object) bool {
	controller := metav1.GetControllerOf(object)
	return object.GetDeletionTimestamp() != nil || controller != nil && o.wanted(controller.Name) || o.owner.succeeds(object)
}

// succeeds says whether what controls an object is an earlier owner of the same name: that one is gone, as this one has its name.
func (o owner) succeeds(object client.Object) bool {
	controller := metav1.GetControllerOf(object)
	return controller != nil && controller.Kind == lifecycle.RunKind && controller.APIVersion == v1alpha1.GroupVersion.String() &&
		controller.Name == o.GetName() && controller.UID != o.GetUID()
}

func enqueueOwner() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		name := object.GetLabels()[v1alpha1.LabelRun]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: name}}}
	})
}
