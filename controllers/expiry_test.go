//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A finished run that does not say how long it stays is deleted after the installation's default, one that does is not.
func TestEnvtestDefaultTimeToLive(t *testing.T) {
	c := newCluster(t)
	c.reconciler.DefaultTTL = time.Hour
	finish := func(run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
		c.apply(run)
		c.until(run.Name, v1alpha1.ConditionComplete)
		c.settle(run.Name)
		return c.get(run.Name)
	}
	run := finish(testutil.MakeRun("run", "").Repetitions(1).Obj())
	own := finish(testutil.MakeRun("own", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.TTLSecondsAfterFinished = ptr.To[int32](7200)
	}).Obj())
	for r, ttl := range map[*v1alpha1.BenchmarkRun]time.Duration{run: time.Hour, own: 2 * time.Hour} {
		want := r.Status.CompletionTime.Add(ttl)
		if got := r.Status.ExpirationTime; got == nil || !got.Time.Equal(want) {
			t.Errorf("the status of %s says that it is deleted at %v, want %s", r.Name, got, want)
		}
		if after := c.reconcile(r.Name).RequeueAfter; after <= ttl-time.Minute || after > ttl {
			t.Errorf("%s is looked at again after %v", r.Name, after)
		}
	}
	c.clock.Step(time.Hour + time.Minute)
	for _, r := range []*v1alpha1.BenchmarkRun{run, own} {
		c.reconcile(r.Name)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(run), run); !apierrors.IsNotFound(err) {
		t.Errorf("the run is still there: %v", err)
	}
	if after := c.get("own"); after.DeletionTimestamp != nil {
		t.Error("the run with its own time to live is deleted")
	}
}

// So is a comparison, with its runs, and not one of its runs before it.
func TestEnvtestDefaultTimeToLiveOfAComparison(t *testing.T) {
	s := newComparisons(t)
	s.comparisons.DefaultTTL, s.reconciler.DefaultTTL = time.Hour, time.Hour
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
	comparison := s.untilComparison(v1alpha1.ConditionFinished)
	if got := comparison.Status.ExpirationTime; got == nil || !got.Time.Equal(comparison.Status.CompletionTime.Add(time.Hour)) {
		t.Errorf("it completed at %s, and its status says that it is deleted at %v", comparison.Status.CompletionTime, got)
	}
	s.clock.Step(time.Hour + time.Minute)
	var runs v1alpha1.BenchmarkRunList
	s.list(&runs)
	for _, run := range runs.Items {
		s.reconcile(run.Name)
		if after := s.get(run.Name); after.DeletionTimestamp != nil || after.Status.ExpirationTime != nil {
			t.Errorf("run %s is deleted by itself, at %v", run.Name, after.Status.ExpirationTime)
		}
	}
	for range 3 { // it leaves its lane first
		_, err := s.reconcileComparison()
		s.must(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(comparison), comparison); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}
