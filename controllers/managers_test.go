//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
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
	c := newCluster(t)
	managers := []*BenchmarkRunReconciler{c.newReconciler(), c.newReconciler()}
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj())
	for range 400 {
		var both sync.WaitGroup
		for _, manager := range managers {
			both.Go(func() {
				_, err := manager.Reconcile(t.Context(), ctrl.Request{
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
	c.allAccepted("run", 4)
	c.nothingRuns()
}

// allAccepted checks that a run has measured each of so many trials at the first attempt.
func (c *cluster) allAccepted(name string, trials int) {
	c.t.Helper()
	run := c.get(name)
	progress := fmt.Sprintf("%d/%[1]d", trials)
	if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) || run.Status.Progress != progress {
		c.t.Errorf("status is %+v, want %s", run.Status, progress)
	}
	var want []string
	for n := range trials {
		want = append(want, fmt.Sprintf("%s-t%d-a1 Accepted", name, n+1))
	}
	if diff := cmp.Diff(want, c.attemptNames()); diff != "" {
		c.t.Errorf("records (-want +got):\n%s", diff)
	}
	for job, times := range c.jobs {
		if times != 1 {
			c.t.Errorf("Job %s was made %d times", job, times)
		}
	}
}
