// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// A run with results.retention: Retain leaves its records and results without an owner. A run that is created anew, with the same
// name and specification, finds them and is complete: a tool that applies its files again does not measure again. What is found
// is checked against itself, because nobody has signed it: the digest of the results, the specification in them, and the chain
// of records to the newest, which the results have. Whoever may write ConfigMaps can forge all of it; the status says where the
// numbers are from.

// retained adds to what was seen the results of an earlier run of the same name and specification, if the run has not begun and
// they were retained. What is not whole, or is of something else, stays in the way.
func (r *BenchmarkRunReconciler) retained(ctx context.Context, o *observer) error {
	run := o.run
	name := plan.ResultsName(run)
	if run.Spec.Results.Retention != v1alpha1.RetentionRetain || run.Status.StartTime != nil ||
		run.Status.Records.ConfigMap != "" || !slices.Contains(o.seen.Strangers, name) {
		return nil
	}
	var results corev1.ConfigMap
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: name}, &results); err != nil {
		return client.IgnoreNotFound(err)
	}
	from := results.Labels[v1alpha1.LabelRunUID]
	if !isRetained(&results, run.Name, from) {
		return nil
	}
	rep, digest, err := r.retainedReport(ctx, run, &results)
	if err != nil || rep == nil || rep.Run.UID != from {
		return err
	}
	c, err := r.retainedChain(ctx, run, rep.Records, from)
	if err != nil || c == nil {
		return err
	}
	o.seen.Records, o.seen.Newest = c.records, c.newest()
	o.seen.Results = &v1alpha1.ResultsReference{ConfigMap: name, Digest: digest, FromRun: from}
	return nil
}

// isRetained says whether a ConfigMap looks like one that a run of that name and UID has left.
func isRetained(cm *corev1.ConfigMap, name, uid string) bool {
	return uid != "" && cm.Labels[v1alpha1.LabelRun] == name && cm.Labels[v1alpha1.LabelRunUID] == uid &&
		cm.DeletionTimestamp == nil && ptr.Deref(cm.Immutable, false) && metav1.GetControllerOf(cm) == nil
}

// retainedReport is the report of a complete run that asked for the same, with the digest of its results; nil if they are not
// whole, or of something else.
func (r *BenchmarkRunReconciler) retainedReport(
	ctx context.Context, run *v1alpha1.BenchmarkRun, results *corev1.ConfigMap,
) (rep *report.Report, digest string, err error) {
	want, err := plan.Digest(&run.Spec)
	if err != nil {
		return nil, "", nil // the specification cannot be carried out, which is said elsewhere
	}
	r.decoding.Lock()
	defer r.decoding.Unlock()
	text, err := clusterfiles.File(ctx, r.Live, run.Namespace, results.Name, report.JSONFile)
	if err != nil || text == nil {
		return nil, "", err
	}
	digest = result.NamedDigest(text)
	if digest != results.Annotations[digestAnnotation] {
		return nil, "", nil
	}
	rep, err = report.Decode(text)
	if err != nil || rep.Run.SpecDigest != want || rep.Run.Name != run.Name || rep.Run.Namespace != run.Namespace ||
		rep.Run.Outcome != v1alpha1.ConditionComplete || len(rep.Records) == 0 {
		return nil, "", nil // somebody has written something else
	}
	return rep, digest, nil
}

// retainedChain is the chain of records that results were printed from, each as its ConfigMap has it; nil if one of them was
// changed or deleted, or is another than that in the results.
func (r *BenchmarkRunReconciler) retainedChain(
	ctx context.Context, run *v1alpha1.BenchmarkRun, printed []*result.Record, from string,
) (*chain, error) {
	last := printed[len(printed)-1]
	var newest corev1.ConfigMap
	name := plan.AttemptName(run, last.Trial, last.Attempt)
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: name}, &newest); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !isRetained(&newest, run.Name, from) {
		return nil, nil
	}
	var c chain
	ref := v1alpha1.RecordReference{ConfigMap: name, Digest: recordDigest(newest.Data[result.RecordKey])}
	for _, inResults := range slices.Backward(printed) {
		record, err := r.readRecord(ctx, run, ref)
		changed := new(changedError)
		switch {
		case errors.As(err, &changed):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("reading the retained records: %w", err)
		case !inResults.SameAttempt(record):
			return nil, nil
		}
		c = c.with(ref, record)
		ref = v1alpha1.RecordReference(ptr.Deref(record.Previous, result.Reference{}))
	}
	if ref.ConfigMap != "" {
		return nil, nil
	}
	slices.Reverse(c.refs)
	slices.Reverse(c.records)
	return &c, nil
}
