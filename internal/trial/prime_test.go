// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// The first attempt on an instance is asked to warm it up, and has more time; workloads that cannot be ended by time are not.
func TestPrime(t *testing.T) {
	tproch := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadTPROCHLoad, TPROCHLoad: &v1alpha1.TPROCHLoadWorkload{}}
	}
	for name, tc := range map[string]struct {
		change   func(*v1alpha1.BenchmarkRun)
		first    bool
		seconds  int
		deadline int64
	}{
		"first":         {first: true, seconds: 20, deadline: 3640},
		"later":         {deadline: 3600},
		"not asked for": {change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.PrimeSeconds = nil }, first: true, deadline: 3600},
		"TPROCHLoad":    {change: tproch, first: true, deadline: 3600},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.PrimeSeconds = ptr.To[int32](20) }).Obj()
			if tc.change != nil {
				tc.change(run)
			}
			a := trial.Attempt{Number: 1, Instance: 1, Prime: tc.first}
			a.Trial.Number = 1
			c, err := trial.Config(run, a)
			if err != nil {
				t.Fatal(err)
			}
			job, err := trial.Job(run, a, podutil.Images{Loader: "loader"})
			if err != nil {
				t.Fatal(err)
			}
			if c.PrimeSeconds != tc.seconds || *job.Spec.ActiveDeadlineSeconds != tc.deadline {
				t.Errorf("warm-up of %d s, deadline %d s", c.PrimeSeconds, *job.Spec.ActiveDeadlineSeconds)
			}
		})
	}
}
