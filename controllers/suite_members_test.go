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

// forge makes a run by hand that says of itself that it belongs to a suite.
func (l *inLane) forge(suite *v1alpha1.BenchmarkSuite, name string) *v1alpha1.BenchmarkRun {
	l.t.Helper()
	run := testutil.MakeRun(name, l.namespace).Obj()
	run.UID, run.Labels = "", plan.SuiteLabels(suite)
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(suite, v1alpha1.GroupVersion.WithKind("BenchmarkSuite"))}
	l.must(api.Create(l.t.Context(), run))
	return run
}

// A run with a hand-written owner reference to a suite that has its lane gets no turn by it: not beside the suite's own run, not in
// its place, and it does not keep the lane when the suite is suspended.
func TestEnvtestMemberMadeByHand(t *testing.T) {
	l := newInLane(t)
	l.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
	l.suite("first", 2, func(s *v1alpha1.BenchmarkSuite) { s.Spec.Seed = ptr.To[int64](4) })
	for len(l.jobs) == 0 {
		l.turn("first")
	}
	suite := l.suiteNamed("first")
	if got, want := suite.Status.CurrentRun.UID, string(l.get("first-r1-a").UID); got != want {
		t.Fatalf("the current run is %q, want %q", got, want)
	}
	l.forge(suite, "first-rx")
	l.forge(suite, "first-r1-b")
	for range 5 {
		l.turn("first", "first-rx")
	}
	for _, name := range []string{"first-rx", "first-r1-b"} {
		if run := l.get(name); lifecycle.Admitted(run.Status.Conditions) {
			t.Errorf("run %s, which the suite has not made, is admitted", name)
		}
	}
	c := apimeta.FindStatusCondition(l.get("first-rx").Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || !strings.Contains(c.Message, "measures none that it has not made") {
		t.Errorf("why it waits is %+v", c)
	}
	suite = l.suiteNamed("first")
	suite.Spec.Suspend = ptr.To(true)
	l.must(api.Update(t.Context(), suite))
	l.queue(nil, "second")
	l.until("second", v1alpha1.ConditionAdmitted, "first")
}

// One that has the name of the suite's next run is removed, and the suite makes its own.
func TestEnvtestNextMemberMadeByHand(t *testing.T) {
	l := newInLane(t)
	l.suite("first", 2, func(s *v1alpha1.BenchmarkSuite) { s.Spec.Seed = ptr.To[int64](4) })
	for len(l.jobs) == 0 {
		l.turn("first")
	}
	forged := l.forge(l.suiteNamed("first"), "first-r1-b")
	l.until("first", v1alpha1.ConditionComplete, "first")
	if run := l.get("first-r1-b"); run.UID == forged.UID {
		t.Error("the suite has measured a run that it has not made")
	}
}
