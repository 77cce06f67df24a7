// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/rand"
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

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// act carries out an action.
func (r *BenchmarkRunReconciler) act(ctx context.Context, s *step, action lifecycle.Action) error {
	run := s.run
	switch a := action.(type) {
	case lifecycle.Wait:
		return nil
	case lifecycle.TakeLane:
		return r.takeLane(ctx, s)
	case lifecycle.ReleaseLane:
		return r.lanes().release(ctx, run.Spec.Lane, a.Holder)
	case lifecycle.ProvideDatabase:
		return r.provideDatabase(ctx, run, a)
	case lifecycle.RemoveDatabase:
		return r.removeDatabase(ctx, run, a.Instance)
	case lifecycle.ReleaseNodes:
		return r.removeOfInstance(ctx, run, a.Instance, &policyv1.PodDisruptionBudgetList{})
	case lifecycle.StartAttempt:
		return r.startAttempt(ctx, s, a.Attempt)
	case lifecycle.RecordAttempt:
		return r.recordAttempt(ctx, s, a)
	case lifecycle.RemoveJob:
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: a.Name, UID: a.UID}}
		return r.writer(run).remove(ctx, job)
	case lifecycle.Publish:
		return r.publish(ctx, s, a.Outcome)
	case lifecycle.DeleteRun:
		return r.writer(run).remove(ctx, run)
	default:
		return fmt.Errorf("action %T is not known", a)
	}
}

// takeLane takes the run's lane, and adds that to what was seen.
func (r *BenchmarkRunReconciler) takeLane(ctx context.Context, s *step) error {
	one := lifecycle.ContenderOf(s.run)
	if err := r.lanes().take(ctx, r.writer(s.run), one); err != nil {
		return err
	}
	s.seen.Lane.Holder, s.seen.Lane.Line = &one.Holder, nil
	return nil
}

// provideDatabase creates the objects of an instance, in order. An object that others would make of these must not be there yet:
// a StatefulSet takes whatever claim it finds under the name, with the data in it.
func (r *BenchmarkRunReconciler) provideDatabase(
	ctx context.Context, run *v1alpha1.BenchmarkRun, a lifecycle.ProvideDatabase,
) error {
	objects, err := database.Objects(run, a.Instance, a.Node, r.Images)
	if err != nil {
		return &obstacleError{*lifecycle.Invalid(err)}
	}
	for _, implied := range database.Implied(run, a.Instance) {
		if err := r.notThere(ctx, run, implied); err != nil {
			return err
		}
	}
	if database.NeedsSecret(run) {
		if err := r.createSecret(ctx, run); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := r.writer(run).create(ctx, object, true); err != nil {
			return err
		}
	}
	return nil
}

// notThere fails if an object exists that is not this run's.
func (r *BenchmarkRunReconciler) notThere(ctx context.Context, run *v1alpha1.BenchmarkRun, object client.Object) error {
	w := r.writer(run)
	kind, name := w.kindOf(object), object.GetName()
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("looking for %s %s: %w", kind, name, err)
	case w.owner.isLabelled(object) && metav1.GetControllerOf(object) != nil:
		return nil // made of this very instance, before the operator was killed
	}
	return w.owner.taken(kind, name)
}

// createSecret creates the run's credentials once. The operator may not read Secrets: one that has a name with this run's UID is
// this run's.
func (r *BenchmarkRunReconciler) createSecret(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	err := r.writer(run).createBlindly(ctx, database.Secret(run, rand.Text()), true)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// removeDatabase deletes the objects of an instance that this run controls. The MariaDB operator deletes its StatefulSet with the
// MariaDB resource, and Kubernetes the volume with that.
func (r *BenchmarkRunReconciler) removeDatabase(ctx context.Context, run *v1alpha1.BenchmarkRun, instance int) error {
	lists := []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{},
		&policyv1.PodDisruptionBudgetList{},
	}
	if run.Spec.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator {
		lists[0] = database.MariaDBList()
	}
	for _, list := range lists {
		if err := r.removeOfInstance(ctx, run, instance, list); err != nil {
			return err
		}
	}
	return nil
}

// removeOfInstance deletes the objects of one kind. It asks the API server for them, because the cache may be behind.
func (r *BenchmarkRunReconciler) removeOfInstance(
	ctx context.Context, run *v1alpha1.BenchmarkRun, instance int, list client.ObjectList,
) error {
	err := r.Live.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{
		v1alpha1.LabelRunUID:    string(run.UID),
		v1alpha1.LabelComponent: v1alpha1.ComponentDatabase,
		v1alpha1.LabelInstance:  strconv.Itoa(instance),
	})
	if err != nil && !apimeta.IsNoMatchError(err) {
		return fmt.Errorf("listing the objects of database instance %d: %w", instance, err)
	}
	return apimeta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("%T is not an object", item)
		}
		if !metav1.IsControlledBy(object, run) {
			return nil
		}
		return r.writer(run).remove(ctx, object)
	})
}

// startAttempt creates the Job of an attempt. It asks the API server, not the cache, whether the attempt has its record already:
// another Job would be a second measurement under the name of the first.
func (r *BenchmarkRunReconciler) startAttempt(ctx context.Context, s *step, a trial.Attempt) error {
	run := s.run
	job, err := trial.Job(run, a, r.Images)
	if err != nil {
		return &obstacleError{*lifecycle.Invalid(fmt.Errorf("making the Job of trial %d: %w", a.Trial.Number, err))}
	}
	w := r.writer(run)
	record := metav1.PartialObjectMetadata{}
	record.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(job), &record)
	switch {
	case apierrors.IsNotFound(err):
		annotateNeighbors(job, r.neighborhood(ctx, run, placeOf(s.seen, a.Instance).DatabaseNode))
		return w.create(ctx, job, true)
	case err != nil:
		return fmt.Errorf("looking for the record of trial %d: %w", a.Trial.Number, err)
	}
	if err := r.upToDate(ctx, run); err != nil {
		return err
	}
	return w.owner.taken("ConfigMap", record.Name)
}

// upToDate fails if the run was read before it was last written.
func (r *BenchmarkRunReconciler) upToDate(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	var live v1alpha1.BenchmarkRun
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), &live); err != nil {
		return fmt.Errorf("reading the run again: %w", err)
	}
	if live.ResourceVersion != run.ResourceVersion {
		return errStale
	}
	return nil
}
