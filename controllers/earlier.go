// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// earlier is the last run of the namespace that asked for the same, from the cache. It is looked for once: what was complete
// when the run began does not change.
func (r *BenchmarkRunReconciler) earlier(ctx context.Context, run *v1alpha1.BenchmarkRun) (analysis.Earlier, error) {
	finished := apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
	if finished || run.Status.StartTime == nil || !plan.HasObserver(&run.Spec.Database) {
		return analysis.Earlier{}, nil
	}
	m := r.memories.of(run)
	if m.earlier != nil {
		return *m.earlier, nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &runs, client.InNamespace(run.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return analysis.Earlier{}, fmt.Errorf("listing runs: %w", err)
	}
	found, err := analysis.EarlierOf(run, runs.Items)
	if err != nil {
		return analysis.Earlier{}, err
	}
	m.earlier = &found
	return found, nil
}
