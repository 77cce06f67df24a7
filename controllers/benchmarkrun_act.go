// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// obstacleError is an answer of the cluster that trying again does not change.
type obstacleError struct{ failure lifecycle.Failure }

func (e *obstacleError) Error() string { return e.failure.Reason + ": " + e.failure.Message }

// act carries out one action.
func (r *BenchmarkRunReconciler) act(
	ctx context.Context, run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *lifecycle.Observed, action lifecycle.Action,
) error {
	switch a := action.(type) {
	case lifecycle.Wait:
		return nil
	case lifecycle.ProvideDatabase:
		return r.provideDatabase(ctx, run, a)
	case lifecycle.RemoveDatabase:
		return r.removeDatabase(ctx, run, a.Instance)
	case lifecycle.StartAttempt:
		return r.startAttempt(ctx, run, a.Attempt)
	case lifecycle.RecordAttempt:
		return r.recordAttempt(ctx, run, seen, a)
	case lifecycle.RemoveJob:
		return r.remove(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: a.Name, UID: a.UID}})
	case lifecycle.Publish:
		return r.publish(ctx, run, p, seen, a.Outcome)
	case lifecycle.DeleteRun:
		err := r.Delete(ctx, run, client.Preconditions{UID: &run.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		return client.IgnoreNotFound(err)
	default:
		return fmt.Errorf("action %T is not known", a)
	}
}

func (r *BenchmarkRunReconciler) provideDatabase(
	ctx context.Context, run *v1alpha1.BenchmarkRun, a lifecycle.ProvideDatabase,
) error {
	objects, err := database.Objects(run, a.Instance, a.Node, r.Images)
	if err != nil {
		return err
	}
	if database.NeedsSecret(run) {
		if err := r.createSecret(ctx, run); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := r.create(ctx, run, object, true); err != nil {
			return err
		}
	}
	return nil
}

// createSecret creates the run's credentials once. The operator may not read Secrets; one that exists under a name with
// this run's UID is this run's.
func (r *BenchmarkRunReconciler) createSecret(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	secret := database.Secret(run, rand.Text())
	if err := controllerutil.SetControllerReference(run, secret, r.Scheme()); err != nil {
		return fmt.Errorf("owning the Secret: %w", err)
	}
	if err := r.Create(ctx, secret, client.FieldOwner(v1alpha1.FieldOwner)); err != nil && !apierrors.IsAlreadyExists(err) {
		return refusal("Secret", secret.Name, err)
	}
	return nil
}

// removeDatabase deletes what there is of an instance: only what carries this run's UID. Its volume goes with the
// StatefulSet, and a StatefulSet of the MariaDB operator's with its resource.
func (r *BenchmarkRunReconciler) removeDatabase(ctx context.Context, run *v1alpha1.BenchmarkRun, instance int) error {
	lists := []client.ObjectList{&corev1.ServiceList{}, &corev1.ConfigMapList{}, &policyv1.PodDisruptionBudgetList{}}
	if run.Spec.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator {
		lists = append([]client.ObjectList{database.MariaDBList()}, lists...)
	} else {
		lists = append([]client.ObjectList{&appsv1.StatefulSetList{}}, lists...)
	}
	for _, list := range lists {
		err := r.reader(list).List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{
			v1alpha1.LabelRunUID:    string(run.UID),
			v1alpha1.LabelComponent: v1alpha1.ComponentDatabase,
			v1alpha1.LabelInstance:  strconv.Itoa(instance),
		})
		if err != nil && !apimeta.IsNoMatchError(err) {
			return fmt.Errorf("listing what there is of database instance %d: %w", instance, err)
		}
		err = apimeta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is no object", item)
			}
			return r.remove(ctx, object)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// startAttempt creates an attempt's Job. Whether the attempt has a record already is asked past the cache: a Job that is
// made again after its record was written would be a second measurement under the name of the first.
func (r *BenchmarkRunReconciler) startAttempt(ctx context.Context, run *v1alpha1.BenchmarkRun, a trial.Attempt) error {
	job, err := trial.Job(run, a, r.Images)
	if err != nil {
		return fmt.Errorf("making the Job of trial %d: %w", a.Trial.Number, err)
	}
	record := metav1.PartialObjectMetadata{}
	record.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(job), &record)
	switch {
	case err == nil && record.Labels[v1alpha1.LabelRunUID] == string(run.UID):
		return fmt.Errorf("trial %d is recorded already, the cache is behind", a.Trial.Number)
	case err == nil:
		return taken("ConfigMap", record.Name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for the record of trial %d: %w", a.Trial.Number, err)
	}
	return r.create(ctx, run, job, true)
}

// create an object under its fixed name, owned by the run or only labelled with it. One that is there already is right if
// it is this run's; a stranger's is left alone and ends the run.
func (r *BenchmarkRunReconciler) create(
	ctx context.Context, run *v1alpha1.BenchmarkRun, object client.Object, owned bool,
) error {
	if owned {
		if err := controllerutil.SetControllerReference(run, object, r.Scheme()); err != nil {
			return fmt.Errorf("owning %s: %w", object.GetName(), err)
		}
	}
	kind := fmt.Sprintf("%T", object)
	if gvk, err := r.GroupVersionKindFor(object); err == nil {
		kind = gvk.Kind
	}
	// Strictly: a field that an older MariaDB operator does not know must not be dropped without a word.
	err := r.Create(ctx, object, client.FieldOwner(v1alpha1.FieldOwner), client.FieldValidation("Strict"))
	if !apierrors.IsAlreadyExists(err) {
		return refusal(kind, object.GetName(), err)
	}
	name := object.GetName()
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return fmt.Errorf("reading %s %s, which exists already: %w", kind, name, err)
	}
	labels := object.GetLabels()
	switch {
	case object.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s %s is still being deleted", kind, name)
	case labels[v1alpha1.LabelRunUID] == string(run.UID) && (!owned || metav1.IsControlledBy(object, run)):
		return nil
	default:
		return taken(kind, name)
	}
}

// remove deletes an object, if it still is the one with that UID; one that is gone already is fine.
func (r *BenchmarkRunReconciler) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	err := r.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting %s: %w", object.GetName(), err)
	}
	return nil
}

func taken(kind, name string) error {
	return &obstacleError{lifecycle.Failure{
		Reason:  v1alpha1.ReasonNameTaken,
		Message: fmt.Sprintf("%s %s exists and is not this run's: delete it, or use another name for the run", kind, name),
	}}
}

// refusal turns an answer that trying again does not change into an obstacle. A namespace that is being deleted refuses
// everything, and needs no answer.
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
