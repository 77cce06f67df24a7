// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Plan is the plan of a run, which is empty if there is none. The error is for the author of a run whose specification the API
// server accepts and that cannot be carried out: nothing has been created yet. The workload's parameters are checked as long as
// the run has no condition, because the specification cannot change afterwards.
func Plan(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) {
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return new(plan.Plan), err
	}
	if len(run.Status.Conditions) > 0 {
		return p, nil
	}
	for _, point := range p.Points {
		if err := trial.Validate(run, point); err != nil {
			return p, fmt.Errorf("%w%s", err, atPoint(point.Parameters))
		}
	}
	return p, analysis.CheckRun(run, p)
}

// PlanSuite is the plan of a suite, or the empty plan with the error for its author, as Plan is of a run.
func PlanSuite(suite *v1alpha1.BenchmarkSuite) (*analysis.SuitePlan, error) {
	p, err := analysis.PlanSuite(suite, Plan)
	if err == nil {
		err = checkPilots(suite, p)
	}
	if err == nil {
		err = analysis.CheckSuite(suite, p)
	}
	if err != nil {
		return new(analysis.SuitePlan), err
	}
	return p, nil
}

// Invalid is the failure of a run whose specification cannot be carried out.
func Invalid(err error) *Failure {
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: err.Error()}
}

// InvalidVariant is the failure of a suite with a variant that cannot be measured.
func InvalidVariant(err error) *Failure {
	return &Failure{Reason: v1alpha1.ReasonVariantInvalid, Message: err.Error()}
}
