// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/rand"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// act carries out an action.
func (r *BenchmarkRunReconciler) act(ctx context.Context, s *runStep, action lifecycle.Action) error {
	run := s.owner
	switch a := action.(type) {
	case lifecycle.Wait:
		return nil
	case lifecycle.TakeLane:
		return r.takeLane(ctx, s)
	case lifecycle.ReleaseLane:
		return r.lanes().release(ctx, run.Spec.Lane, a.Holder)
	case lifecycle.RemoveOrphan:
		return r.writer(run).removeOrphan(ctx, a.Object)
	case lifecycle.ProvideDatabase:
		return r.provideDatabase(ctx, run, s.seen.Images, a)
	case lifecycle.RemoveDatabase:
		return r.databaseWriter(run).removeInstance(ctx, run.Spec.Database.Provisioner, a.Instance)
	case lifecycle.RemoveDataCopies:
		return r.writer(run).removeDataCopies(ctx)
	case lifecycle.ReleaseNodes:
		return r.databaseWriter(run).removeOfInstance(ctx, a.Instance, &policyv1.PodDisruptionBudgetList{})
	case lifecycle.StartAttempt:
		return r.startAttempt(ctx, s, a.Attempt)
	case lifecycle.ClaimAttempt:
		return r.claimAttempt(ctx, s, a.Attempt)
	case lifecycle.RecordAttempt:
		return r.recordAttempt(ctx, s, a)
	case lifecycle.RemoveJob:
		return r.removeJob(ctx, s, a)
	case lifecycle.Publish:
		return r.publish(ctx, s, a.Outcome)
	case lifecycle.DeleteRun:
		return r.writer(run).remove(ctx, run)
	default:
		return r.actOnHost(ctx, run, action)
	}
}

// removeJob removes the Job of an attempt that has its record. The status must count the record first: until then, the Job is
// what leads a manager that starts to it.
func (r *BenchmarkRunReconciler) removeJob(ctx context.Context, s *runStep, a lifecycle.RemoveJob) error {
	if s.old.Status.Records != s.seen.Newest {
		if err := writeStatus(ctx, r, s); err != nil {
			return err
		}
		s.old = s.owner.DeepCopy()
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.owner.Namespace, Name: a.Name, UID: a.UID}}
	return r.writer(s.owner).remove(ctx, job)
}

// actOnHost carries out an action that concerns a node's kernel settings.
func (r *BenchmarkRunReconciler) actOnHost(ctx context.Context, run *v1alpha1.BenchmarkRun, action lifecycle.Action) error {
	switch a := action.(type) {
	case lifecycle.TuneHost:
		return r.tuneHost(ctx, run, a)
	case lifecycle.DropPageCache:
		return r.changeHost(ctx, run, a.Node, func(record *hosttuning.Record) { record.Drop = a.Attempt })
	case lifecycle.ReleaseHost:
		return r.changeHost(ctx, run, a.Node, func(record *hosttuning.Record) { record.Release = true })
	case lifecycle.ForgetHost:
		return r.forgetHost(ctx, run, a.Node)
	default:
		return fmt.Errorf("unknown action %T", a)
	}
}

// takeLane takes the run's lane, and adds that to what was seen.
func (r *BenchmarkRunReconciler) takeLane(ctx context.Context, s *runStep) error {
	one := lifecycle.ContenderOf(s.owner)
	if err := r.lanes().take(ctx, r.writer(s.owner), one); err != nil {
		return err
	}
	s.seen.Lane.Holder, s.seen.Lane.Next = &one.Holder, lifecycle.Holder{}
	return nil
}

// provideDatabase creates the objects of an instance, in order. An object that others would make of these must not be there yet:
// a StatefulSet takes whatever claim it finds under the name, with the data in it.
func (r *BenchmarkRunReconciler) provideDatabase(
	ctx context.Context, run *v1alpha1.BenchmarkRun, images podutil.Images, a lifecycle.ProvideDatabase,
) error {
	objects, err := database.Objects(run, a.Instance, a.Node, images)
	if err != nil {
		return &terminalError{*lifecycle.Invalid(err)}
	}
	if policy := database.NetworkPolicy(run, a.Instance); policy != nil && r.NetworkPolicies {
		objects = append([]database.Object{policy}, objects...)
	}
	w := r.databaseWriter(run)
	for _, implied := range database.Implied(run, a.Instance) {
		if err := w.notThere(ctx, implied); err != nil {
			return err
		}
	}
	if database.NeedsSecret(run) {
		if err := r.writerFor(ownerAs(run, plan.CredentialsOwner(run)), nil).createSecret(ctx, run); err != nil {
			return err
		}
	}
	if claim := database.DataCopy(run); claim != nil {
		if err := r.writerFor(ownerAs(run, plan.DataOwner(run)), nil).create(ctx, claim, true); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := w.create(ctx, object, true); err != nil {
			return err
		}
	}
	return nil
}

// notThere fails if an object exists that is not this owner's.
func (w *writer) notThere(ctx context.Context, object client.Object) error {
	kind, name := w.kindOf(object), object.GetName()
	err := w.live.Get(ctx, client.ObjectKeyFromObject(object), object)
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

// createSecret creates the credentials of a database once. The operator may not read Secrets: one that has a name with this
// owner's UID is this owner's.
func (w *writer) createSecret(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	err := w.createUnchecked(ctx, database.Secret(run, rand.Text()), true)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// startAttempt creates the Job of an attempt. It asks the API server, not the cache, whether the attempt has its record already:
// another Job would be a second measurement under the name of the first.
func (r *BenchmarkRunReconciler) startAttempt(ctx context.Context, s *runStep, a trial.Attempt) error {
	run := s.owner
	job, err := job(s, a)
	if err != nil {
		return err
	}
	w := r.writer(run)
	record := metav1.PartialObjectMetadata{}
	record.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(job), &record)
	switch {
	case err == nil:
		if err := w.upToDate(ctx); err != nil {
			return err
		}
		return w.owner.taken("ConfigMap", record.Name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for the record of trial %d: %w", a.Trial.Number, err)
	}
	annotateNeighbors(job, r.neighborhood(ctx, run, placeOf(s.seen, a.Instance).DatabaseNode))
	err = w.createUnchecked(ctx, job, true, client.FieldValidation("Strict"))
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.claimAttempt(ctx, s, a)
	case err != nil:
		return err
	}
	r.claim(s, job)
	return nil
}

// job of an attempt, which is to be made or to be compared.
func job(s *runStep, a trial.Attempt) (*batchv1.Job, error) {
	job, err := trial.Job(s.owner, a, s.seen.Images)
	if err != nil {
		return nil, &terminalError{*lifecycle.Invalid(fmt.Errorf("making the Job of trial %d: %w", a.Trial.Number, err))}
	}
	return job, nil
}

// claimAttempt claims a Job that exists under the name of the next attempt, as the API server has it: the operator made it, and
// could not write its UID to the status. Anybody can make a Job with the run's owner reference: it must be what the operator
// makes, in all that measures.
func (r *BenchmarkRunReconciler) claimAttempt(ctx context.Context, s *runStep, a trial.Attempt) error {
	want, err := job(s, a)
	if err != nil {
		return err
	}
	var there batchv1.Job
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(want), &there)
	switch {
	case apierrors.IsNotFound(err):
		return errStale
	case err != nil:
		return fmt.Errorf("reading Job %s, which exists already: %w", want.Name, err)
	case there.DeletionTimestamp != nil:
		return errStale
	case !metav1.IsControlledBy(&there, s.owner), !trial.Same(want, &there):
		return r.writer(s.owner).owner.taken("Job", want.Name)
	}
	r.claim(s, &there)
	return nil
}

// claim a Job: that of the newest attempt.
func (r *BenchmarkRunReconciler) claim(s *runStep, job *batchv1.Job) {
	s.seen.Claimed = v1alpha1.AttemptReference{Job: job.Name, UID: string(job.UID)}
	r.memories.of(s.owner).claimed = claimedJob{job: s.seen.Claimed, after: s.owner.Status.Attempt}
}
