// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// act carries out an action.
func (r *BenchmarkRunReconciler) act(ctx context.Context, s *runStep, action lifecycle.Action) error {
	run := s.run
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
		return r.provideDatabase(ctx, s, a)
	case lifecycle.RemoveDatabase:
		return r.writer(run).removeInstance(ctx, run.Spec.Database.Provisioner, a.Instance)
	case lifecycle.RemoveDataCopies:
		return r.writer(run).removeDataCopies(ctx)
	case lifecycle.ReleaseNodes:
		return r.writer(run).removeOfInstance(ctx, a.Instance, &policyv1.PodDisruptionBudgetList{})
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
	case lifecycle.CheckVariants:
		return r.checkVariants(ctx, s)
	default:
		return r.actBesides(ctx, run, action)
	}
}

// actBesides carries out an action that is not about measuring.
func (r *BenchmarkRunReconciler) actBesides(ctx context.Context, run *v1alpha1.BenchmarkRun, action lifecycle.Action) error {
	if _, expired := action.(lifecycle.DeleteRun); expired {
		return r.writer(run).remove(ctx, run)
	}
	return r.actOnHost(ctx, run, action)
}

// removeJob removes the Job of an attempt that has its record. The status must count the record first: until then, the Job is
// what leads a manager that starts to it.
func (r *BenchmarkRunReconciler) removeJob(ctx context.Context, s *runStep, a lifecycle.RemoveJob) error {
	if s.old.Status.Records != s.seen.Newest {
		if err := r.writeAhead(ctx, s); err != nil {
			return err
		}
	}
	return r.writer(s.run).remove(ctx, a.Job)
}

// takeLane takes the run's lane, and adds that to what was seen.
func (r *BenchmarkRunReconciler) takeLane(ctx context.Context, s *runStep) error {
	one := lifecycle.ContenderOf(s.run)
	if err := r.lanes().take(ctx, r.writer(s.run), one); err != nil {
		return err
	}
	s.seen.Lane.Holder, s.seen.Lane.Next = &one.Holder, lifecycle.Holder{}
	return nil
}

// startAttempt creates the Job of an attempt. It asks the API server, not the cache, whether the attempt has its record already:
// another Job would be a second measurement under the name of the first. A process that has made no Job of the run yet looks
// whether the one before it has made this one: then it is known by the token of that time.
func (r *BenchmarkRunReconciler) startAttempt(ctx context.Context, s *runStep, a trial.Attempt) error {
	run := s.run
	job, err := trial.Job(run, a, s.seen.Images)
	if err != nil {
		return &terminalError{*lifecycle.Invalid(fmt.Errorf("making the Job of trial %d: %w", a.Trial.Number, err))}
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
	if r.memories.of(run).token == "" {
		if err := r.claimAttempt(ctx, s, a); !isStale(err) {
			return err
		}
	}
	token, err := r.prepareToken(ctx, s)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, tokenAnnotation, token)
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

// claimAttempt claims a Job that exists under the name of the next attempt, as the API server has it, if it carries the token
// whose digest the status has: the operator made it, and was killed before it wrote the Job's UID. It is stale if there is no
// such Job.
func (r *BenchmarkRunReconciler) claimAttempt(ctx context.Context, s *runStep, a trial.Attempt) error {
	var there batchv1.Job
	key := client.ObjectKey{Namespace: s.run.Namespace, Name: plan.AttemptName(s.run, a.Trial.Number, a.Number)}
	err := r.Live.Get(ctx, key, &there)
	switch {
	case apierrors.IsNotFound(err):
		return errStale
	case err != nil:
		return fmt.Errorf("reading Job %s, which exists already: %w", key.Name, err)
	case there.DeletionTimestamp != nil:
		return errStale
	case referenceTo(&there) == s.seen.Made.Attempt:
		return errStale // it is claimed, and the cache does not have it yet
	}
	digest := tokenDigest(there.Annotations[tokenAnnotation])
	if !madeOf(&there, s.run) || digest == "" || !slices.Contains(s.old.Status.TokenDigests, digest) {
		w := r.writer(s.run)
		if err := w.upToDate(ctx); err != nil {
			return err
		}
		return w.owner.taken("Job", key.Name)
	}
	r.claim(s, &there)
	return nil
}

// claim a Job: that of the newest attempt. The token of the next one is chosen now, so that its digest is written with this
// claim.
func (r *BenchmarkRunReconciler) claim(s *runStep, job *batchv1.Job) {
	m := &r.memories.of(s.run).made
	m.attempt = creation{made: referenceTo(job), after: s.run.Status.Attempt}
	m.token = rand.Text()
	s.seen.Made.Attempt, s.seen.Made.TokenDigests = m.attempt.made, withDigest(nil, m.token)
}
