// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// judgedSoFar is the report of a comparison whose results are not published: of its runs that are complete. Its outcome is
// Unfinished, or Failed if the comparison has failed. The documents of attempts are not read: variables that differ without
// being requested are left out.
func judgedSoFar(ctx context.Context, from client.Reader, comparison *v1alpha1.BenchmarkComparison) (*report.Comparison, error) {
	p, err := validation.PlanComparison(comparison)
	if err != nil {
		return nil, fmt.Errorf("planning comparison %s: %w", comparison.Name, err)
	}
	runs, err := readMembers(ctx, from, comparison, p)
	if err != nil {
		return nil, err
	}
	outcome, message := report.Unfinished, notWhole(comparison.Status.Conditions)
	if why := analysis.FailureOf(comparison.Status.Conditions); why != "" {
		outcome, message = v1alpha1.ConditionFailed, why
	}
	return report.OfComparison(comparison, p, runs, analysis.Judge(comparison, p, runs, analysis.Verdicts{}), outcome, message)
}

// readMembers reads the runs of a comparison, and the results of those that are complete.
func readMembers(
	ctx context.Context, from client.Reader, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan,
) (*analysis.ComparisonRuns, error) {
	var list v1alpha1.BenchmarkRunList
	if err := from.List(ctx, &list, client.InNamespace(comparison.Namespace), labelOf(comparisonSubject{comparison})); err != nil {
		return nil, fmt.Errorf("listing the runs of comparison %s: %w", comparison.Name, err)
	}
	byName := map[string]*v1alpha1.BenchmarkRun{}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], comparison) {
			byName[list.Items[i].Name] = &list.Items[i]
		}
	}
	runs := &analysis.ComparisonRuns{Members: make([]analysis.Member, len(p.Members))}
	named := analysis.NamedMetrics(comparison.Spec.Claims, comparison.Spec.Plots, comparison.Spec.Tables)
	for i, m := range p.Members {
		run := byName[plan.MemberName(comparison, m)]
		runs.Members[i].Run = run
		if run == nil || !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) {
			continue
		}
		published, err := readRun(ctx, from, run)
		if err != nil {
			return nil, err
		}
		runs.Members[i].Measured = analysis.MeasurementsOf(p.Variants[m.Variant].Plan, published.Records, named)
	}
	return runs, nil
}
