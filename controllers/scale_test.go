//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcluster "sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestScaleTimePerTrial prints what a trial costs at the beginning and at the end of a run of 5,000 trials at 100 points: all of
// the operator, and an API server that does nothing else.
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
		c.reconciler.Client = cached(t)
		reached := func(n int) time.Time {
			for len(c.jobs) < n {
				if _, err := c.try("run"); err != nil {
					t.Logf("to be tried again: %v", err)
				}
				c.react()
			}
			return time.Now()
		}
		began := reached(looked)
		took := reached(2 * looked).Sub(began)
		fmt.Printf("after %d trials: %.1f ms per trial\n", before+looked, 1000*took.Seconds()/looked)
	}
}

// cached is the client of a manager: it reads from watches.
func cached(t *testing.T) client.Client {
	t.Helper()
	m := must.Get(ctrlcluster.New(reach, func(o *ctrlcluster.Options) { o.Scheme = api.Scheme() }))(t)
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	running.Go(func() {
		if err := m.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	if !m.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache was not filled")
	}
	return m.GetClient()
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
