//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Two managers that both believe to be the leader do the same as one: the same trials, as many results, no Job twice. An
// error of theirs is that the other one was faster; each is called again.
func TestEnvtestTwoManagersAtOnce(t *testing.T) {
	const managers = 2
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj())
	for range 400 {
		var both sync.WaitGroup
		for range managers {
			both.Go(func() {
				_, err := c.reconciler.Reconcile(t.Context(), ctrl.Request{
					NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: "run"},
				})
				if err != nil {
					t.Logf("one was slower: %v", err)
				}
			})
		}
		both.Wait()
		c.react()
		if apimeta.IsStatusConditionTrue(c.get("run").Status.Conditions, v1alpha1.ConditionFinished) {
			break
		}
	}
	c.settle("run")
	run := c.get("run")
	if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) || run.Status.Progress != "4/4" {
		t.Errorf("status is %+v", run.Status)
	}
	want := []string{"run-t1-a1 Accepted", "run-t2-a1 Accepted", "run-t3-a1 Accepted", "run-t4-a1 Accepted"}
	if diff := cmp.Diff(want, c.attemptNames()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for name, times := range c.jobs {
		if times != 1 {
			t.Errorf("Job %s was made %d times", name, times)
		}
	}
	c.nothingRuns()
}
