//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// TestScaleTimePerTrial prints what a trial costs at the beginning and at the end of a run of 5,000 trials at 100 points: all of the
// operator, and an API server that does nothing else.
func TestScaleTimePerTrial(t *testing.T) {
	const trials, looked = plan.MaxTrials, 50
	for _, before := range []int{0, trials - 2*looked} {
		c := newCluster(t)
		var values []v1alpha1.CommitSizeRowsPerCommit
		for i := range 100 {
			values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
		}
		run := testutil.MakeRun("run", "").Sweep(values...).Repetitions(trials / 100).Obj()
		run.Spec.Suspend = ptr.To(before > 0)
		c.apply(run)
		if before > 0 {
			c.seed(run, before)
		}
		reached := func(n int) time.Time {
			for len(c.jobs) < n {
				c.reconcile("run")
				c.react()
			}
			return time.Now()
		}
		began := reached(looked)
		took := reached(2 * looked).Sub(began)
		fmt.Printf("after %d trials: %.1f ms per trial\n", before+looked, 1000*took.Seconds()/looked)
	}
}

// seed a suspended run with so many records, and let it go on.
func (c *cluster) seed(run *v1alpha1.BenchmarkRun, n int) {
	c.t.Helper()
	p, err := plan.ForRun(&run.Spec)
	c.must(err)
	list, newest := testutil.Chain(run, p, n)
	for _, cm := range list {
		c.must(api.Create(c.t.Context(), cm))
	}
	c.reconcile(run.Name)
	run = c.get(run.Name)
	run.Status.Records = newest
	c.must(api.Status().Update(c.t.Context(), run))
	run.Spec.Suspend = ptr.To(false)
	c.must(api.Update(c.t.Context(), run))
}
