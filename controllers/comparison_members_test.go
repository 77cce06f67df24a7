//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// forge makes a run by hand that says of itself that it belongs to a comparison.
func (l *inLane) forge(comparison *v1alpha1.BenchmarkComparison, name string) *v1alpha1.BenchmarkRun {
	l.t.Helper()
	run := testutil.MakeRun(name, l.namespace).Obj()
	run.UID, run.Labels = "", plan.ComparisonLabels(comparison)
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(comparison, v1alpha1.GroupVersion.WithKind("BenchmarkComparison"))}
	l.must(api.Create(l.t.Context(), run))
	return run
}

// A run with a hand-written owner reference to a comparison that has its lane gets no turn by it: not beside the comparison's own
// run, not in its place, and it does not keep the lane when the comparison is suspended.
func TestEnvtestMemberMadeByHand(t *testing.T) {
	l := newInLane(t)
	l.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
	l.comparison("first", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.Seed = ptr.To[int64](8) })
	for len(l.jobs) == 0 {
		l.turn("first")
	}
	comparison := l.comparisonNamed("first")
	if got, want := comparison.Status.CurrentRuns[0].UID, string(l.get("first-r1-a").UID); got != want {
		t.Fatalf("the current run is %q, want %q", got, want)
	}
	l.forge(comparison, "first-rx")
	l.forge(comparison, "first-r1-b")
	for range 5 {
		l.turn("first")
	}
	for _, name := range []string{"first-rx", "first-r1-b"} {
		if run := l.get(name); lifecycle.Admitted(run.Status.Conditions) {
			t.Errorf("run %s, which the comparison has not made, is admitted", name)
		}
	}
	c := apimeta.FindStatusCondition(l.get("first-rx").Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || !strings.Contains(c.Message, "measures only runs that it created") {
		t.Errorf("why it waits is %+v", c)
	}
	comparison = l.comparisonNamed("first")
	comparison.Spec.Suspend = ptr.To(true)
	l.must(api.Update(t.Context(), comparison))
	l.queue(nil, "second")
	l.until("second", v1alpha1.ConditionAdmitted, "first")
}

// One that has the name of the comparison's next run is removed, and the comparison makes its own.
func TestEnvtestNextMemberMadeByHand(t *testing.T) {
	l := newInLane(t)
	l.comparison("first", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.Seed = ptr.To[int64](8) })
	for len(l.jobs) == 0 {
		l.turn("first")
	}
	forged := l.forge(l.comparisonNamed("first"), "first-r1-b")
	l.until("first", v1alpha1.ConditionComplete, "first")
	if run := l.get("first-r1-b"); run.UID == forged.UID {
		t.Error("the comparison has measured a run that it has not made")
	}
}
