//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// A Lease that a user deletes is taken back by the run that measures. If another has it meanwhile, that run gives way.
func TestEnvtestLeaseDeletedByHand(t *testing.T) {
	for name, other := range map[string]bool{"taken back": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
			c.queue(nil, "zebra")
			for c.jobs["zebra-t1-a1"] == 0 {
				c.turn("zebra")
			}
			c.queue(nil, "ape")
			var job, still batchv1.Job
			c.must(c.exists(&job, "zebra-t1-a1"))
			lease := c.lease()
			c.must(api.Delete(t.Context(), lease))
			if !other {
				c.turn("ape", "zebra", "ape")
				c.says("zebra", "True Admitted: the run holds lane default")
				c.turn("ape", "zebra")
				if err := c.exists(&still, "zebra-t1-a1"); err != nil || still.UID != job.UID || still.DeletionTimestamp != nil {
					t.Errorf("what measured was disturbed: %v", err)
				}
				return
			}
			lease.ResourceVersion, lease.UID = "", ""
			lease.Spec.HolderIdentity = ptr.To("BenchmarkRun/" + c.namespace + "/ape/" + string(c.get("ape").UID))
			c.must(api.Create(t.Context(), lease))
			for range 5 {
				must.Get(c.try("zebra"))(t)
				c.react()
			}
			c.says("zebra", "False Queued: waiting for run "+c.namespace+"/ape, which holds lane default; next in the queue")
			if busy := c.busy(); len(busy) != 0 {
				t.Errorf("%v have something", busy)
			}
		})
	}
}

// lease of the lane that is held.
func (c *cluster) lease() *coordinationv1.Lease {
	c.t.Helper()
	var leases coordinationv1.LeaseList
	if c.list(&leases); len(leases.Items) != 1 {
		c.t.Fatalf("%d Leases, want one", len(leases.Items))
	}
	return &leases.Items[0]
}

// The manager is killed after each write of a Lease, and after the next one, while two runs share a lane, and another goes on:
// both are measured, never at the same time, and the lane is free at the end. What else is written, another test kills it after.
func TestEnvtestCrashAfterEveryWriteOfALease(t *testing.T) {
	t.Parallel()
	leases := crashInLane(t, 0)
	if len(leases) != 4 {
		t.Fatalf("two runs take and leave their lane by %d writes", len(leases))
	}
	var writes []int
	for _, n := range leases {
		writes = append(writes, n, n+1)
	}
	killedAfter(t, writes, func(t *testing.T, n int) { crashInLane(t, n) })
}

func crashInLane(t *testing.T, n int) []int {
	t.Helper()
	c := newCluster(t)
	m := &mortal{dieAfter: n}
	c.reconciler.Client = m.client()
	c.queue(nil, "first", "second")
	for left := 2; left > 0; {
		c.turn("first", "second")
		m.dead = false
		if m.writes > 200 {
			t.Fatalf("killed after write %d: it does not end", n)
		}
		if apimeta.IsStatusConditionTrue(c.get("second").Status.Conditions, v1alpha1.ConditionFinished) && len(c.busy()) == 0 {
			left--
		}
	}
	for _, name := range []string{"first", "second"} {
		if got := c.get(name).Status; got.Progress != "1/1" || !apimeta.IsStatusConditionTrue(got.Conditions, v1alpha1.ConditionComplete) {
			t.Errorf("killed after write %d: %s has measured %s: %+v", n, name, got.Progress, got.Conditions)
		}
	}
	c.nothingRuns()
	return m.leases
}
