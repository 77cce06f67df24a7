// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// ComparisonPlan is what a comparison measures, and what it compares.
type ComparisonPlan struct {
	// Members are the runs in the order of measuring.
	Members []plan.Member
	// Variants are their runs in the first round, and the plans of these; Baseline is an index into them.
	Variants []PlannedVariant
	Baseline int
	// Pairs are the points to compare.
	Pairs []PlannedPair
	// Alternation is that of the specification or, if that is Automatic, the one to measure with, and AlternationReason says why it
	// is not Slices.
	Alternation       v1alpha1.Alternation
	AlternationReason string
}

// PlannedVariant is a variant's run in the first round, with its plan.
type PlannedVariant struct {
	Run  *v1alpha1.BenchmarkRun
	Plan *plan.Plan
	// Differences from the baseline.
	Differences []plan.Difference
}

// PlannedPair is a point of a variant that the baseline has too.
type PlannedPair struct {
	Variant int
	// Of and With are the indexes of the point among those of the variant and of the baseline.
	Of, With int
}

// PlanComparison is the plan of a comparison. Each variant's run is planned by the function; it has the conditions of the
// comparison. The error is for the author of a comparison that the API server accepts and that cannot be carried out.
func PlanComparison(
	comparison *v1alpha1.BenchmarkRun, planRun func(*v1alpha1.BenchmarkRun) (*plan.Plan, error),
) (*ComparisonPlan, error) {
	p := &ComparisonPlan{
		Members: plan.Members(&comparison.Spec), Baseline: plan.Baseline(&comparison.Spec),
	}
	for i, v := range comparison.Spec.Variants {
		run := plan.Side(comparison, i, 1)
		run.Status = v1alpha1.BenchmarkRunStatus{}
		run.Status.Conditions = comparison.Status.Conditions
		of, err := planRun(run)
		if err != nil {
			return new(ComparisonPlan), fmt.Errorf("variant %s: %w", v.Name, err)
		}
		run.Status.Conditions = nil
		p.Variants = append(p.Variants, PlannedVariant{Run: run, Plan: of})
	}
	baseline := p.Variants[p.Baseline]
	for i := range p.Variants {
		if i == p.Baseline {
			continue
		}
		v := &p.Variants[i]
		pairs := pairsOf(i, v.Plan, baseline.Plan)
		if len(pairs) == 0 {
			return new(ComparisonPlan), fmt.Errorf("variant %s has no point in common with the baseline %s: nothing can be compared",
				comparison.Spec.Variants[i].Name, comparison.Spec.Variants[p.Baseline].Name)
		}
		p.Pairs = append(p.Pairs, pairs...)
		var err error
		if v.Differences, err = plan.Differences(&baseline.Run.Spec, &v.Run.Spec); err != nil {
			return new(ComparisonPlan), fmt.Errorf("variant %s: %w", comparison.Spec.Variants[i].Name, err)
		}
	}
	return p, nil
}

// pairsOf are the points of a variant that the baseline has too, in the variant's order.
func pairsOf(variant int, of, baseline *plan.Plan) []PlannedPair {
	there := map[string]int{}
	for i, point := range baseline.Points {
		there[stats.Label(point.Parameters)] = i
	}
	var pairs []PlannedPair
	for i, point := range of.Points {
		if with, found := there[stats.Label(point.Parameters)]; found {
			pairs = append(pairs, PlannedPair{Variant: variant, Of: i, With: with})
		}
	}
	return pairs
}
