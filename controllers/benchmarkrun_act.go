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
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// act carries out an action.
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
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: a.Name, UID: a.UID}}
		return r.writer(run).remove(ctx, job)
	case lifecycle.Publish:
		return r.publish(ctx, run, p, seen, a.Outcome)
	case lifecycle.DeleteRun:
		return r.writer(run).remove(ctx, run)
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
		if err := r.writer(run).create(ctx, object, true); err != nil {
			return err
		}
	}
	return nil
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

// removeDatabase deletes the objects of an instance that have this run's UID. Kubernetes deletes the volume with the StatefulSet,
// and the MariaDB operator its StatefulSet with the MariaDB resource.
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
			return fmt.Errorf("listing the objects of database instance %d: %w", instance, err)
		}
		err = apimeta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is not an object", item)
			}
			return r.writer(run).remove(ctx, object)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// startAttempt creates the Job of an attempt. It asks the API server, not the cache, whether the attempt has its record already:
// another Job would be a second measurement under the name of the first.
func (r *BenchmarkRunReconciler) startAttempt(ctx context.Context, run *v1alpha1.BenchmarkRun, a trial.Attempt) error {
	job, err := trial.Job(run, a, r.Images)
	if err != nil {
		return fmt.Errorf("making the Job of trial %d: %w", a.Trial.Number, err)
	}
	w := r.writer(run)
	record := metav1.PartialObjectMetadata{}
	record.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(job), &record)
	switch {
	case err == nil && w.owner.isLabelled(&record):
		return fmt.Errorf("trial %d is recorded already, but the cache does not have it yet", a.Trial.Number)
	case err == nil:
		return w.owner.taken("ConfigMap", record.Name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for the record of trial %d: %w", a.Trial.Number, err)
	}
	return w.create(ctx, job, true)
}
