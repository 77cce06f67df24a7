// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation plans runs and comparisons, and says what is wrong with one that the API server accepts and that cannot be
// carried out. The operator asks it before it creates anything, and the plugin without a cluster.
package validation

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// PlanRun is the plan of a run, which is empty if there is none. The error is for the author of a run whose specification the API
// server accepts and that cannot be carried out: nothing has been created yet. The workload's parameters are checked as long as
// the run has no condition, because the specification cannot change afterwards.
func PlanRun(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) {
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return new(plan.Plan), err
	}
	if len(run.Status.Conditions) > 0 {
		return p, nil
	}
	for i := 0; i < len(p.Points); i += max(1, p.Stages) {
		point := p.Points[i]
		if err := trial.Validate(run, point); err != nil {
			if swept := point.Swept(); len(swept) > 0 {
				err = fmt.Errorf("%w (%s)", err, stats.Label(swept))
			}
			return p, err
		}
	}
	return p, analysis.CheckRun(run, p)
}

// PlanComparison is the plan of a comparison, or the empty plan with the error for its author, as PlanRun is of a run.
func PlanComparison(comparison *v1alpha1.BenchmarkComparison) (*analysis.ComparisonPlan, error) {
	p, err := analysis.PlanComparison(comparison, PlanRun)
	if err == nil {
		err = checkAlternation(comparison, p)
	}
	if err == nil {
		err = checkPilots(comparison, p)
	}
	if err == nil {
		err = analysis.CheckComparison(comparison, p)
	}
	if err != nil {
		return new(analysis.ComparisonPlan), err
	}
	return p, nil
}

// checkAlternation refuses what runs that are under way at the same time cannot do.
func checkAlternation(comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan) error {
	alternation := comparison.Spec.Alternation
	if !alternation.Together() {
		return nil
	}
	for i := range p.Variants {
		run := &p.Variants[i].Run.Spec
		refused := notTogether(run)
		if refused == "" && alternation == v1alpha1.AlternateSlices {
			refused = trial.NotInSlices(run)
		}
		if refused != "" {
			return fmt.Errorf("variant %s: alternation: %s: %s", comparison.Spec.Variants[i].Name, alternation, refused)
		}
	}
	return nil
}

// notTogether says why a run cannot be under way together with others; empty if it can.
func notTogether(run *v1alpha1.BenchmarkRunSpec) string {
	switch {
	case run.Database.HostTuning != nil:
		return "the servers of all variants are up at the same time, and database.hostTuning tunes a node for one of them"
	case run.Trials.MinSeconds != nil:
		return "trials.minSeconds decides about the rows of all variants in the first run alone; set the rows, or limits.seconds"
	}
	return ""
}

// checkPilots refuses variants that ask for different numbers of rows if a pilot decides about those of all.
func checkPilots(comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan) error {
	for _, pair := range p.Pairs {
		ours, theirs := &p.Variants[pair.Variant], &p.Variants[p.Baseline]
		a, b := trial.Rows(ours.Run, ours.Plan.Points[pair.Of]), trial.Rows(theirs.Run, theirs.Plan.Points[pair.With])
		if ours.Run.Spec.Trials.MinSeconds != nil && a != b {
			return fmt.Errorf("variant %s: rows is %d, but the baseline has %d: trials.minSeconds sets the number of rows for all "+
				"variants; make the numbers equal or leave out trials.minSeconds", comparison.Spec.Variants[pair.Variant].Name, a, b)
		}
	}
	return nil
}
