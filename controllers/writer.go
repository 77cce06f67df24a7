// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// writer creates and deletes the objects of an owner, and writes the owner's status.
type writer struct {
	client.Client
	// live reads past the cache.
	live     client.Reader
	recorder events.EventRecorder
	owner    owner
}

// obstacleError is an answer of the cluster that trying again does not change: it ends what the owner does.
type obstacleError struct{ failure lifecycle.Failure }

func (e *obstacleError) Error() string { return e.failure.Reason + ": " + e.failure.Message }

// create an object under its fixed name, with an owner reference if it is to be deleted with the owner. An object that has the
// name already is fine if it is the owner's. Somebody else's is left alone, and is an obstacle.
func (w *writer) create(ctx context.Context, object client.Object, referenced bool) error {
	kind, name := w.kindOf(object), object.GetName()
	// Strictly: an older MariaDB operator must not drop a field that it does not know.
	err := w.createBlindly(ctx, object, referenced, client.FieldValidation("Strict"))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := w.live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return fmt.Errorf("reading %s %s, which exists already: %w", kind, name, err)
	}
	switch {
	case object.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s %s is still being deleted", kind, name)
	case w.owner.owns(object, referenced):
		return nil
	default:
		return w.owner.taken(kind, name)
	}
}

// createBlindly creates an object without a look at the one that may have its name: the error is then AlreadyExists.
func (w *writer) createBlindly(ctx context.Context, object client.Object, referenced bool, opts ...client.CreateOption) error {
	if referenced {
		if err := controllerutil.SetControllerReference(w.owner.Object, object, w.Scheme()); err != nil {
			return fmt.Errorf("owning %s: %w", object.GetName(), err)
		}
	}
	err := w.Create(ctx, object, append(opts, client.FieldOwner(v1alpha1.FieldOwner))...)
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	return refusal(w.kindOf(object), object.GetName(), err)
}

// remove deletes an object if it still has the same UID. It is no error if the object is gone.
func (w *writer) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	err := w.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting %s: %w", object.GetName(), err)
	}
	return nil
}

// store writes files into immutable ConfigMaps: as many as they need, and last the one that has the given name, so that all are
// there if it is. Every error is an unwrittenError, also a refusal: what was measured is worth another try.
func (w *writer) store(
	ctx context.Context, meta metav1.ObjectMeta, files []result.File, retention v1alpha1.Retention,
) error {
	bins, err := result.Pack(files)
	if err != nil {
		return err
	}
	for i, bin := range slices.Backward(bins) {
		cm := &corev1.ConfigMap{
			ObjectMeta: *meta.DeepCopy(), Immutable: ptr.To(true), Data: map[string]string{}, BinaryData: map[string][]byte{},
		}
		cm.Namespace = w.owner.GetNamespace()
		if i > 0 {
			cm.Name = fmt.Sprintf("%s-%d", meta.Name, i+1)
		}
		for _, f := range bin {
			if f.Binary {
				cm.BinaryData[f.Name] = f.Data
			} else {
				cm.Data[f.Name] = string(f.Data)
			}
		}
		if err := w.storeOne(ctx, cm, retention != v1alpha1.RetentionRetain); err != nil {
			return &unwrittenError{"ConfigMap " + cm.Name, err}
		}
	}
	return nil
}

// storeOne creates a ConfigMap. If there is one already, an operator that was killed has written it, and it must say the same. It
// does not if something else was seen since: then it was never counted, and is written anew.
func (w *writer) storeOne(ctx context.Context, cm *corev1.ConfigMap, referenced bool) error {
	err := w.createBlindly(ctx, cm.DeepCopy(), referenced)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var there corev1.ConfigMap
	if err := w.live.Get(ctx, client.ObjectKeyFromObject(cm), &there); err != nil {
		return fmt.Errorf("reading the one that exists already: %w", err)
	}
	same := equality.Semantic.DeepEqual(there.Data, cm.Data) && equality.Semantic.DeepEqual(there.BinaryData, cm.BinaryData)
	switch {
	case there.DeletionTimestamp != nil:
		return errStale
	case !w.owner.owns(&there, referenced) || !same && !referenced:
		return w.owner.taken("ConfigMap", cm.Name)
	case same && ptr.Deref(there.Immutable, false):
		return nil
	}
	if err := w.remove(ctx, &there); err != nil {
		return err
	}
	return errStale
}

// patchStatus writes the owner's status if it is not that of the old object any more. It fails with a conflict if somebody has
// written to the owner since it was read. The events that announce the change are sent after it was written.
func (w *writer) patchStatus(ctx context.Context, old client.Object, list []announcement) error {
	if equality.Semantic.DeepEqual(old, w.owner.Object) {
		return nil
	}
	patch := client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
	if err := w.Status().Patch(ctx, w.owner.Object, patch); err != nil {
		return client.IgnoreNotFound(err)
	}
	for _, a := range list {
		w.recorder.Eventf(w.owner.Object, nil, a.kind, a.reason, a.action, "%s", a.message)
	}
	return nil
}

func (w *writer) kindOf(object client.Object) string {
	gvk, err := w.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return gvk.Kind
}

// refusal turns an answer that trying again does not change into an obstacle. A namespace that is being deleted refuses
// everything: that is no error, because the owner will be deleted too.
func refusal(kind, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil
	case apimeta.IsNoMatchError(err):
		return &obstacleError{lifecycle.Failure{
			Reason: v1alpha1.ReasonMariaDBOperatorMissing, Message: database.InstallMariaDBOperator,
		}}
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		status := apierrors.APIStatus(nil)
		message := err.Error()
		if errors.As(err, &status) {
			message = status.Status().Message
		}
		return &obstacleError{lifecycle.Failure{
			Reason:  v1alpha1.ReasonRejected,
			Message: fmt.Sprintf("the cluster refuses %s %s: %s", kind, name, message),
		}}
	default:
		return fmt.Errorf("creating %s %s: %w", kind, name, err)
	}
}
