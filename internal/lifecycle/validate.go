// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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
	points := pointsIn(p, "")
	if err := checkClaims(run.Spec.Claims, points); err != nil {
		return p, err
	}
	if err := checkPlots(run.Spec.Plots, points); err != nil {
		return p, err
	}
	return p, checkTables(run.Spec.Tables, points)
}

// Invalid is the failure of a run whose specification cannot be carried out.
func Invalid(err error) *Failure {
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: err.Error()}
}
