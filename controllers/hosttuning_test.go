//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A run that asks for host tuning ends at once where it is not allowed: it says who allows it, and has created nothing.
func TestEnvtestHostTuningNotAllowed(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	}).Obj())
	c.reconcile("run")
	run := c.get("run")
	failed := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
	if failed.Reason != v1alpha1.ReasonHostTuningNotAllowed || !strings.Contains(failed.Message, "have an administrator set") {
		t.Errorf("failed with %+v", failed)
	}
	if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		t.Error("it has not finished")
	}
	var sets appsv1.StatefulSetList
	if c.list(&sets); len(sets.Items) != 0 || len(c.jobs) != 0 {
		t.Errorf("%d StatefulSets, Jobs %v", len(sets.Items), c.jobs)
	}
}
