// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// observe reads everything that a decision about a comparison depends on, by a reader: the cache, or the API server itself. The
// results of runs, which do not change, are read once, from the API server. Those of a finished comparison are not needed any
// more.
func (r *BenchmarkComparisonReconciler) observe(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, reader client.Reader,
) (*lifecycle.ComparisonObserved, error) {
	m := r.memories.of(comparison)
	lane, err := r.lanes().observe(ctx, lifecycle.ContenderOfComparison(comparison), reader)
	if err != nil {
		return nil, err
	}
	if apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionFinished) {
		*m = comparisonMemory{basics: m.basics}
		return r.afterTheEnd(ctx, comparison, p, lane, reader)
	}
	if m.measured == nil {
		m.measured, m.variables = map[string]*analysis.Measurements{}, map[string]map[string]string{}
		m.named = analysis.NamedMetrics(comparison.Spec.Claims)
	}
	seen := &lifecycle.ComparisonObserved{
		Lane: lane, Checked: m.checked, ComparisonRuns: analysis.ComparisonRuns{Members: make([]analysis.Member, len(p.Members))},
		Images: lifecycle.ImagesOf(comparison.Status.Images, r.Images), Current: comparison.Status.CurrentRuns,
	}
	if comparison.Status.Results.ConfigMap != "" {
		seen.Results = &comparison.Status.Results
	}
	var runs v1alpha1.BenchmarkRunList
	o := &ownership{owner: comparisonOwner(comparison)}
	if err := reader.List(ctx, &runs, client.InNamespace(comparison.Namespace), o.owner.byName()); err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	ours := o.runs(&runs)
	if seen.Instances, err = r.instances(ctx, o, p, reader); err != nil {
		return nil, err
	}
	if seen.DataCopies, err = r.dataCopies(ctx, o, p, reader); err != nil {
		return nil, err
	}
	if !m.checked && len(ours) == 0 {
		if err := r.nameOfResults(ctx, o, comparison); err != nil {
			return nil, err
		}
	}
	seen.Predecessor, seen.Strangers = o.predecessor, o.strangers
	if err := r.members(ctx, comparison, p, ours, seen); err != nil {
		return nil, err
	}
	if err := r.remains(ctx, comparison, p, runs.Items, reader, seen); err != nil {
		return nil, err
	}
	for _, v := range comparison.Spec.Variants {
		seen.Variables = append(seen.Variables, m.variables[v.Name])
	}
	m.judged = analysis.Judge(comparison, p, &seen.ComparisonRuns, m.judged)
	seen.Judged = m.judged
	return seen, nil
}

// nameOfResults sorts the ConfigMap that has the name of the results, before hours are spent on them: it is an earlier
// comparison's and will be gone, or another owner's, which has no label to list it by.
func (r *BenchmarkComparisonReconciler) nameOfResults(
	ctx context.Context, o *ownership, comparison *v1alpha1.BenchmarkComparison,
) error {
	var there metav1.PartialObjectMetadata
	there.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	key := client.ObjectKey{Namespace: comparison.Namespace, Name: plan.ComparisonResultsName(comparison)}
	if err := r.Live.Get(ctx, key, &there); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("looking for ConfigMap %s: %w", key.Name, err)
	} else if err == nil && !o.owner.owns(&there, comparison.Spec.Results.Retention != v1alpha1.RetentionRetain) {
		o.sort(&there)
	}
	return nil
}

// runs are those of a list that are the owner's, by name.
func (o *ownership) runs(list *v1alpha1.BenchmarkRunList) map[string]*v1alpha1.BenchmarkRun {
	ours := map[string]*v1alpha1.BenchmarkRun{}
	for i := range list.Items {
		if o.ours(&list.Items[i]) {
			ours[list.Items[i].Name] = &list.Items[i]
		}
	}
	return ours
}

// members adds the runs of a comparison, by their names, and what they measured.
func (r *BenchmarkComparisonReconciler) members(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan,
	ours map[string]*v1alpha1.BenchmarkRun,
	seen *lifecycle.ComparisonObserved,
) error {
	m := r.memories.of(comparison)
	for i, member := range p.Members {
		run := ours[plan.MemberName(comparison, member)]
		seen.Members[i].Run = run
		if run == nil || !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) ||
			comparison.DeletionTimestamp != nil { // whose results may be deleted already
			continue
		}
		measured, err := r.measured(ctx, m, run, comparison.Spec.Variants[member.Variant].Name, p.Variants[member.Variant].Plan)
		lost := new(changedError)
		switch {
		case errors.As(err, &lost):
			seen.Terminal = &lifecycle.Failure{Reason: v1alpha1.ReasonMemberLost, Message: lost.message}
		case err != nil:
			return err
		}
		seen.Members[i].Measured = measured
	}
	return nil
}

// instances of the database that the runs of a comparison share.
func (r *BenchmarkComparisonReconciler) instances(
	ctx context.Context, o *ownership, p *analysis.ComparisonPlan, reader client.Reader,
) ([]lifecycle.Instance, error) {
	if !p.SharesDatabase {
		return nil, nil
	}
	run := p.Variants[0].Run
	l, err := listOf(ctx, reader, r.Live, o.owner.GetNamespace(), o.owner.databases(), r.withMariaDBs(run))
	if err != nil {
		return nil, err
	}
	return instancesOf(o, run.Spec.Database.Provisioner, l, nil, nil), nil
}

// dataCopies says whether there are copies of data with which runs of a comparison begin.
func (r *BenchmarkComparisonReconciler) dataCopies(
	ctx context.Context, o *ownership, p *analysis.ComparisonPlan, reader client.Reader,
) (bool, error) {
	if !slices.ContainsFunc(p.Variants, func(v analysis.PlannedVariant) bool { return plan.CopiesData(v.Run) }) {
		return false, nil
	}
	var claims corev1.PersistentVolumeClaimList
	if err := reader.List(ctx, &claims, client.InNamespace(o.owner.GetNamespace()), o.owner.byName()); err != nil {
		return false, fmt.Errorf("listing the copies of data: %w", err)
	}
	return dataCopies(o, claims.Items), nil
}

// remains are what the comparison's runs have on nodes. What they share is looked at by itself.
func (r *BenchmarkComparisonReconciler) remains(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, runs []v1alpha1.BenchmarkRun,
	reader client.Reader, seen *lifecycle.ComparisonObserved,
) error {
	anyMariaDB := slices.ContainsFunc(p.Variants, func(v analysis.PlannedVariant) bool { return r.withMariaDBs(v.Run) })
	holder, gone := lifecycle.HolderOfComparison(comparison), comparison.DeletionTimestamp != nil
	remains, err := r.lanes().remains(ctx, reader, holder, anyMariaDB, gone)
	if err != nil {
		return err
	}
	kept, underWay := sets.New(comparison.UID), sets.New[types.UID]()
	for i := range runs {
		switch run := &runs[i]; {
		case lifecycle.Keeps(run):
			kept.Insert(run.UID)
		case !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished):
			underWay.Insert(run.UID)
		}
	}
	now := r.Clock.Now()
	seen.Lingering, seen.Left = remains.Disturb(kept, now), remains.Left(underWay, kept, now)
	return nil
}

// afterTheEnd reads what the last things that a finished comparison does depend on: it removes what is left of the database that
// its runs shared, and leaves its lane, if it has not left it yet.
func (r *BenchmarkComparisonReconciler) afterTheEnd(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, lane lifecycle.Lane,
	reader client.Reader,
) (*lifecycle.ComparisonObserved, error) {
	seen := &lifecycle.ComparisonObserved{Lane: lane}
	var err error
	if seen.Instances, err = r.instances(ctx, &ownership{owner: comparisonOwner(comparison)}, p, reader); err != nil {
		return nil, err
	}
	if seen.DataCopies, err = r.dataCopies(ctx, &ownership{owner: comparisonOwner(comparison)}, p, reader); err != nil {
		return nil, err
	}
	if lane.Holder == nil || *lane.Holder != lifecycle.HolderOfComparison(comparison) {
		return seen, nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := reader.List(ctx, &runs, client.InNamespace(comparison.Namespace), comparisonOwner(comparison).byName()); err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	return seen, r.remains(ctx, comparison, p, runs.Items, reader, seen)
}

// measured is what a complete run of a variant measured. The error is a changedError if its results are not what they were.
func (r *BenchmarkComparisonReconciler) measured(
	ctx context.Context, m *comparisonMemory, run *v1alpha1.BenchmarkRun, variant string, p *plan.Plan,
) (*analysis.Measurements, error) {
	// Two runs never have the same results: these have the run's UID.
	digest := run.Status.Results.Digest
	if known := m.measured[digest]; known != nil {
		return known, nil
	}
	attempts, err := r.readAttempts(ctx, run)
	if err != nil {
		return nil, err
	}
	if m.variables[variant] == nil {
		variables, err := r.readVariables(ctx, run, attempts)
		if err != nil {
			return nil, err
		}
		m.variables[variant] = variables
	}
	m.measured[digest] = analysis.MeasurementsOf(p, attempts, m.named)
	return m.measured[digest], nil
}

// readAttempts reads the records in the results of a run, if these are what the operator wrote: the status of the run has their
// digest.
func (r *BenchmarkComparisonReconciler) readAttempts(ctx context.Context, run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
	r.decoding.Lock()
	defer r.decoding.Unlock()
	name := run.Status.Results.ConfigMap
	contents, err := clusterfiles.Read(ctx, r.Live, run.Namespace, name)
	if err != nil {
		return nil, err
	}
	if contents == nil {
		return nil, &changedError{fmt.Sprintf("ConfigMap %s, the results of run %s, was deleted", name, run.Name)}
	}
	text, err := result.UnpackFile(report.JSONFile, contents)
	if err != nil || result.NamedDigest(text) != run.Status.Results.Digest {
		return nil, &changedError{fmt.Sprintf("ConfigMap %s, the results of run %s, is not what the operator wrote", name, run.Name)}
	}
	attempts, err := report.Attempts(text)
	if err != nil {
		return nil, &changedError{fmt.Sprintf("ConfigMap %s, the results of run %s: %v", name, run.Name, err)}
	}
	return attempts, nil
}

// readVariables reads those of the server from the document of the first accepted attempt. If that is gone they are not known: no
// answer depends on them.
func (r *BenchmarkComparisonReconciler) readVariables(
	ctx context.Context, run *v1alpha1.BenchmarkRun, attempts []*result.Record,
) (map[string]string, error) {
	i := slices.IndexFunc(attempts, func(a *result.Record) bool { return a.Outcome == result.OutcomeAccepted })
	if i < 0 {
		return nil, nil
	}
	r.decoding.Lock()
	defer r.decoding.Unlock()
	contents, err := clusterfiles.Read(ctx, r.Live, run.Namespace, plan.AttemptName(run, attempts[i].Trial, attempts[i].Attempt))
	if err != nil {
		return nil, err
	}
	return variablesIn(contents, attempts[i].Summary.DocumentSHA256), nil
}

// variablesIn a document with that checksum; nil if there is none.
func variablesIn(contents map[string][]byte, checksum string) map[string]string {
	document, err := result.UnpackFile(result.DocumentKey, contents)
	if err != nil || result.Digest(document) != checksum {
		return nil
	}
	text, err := result.Unpack(document)
	if err != nil {
		return nil
	}
	variables, err := text.Variables()
	if err != nil {
		return nil
	}
	return variables
}
