// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
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
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

func (r *RunReconciler) act(ctx context.Context, s *runStep, action lifecycle.Action) error {
	run := s.run
	switch a := action.(type) {
	case lifecycle.Wait:
		return nil
	case lifecycle.TakeLane:
		return r.takeLane(ctx, s)
	case lifecycle.ReleaseLane:
		return r.releaseLane(ctx, run.Spec.Lane, a.Holder)
	case lifecycle.RemoveOrphan:
		return r.writer(run).removeOrphan(ctx, a.Object)
	case lifecycle.ProvideDatabase:
		return r.provideDatabase(ctx, s, a)
	case lifecycle.RemoveDatabase:
		return r.writer(run).removeInstance(ctx, run.Spec.Database.Provisioner, a.Instance)
	case lifecycle.RemoveDataCopies:
		return r.writer(run).removeLabelled(ctx, "copies of data", &corev1.PersistentVolumeClaimList{}, client.MatchingLabels{
			v1alpha1.LabelComponent: v1alpha1.ComponentDataCopy,
		})
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

func (r *RunReconciler) actBesides(ctx context.Context, run *v1alpha1.BenchmarkRun, action lifecycle.Action) error {
	switch a := action.(type) {
	case lifecycle.DeleteRun:
		return r.writer(run).remove(ctx, run)
	case lifecycle.TuneHost:
		return r.tuneHost(ctx, run, a)
	case lifecycle.ReleaseHost:
		a.Node.Release = true
		return writeRecord(ctx, r.Client, a.Node.Lease, a.Node.Record)
	}
	return fmt.Errorf("unknown action %T", action)
}

// removeJob removes the Job of an attempt that has its record. The status must count the record first: until then, the Job is
// what leads a manager that starts to it.
func (r *RunReconciler) removeJob(ctx context.Context, s *runStep, a lifecycle.RemoveJob) error {
	if s.old.Status.Records != s.seen.Newest {
		if err := r.writeAhead(ctx, s); err != nil {
			return err
		}
	}
	return r.writer(s.run).remove(ctx, a.Job)
}

// startAttempt creates the Job of an attempt. It asks the API server, not the cache, whether the attempt has its record already:
// another Job would be a second measurement under the name of the first. A process that has made no Job of the run yet looks
// whether the one before it has made this one: then it is known by the token of that time.
func (r *RunReconciler) startAttempt(ctx context.Context, s *runStep, a trial.Attempt) error {
	run := s.run
	job, err := trial.Job(run, a, s.seen.Images)
	if err != nil {
		return &terminalError{*lifecycle.Invalid(fmt.Errorf("making the Job of trial %d: %w", a.Trial.Number, err))}
	}
	w := r.writer(run)
	record := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(job), &record)
	switch {
	case err == nil:
		return cmp.Or(w.upToDate(ctx), w.owner.taken("ConfigMap", record.Name))
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
	if i := s.seen.Instance(a.Instance); i != nil && i.Pod != nil {
		annotateNeighbors(job, r.neighborhood(ctx, run, i.Pod.Spec.NodeName))
	}
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
func (r *RunReconciler) claimAttempt(ctx context.Context, s *runStep, a trial.Attempt) error {
	var there batchv1.Job
	key := client.ObjectKey{Namespace: s.run.Namespace, Name: plan.AttemptName(s.run, a.Trial.Number, a.Number)}
	err := r.Live.Get(ctx, key, &there)
	switch {
	case apierrors.IsNotFound(err):
		return errStale
	case err != nil:
		return fmt.Errorf("reading Job %s, which exists already: %w", key.Name, err)
	case there.DeletionTimestamp != nil, referenceTo(&there) == s.seen.Made.Attempt:
		return errStale // it goes, or is claimed, and the cache does not have that yet
	}
	digest := tokenDigest(there.Annotations[tokenAnnotation])
	if !madeOf(&there, s.run) || digest == "" || !slices.Contains(s.old.Status.TokenDigests, digest) {
		w := r.writer(s.run)
		return cmp.Or(w.upToDate(ctx), w.owner.taken("Job", key.Name))
	}
	r.claim(s, &there)
	return nil
}

// claim a Job: that of the newest attempt. The token of the next one is chosen now, so that its digest is written with this
// claim.
func (r *RunReconciler) claim(s *runStep, job *batchv1.Job) {
	m := &r.memories.of(s.run).made
	m.attempt = creations{[]v1alpha1.ObjectReference{referenceTo(job)}, []v1alpha1.ObjectReference{s.run.Status.Attempt}}
	m.token = rand.Text()
	s.seen.Made.Attempt, s.seen.Made.TokenDigests = m.attempt.made[0], withDigest(nil, m.token)
}

// tokenAnnotation of a Job has the token by which its run knows it.
const tokenAnnotation = "benchrun.dev/token"

func tokenDigest(token string) string {
	if token == "" {
		return ""
	}
	return result.Digest([]byte(token))
}

// maxDigests are kept: more operators than one make the Jobs of a run only while one takes over from another.
const maxDigests = 8

func withDigest(digests []string, token string) []string {
	digest := tokenDigest(token)
	if slices.Contains(digests, digest) {
		return digests
	}
	digests = append(slices.Clone(digests), digest)
	return digests[max(0, len(digests)-maxDigests):]
}

// prepareToken returns the token of the Job that is about to be made. The status has its digest before the Job exists. It usually
// does already, because it was written with what came before.
func (r *RunReconciler) prepareToken(ctx context.Context, s *runStep) (string, error) {
	m := &r.memories.of(s.run).made
	if m.token != "" && slices.Contains(s.old.Status.TokenDigests, tokenDigest(m.token)) {
		return m.token, nil
	}
	m.token = rand.Text()
	s.seen.Made.TokenDigests = withDigest(s.seen.Made.TokenDigests, m.token)
	if err := r.writeAhead(ctx, s); err != nil {
		return "", err
	}
	return m.token, nil
}

// writeAhead writes the status before an action that must be known by it.
func (r *RunReconciler) writeAhead(ctx context.Context, s *runStep) error {
	if err := r.writeStatus(ctx, s); err != nil {
		return err
	}
	s.old = s.run.DeepCopy()
	return nil
}

// checkVariants has the API server check what each variant asks for as a run of its own, without creating it.
func (r *RunReconciler) checkVariants(ctx context.Context, s *runStep) error {
	w := r.writer(s.run)
	for i, v := range s.run.Spec.Variants {
		one := &v1alpha1.BenchmarkRun{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.run.Namespace, GenerateName: "variant-"}, Spec: plan.Side(s.run, i, 1).Spec,
		}
		err := w.createUnchecked(ctx, one, false, client.DryRunAll, client.FieldValidation("Strict"))
		if refused, is := errors.AsType[*terminalError](err); is && refused.failure.Reason == v1alpha1.ReasonRejected {
			return terminal(v1alpha1.ReasonVariantInvalid, "variant "+v.Name+": "+refused.failure.Message)
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	r.memories.of(s.run).checked, s.seen.Checked = true, true
	return nil
}

// sidesOf an attempt are where each of its variants was measured; nil of a run without variants.
func (r *RunReconciler) sidesOf(ctx context.Context, s *runStep, a *lifecycle.Attempt) []result.SideRecord {
	if len(s.run.Spec.Variants) == 0 {
		return nil
	}
	var sides []result.SideRecord
	for _, number := range a.Instances {
		side := result.SideRecord{Variant: plan.VariantName(s.run, number), Instance: number}
		side.Place, side.Fingerprint = r.measuredOn(ctx, s.seen.Instance(number))
		sides = append(sides, side)
	}
	return sides
}

// judgeSides invalidates an attempt one of whose servers was held back at its CPU limit, held the others back, or made the data
// that others begin with. Its document says that, which alone has what was measured of each.
func judgeSides(s *runStep, a *lifecycle.Attempt, doc *document) {
	a.Verdict = s.seen.Copied(s.run, a, doc.Document)
	for i := range doc.Sides {
		one := slices.IndexFunc(a.Instances, func(n int) bool { return plan.VariantName(s.run, n) == doc.Sides[i].Variant })
		if one < 0 {
			a.Verdict = a.Verdict.Because(result.CauseDocumentInvalid, "it is of variant "+doc.Sides[i].Variant+", too")
			return
		}
		number := a.Instances[one]
		summary := doc.Sides[i].Summarize(result.EncodedDocument{})
		if a.Verdict = lifecycle.Throttled(s.run, a, &summary, number); a.Verdict.Outcome == result.OutcomeAccepted {
			a.Verdict = s.seen.BusyInPauses(s.run, a, summary.Findings, number)
		}
		if a.Verdict.Outcome == result.OutcomeAccepted {
			a.Verdict = s.seen.Copied(s.run, a, &doc.Sides[i].Document)
		}
		if a.Verdict.Outcome != result.OutcomeAccepted {
			return
		}
	}
}

// variables of the servers by variant, as the first document of each has them. A document that is gone is not looked for again:
// no answer depends on it.
func (r *RunReconciler) variables(ctx context.Context, o *observer) error {
	m := r.memories.of(o.run)
	for _, v := range o.run.Spec.Variants {
		_, known := m.variables[v.Name]
		record := o.seen.FirstAccepted(v.Name)
		if known || record == nil {
			continue
		}
		doc, err := r.document(ctx, o.run, record)
		if err != nil && !errors.Is(err, result.ErrDocumentInvalid) {
			return err
		}
		m.variables[v.Name] = nil
		if doc != nil {
			m.variables[v.Name] = doc.Side(v.Name).Server.Variables
		}
	}
	return nil
}
