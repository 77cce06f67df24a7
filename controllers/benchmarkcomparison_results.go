// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// publish writes the results of the comparison, once, and adds them to what was seen.
func (r *BenchmarkComparisonReconciler) publish(ctx context.Context, s *comparisonStep, outcome string) error {
	r.publishing.Lock()
	defer r.publishing.Unlock()
	rep, err := report.OfComparison(s.owner, s.plan, &s.seen.ComparisonRuns, s.seen.Judged, outcome,
		lifecycle.WhyStopped(s.owner, s.plan, s.seen, s.now))
	if err != nil {
		return err
	}
	files, err := report.ComparisonFiles(rep)
	if err != nil {
		return err
	}
	shown, err := r.page(ctx, s, rep)
	if err != nil {
		return err
	}
	files = append(files, shown...)
	published := &v1alpha1.ResultsReference{ConfigMap: plan.ComparisonResultsName(s.owner), Digest: digestOf(files)}
	meta := metav1.ObjectMeta{
		Name: published.ConfigMap, Labels: plan.ComparisonLabels(s.owner),
		Annotations: map[string]string{digestAnnotation: published.Digest},
	}
	meta.Labels[v1alpha1.LabelComponent] = v1alpha1.ComponentResults
	if err := r.writer(s.owner).storeResults(ctx, meta, files, s.owner.Spec.Results.Retention); err != nil {
		return err
	}
	s.seen.Results = published
	return nil
}

// page of what was measured so far.
func (r *BenchmarkComparisonReconciler) page(
	ctx context.Context, s *comparisonStep, rep *report.Comparison,
) ([]result.File, error) {
	var members []pagedRun
	for i, m := range s.plan.Members {
		if seen := s.seen.Members[i]; seen.Measured != nil {
			members = append(members, pagedRun{seen.Run, s.owner.Spec.Variants[m.Variant].Name})
		}
	}
	return pages{r.Live, &r.decoding}.ofComparison(ctx, rep, members, func(run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
		attempts, err := r.readAttempts(ctx, run)
		if lost := new(changedError); errors.As(err, &lost) {
			return nil, nil // the comparison has failed for that, and says so
		}
		return attempts, err
	})
}
