// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// chain is the records of a run, from the first to the newest. The status of the run names the newest, and each record the one
// before it, by name and digest: only the operator writes the status, so that others can neither add a record nor change one.
type chain struct {
	refs    []v1alpha1.RecordReference
	records []*result.Record
}

func (c chain) newest() v1alpha1.RecordReference {
	if len(c.refs) == 0 {
		return v1alpha1.RecordReference{}
	}
	return c.refs[len(c.refs)-1]
}

// with is a chain with one more record, which is kept without what no decision needs.
func (c chain) with(ref v1alpha1.RecordReference, record *result.Record) chain {
	return chain{append(c.refs, ref), append(c.records, record.Condensed())}
}

// readChain reads the records of a run that the operator does not remember, from the API server: the cache has no texts. What it
// remembers is never less than what it has written: a status that names an older record is behind, because it could not be
// written since. The error is a clusterfiles.ChangedError if one of the records is not what it was.
func (r *RunReconciler) readChain(ctx context.Context, run *v1alpha1.BenchmarkRun) (chain, error) {
	m := r.memories.of(run)
	var added chain
	ref := run.Status.Records
	for ref.ConfigMap != "" && !slices.Contains(m.chain.refs, ref) {
		record, err := clusterfiles.Record(ctx, r.Live, run.Namespace, result.Reference(ref))
		if err != nil {
			return chain{}, err
		}
		added = added.with(ref, record)
		ref = v1alpha1.RecordReference(ptr.Deref(record.Previous, result.Reference{}))
	}
	if len(added.refs) == 0 {
		return m.chain, nil
	}
	if ref != m.chain.newest() {
		m.chain = chain{} // another operator has recorded something else: what the status names counts
		return r.readChain(ctx, run)
	}
	slices.Reverse(added.refs)
	slices.Reverse(added.records)
	m.chain = chain{append(m.chain.refs, added.refs...), append(m.chain.records, added.records...)}
	return m.chain, nil
}

// lostRecord is the failure that a record was deleted since it was read, or nil. The cache may lack a record that is new: the
// API server is asked before a run ends for it.
func (r *RunReconciler) lostRecord(
	ctx context.Context, run *v1alpha1.BenchmarkRun, c chain, present sets.Set[string],
) (*lifecycle.Failure, error) {
	for _, ref := range c.refs {
		if present.Has(ref.ConfigMap) {
			continue
		}
		meta := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: ref.ConfigMap}, &meta)
		switch {
		case apierrors.IsNotFound(err):
			return recordsChanged("ConfigMap " + ref.ConfigMap + ", the record of an attempt, was deleted"), nil
		case err != nil:
			return nil, fmt.Errorf("looking for the record in ConfigMap %s: %w", ref.ConfigMap, err)
		}
	}
	return nil, nil
}

func recordsChanged(message string) *lifecycle.Failure {
	return &lifecycle.Failure{Reason: v1alpha1.ReasonRecordsChanged, Message: message}
}

// A run with results.retention: Retain leaves its records and results without an owner. A run that is created anew, with the same
// name and specification, finds them and is complete: a tool that applies its files again does not measure again. What is found
// is checked against itself, because it is not signed: the digest of the results, the specification in them, and the chain of
// records to the newest, which the results have. A user who may write ConfigMaps can forge all of it; the status says where the
// numbers are from.

// retained adds to what was seen the results of an earlier run of the same name and specification, if the run has not begun and
// they were retained. What is not whole, or is of something else, stays in the way.
func (r *RunReconciler) retained(ctx context.Context, o *observer) error {
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
	if err != nil || rep == nil || rep.UID != from {
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
func (r *RunReconciler) retainedReport(
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
	if err != nil || rep.SpecDigest != want || rep.Name != run.Name || rep.Namespace != run.Namespace ||
		rep.Outcome != v1alpha1.ConditionComplete || len(rep.Records) == 0 {
		return nil, "", nil // somebody has written something else
	}
	return rep, digest, nil
}

// retainedChain is the chain of records that results were printed from, each as its ConfigMap has it; nil if one of them was
// changed or deleted, or is another than that in the results.
func (r *RunReconciler) retainedChain(
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
	ref := v1alpha1.RecordReference{ConfigMap: name, Digest: result.NamedDigest([]byte(newest.Data[result.RecordKey]))}
	for _, inResults := range slices.Backward(printed) {
		record, err := clusterfiles.Record(ctx, r.Live, run.Namespace, result.Reference(ref))
		switch _, changed := errors.AsType[*clusterfiles.ChangedError](err); {
		case changed, err == nil && !inResults.SameAttempt(record):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("reading the retained records: %w", err)
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
