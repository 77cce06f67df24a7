// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// planVariants is PlanRun of a run with variants. What one of them asks for is checked as a run without variants is.
func planVariants(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) {
	begun := len(run.Status.Conditions) > 0
	if !begun {
		if err := checkSides(run); err != nil {
			return new(plan.Plan), err
		}
	}
	chosen, reason, err := alternationOf(run)
	if err != nil {
		return new(plan.Plan), err
	}
	p, err := plan.New(run, chosen)
	if err == nil && p.Uneven && chosen == v1alpha1.AlternateSlices {
		if reason = "the variants are measured at different points"; run.Spec.Alternation == v1alpha1.AlternateSlices {
			return new(plan.Plan), fmt.Errorf(notInSlices, reason)
		}
		p, err = plan.New(run, v1alpha1.AlternateTrials)
	}
	if err != nil {
		return new(plan.Plan), err
	}
	p.AlternationReason = reason
	if begun {
		return p, nil
	}
	if err := checkBytes(p.Bytes); err != nil {
		return p, err
	}
	compared, err := analysis.PlanVariants(run, PlanRun)
	if err == nil {
		err = checkExternal(compared)
	}
	if err == nil {
		err = checkPilots(compared)
	}
	if err == nil {
		err = compared.CheckClaims()
	}
	return p, err
}

// checkSides refuses what no run with variants can have.
func checkSides(run *v1alpha1.BenchmarkRun) error {
	first := &plan.Side(run, 0, 1).Spec.Database
	if run.Spec.Trials.Precision != nil {
		return errors.New("trials.precision is for runs without variants: rounds.atMost and rounds.until say how often all are " +
			"measured")
	}
	if err := plan.CheckRemoved(run); err != nil {
		return err
	}
	for i, v := range run.Spec.Variants {
		if v.Workload != nil && v.Workload.Type != "" && v.Workload.Type != run.Spec.Workload.Type {
			return fmt.Errorf("variant %s: workload.type must be %s, as that of the run: numbers of different workloads cannot be "+
				"compared", v.Name, run.Spec.Workload.Type)
		}
		if db := &plan.Side(run, i, 1).Spec.Database; db.Provisioner != first.Provisioner {
			return fmt.Errorf("variant %s: database.provisioner is %s, but that of variant %s is %s: all variants have the same",
				v.Name, db.Provisioner, run.Spec.Variants[0].Name, first.Provisioner)
		}
	}
	return nil
}

// alternationOf a run with variants, and why that is not slices if it may choose; or the error if it cannot have what it asks
// for. A choice stays.
func alternationOf(run *v1alpha1.BenchmarkRun) (chosen v1alpha1.Alternation, reason string, err error) {
	if before := run.Status.Alternation; before != "" {
		return before, run.Status.AlternationReason, nil
	}
	apart, whole := notTogetherIn(run)
	switch asked := run.Spec.Alternation; asked {
	case v1alpha1.AlternateRuns:
		return asked, "", nil
	case v1alpha1.AlternateTrials, v1alpha1.AlternateSlices:
		switch {
		case apart != "":
			err = fmt.Errorf("alternation: %s: %s; use alternation: Runs", asked, apart)
		case asked == v1alpha1.AlternateSlices && whole != "":
			err = fmt.Errorf(notInSlices, whole)
		}
		return asked, "", err
	case v1alpha1.AlternateAutomatic:
	}
	switch {
	case apart != "":
		return v1alpha1.AlternateRuns, apart, nil
	case whole != "":
		return v1alpha1.AlternateTrials, whole, nil
	case run.Spec.Workload.Type == v1alpha1.WorkloadSysbench:
		return v1alpha1.AlternateTrials, "sysbench is halted for slices where alternation: Slices asks for it", nil
	}
	return v1alpha1.AlternateSlices, "", nil
}

// notTogetherIn says why the servers of all variants cannot be up together, and why one loader cannot measure all; each is empty
// if it can be.
func notTogetherIn(run *v1alpha1.BenchmarkRun) (apart, whole string) {
	for i, v := range run.Spec.Variants {
		spec := &plan.Side(run, i, 1).Spec
		if why := trial.NotBeside(spec); why != "" {
			apart = cmp.Or(apart, fmt.Sprintf("variant %s: %s", v.Name, why))
		}
		if why := trial.NotASide(spec); why != "" {
			whole = cmp.Or(whole, fmt.Sprintf("variant %s: %s", v.Name, why))
		}
	}
	switch {
	case whole != "":
	case slices.ContainsFunc(run.Spec.Variants, func(v v1alpha1.Variant) bool { return v.Loader != nil }):
		whole = "the variants have loaders of their own"
	case !trial.SameFiles(run):
		whole = "the variants read different files, and one loader measures all"
	}
	return apart, whole
}

const notInSlices = "alternation: Slices: %s; use alternation: Trials"
