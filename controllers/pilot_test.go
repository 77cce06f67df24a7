//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// The first attempt at each point finds out how many rows last trials.minSeconds; all trials of the point insert so many.
func TestEnvtestPilot(t *testing.T) {
	c := newCluster(t)
	requested := map[string]string{}
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		config := c.configOf(job)
		requested[strings.TrimPrefix(job.Name, "run-")] = fmt.Sprintf("%d s, %s", config.LimitSeconds, config.Workload.Parameters)
		c.succeed(job, pod) // 100 rows in a second
	}
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Order, r.Spec.Trials.MinSeconds = v1alpha1.OrderSequential, ptr.To[int32](2)
	}).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)
	want := []string{
		"run-t1-a1 Pilot", "run-t1-a2 Accepted", "run-t2-a1 Accepted", "run-t3-a1 Pilot", "run-t3-a2 Accepted", "run-t4-a1 Accepted",
	}
	if diff := cmp.Diff(want, c.attemptNames()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	pilot, trial := `2 s, {"commit":"Explicit","compat":"None","rows":1000000000,"rowsPerCommit":%d}`,
		`0 s, {"commit":"Explicit","compat":"None","rows":220,"rowsPerCommit":%d}`
	if diff := cmp.Diff(map[string]string{
		"t1-a1": fmt.Sprintf(pilot, 1), "t1-a2": fmt.Sprintf(trial, 1), "t2-a1": fmt.Sprintf(trial, 1),
		"t3-a1": fmt.Sprintf(pilot, 2), "t3-a2": fmt.Sprintf(trial, 2), "t4-a1": fmt.Sprintf(trial, 2),
	}, requested); diff != "" {
		t.Errorf("asked of the loaders (-want +got):\n%s", diff)
	}
	if run.Status.Progress != "4/4" || ptr.Deref(run.Status.Trials.Invalidated, 0) != 0 {
		t.Errorf("progress %s, %+v", run.Status.Progress, run.Status.Trials)
	}
	if text := c.summary("run"); !strings.Contains(text, "- rowsPerCommit=2: 220 rows per trial; the pilot inserted 100 in 1.0 s\n") {
		t.Errorf("the summary does not say what the pilots decided:\n%s", text)
	}
}

// The cache has no rows of pilots: a run of the comparison knows them all the same, and one that somebody else has made does not.
func TestEnvtestRowsOfItsComparison(t *testing.T) {
	l := newInLane(t)
	comparison := testutil.MakeComparison("s", l.namespace, "a", "b").Obj()
	comparison.UID = ""
	l.must(api.Create(t.Context(), comparison))
	observed := func(name string) map[string]int64 {
		run := testutil.MakeRun(name, l.namespace).With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Trials.MinSeconds = ptr.To[int32](5)
		}).Obj()
		run.UID, run.Labels = "", plan.ComparisonLabels(comparison)
		run.Annotations = map[string]string{v1alpha1.AnnotationRows: `{"":4400}`}
		run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(comparison, v1alpha1.GroupVersion.WithKind("BenchmarkComparison"))}
		l.must(api.Create(t.Context(), run))
		if name == "made" {
			comparison.Status.CurrentRuns = []v1alpha1.CurrentRun{{Name: name, UID: string(run.UID)}}
			l.must(api.Status().Update(t.Context(), comparison))
		}
		cached := new(v1alpha1.BenchmarkRun)
		l.must(l.reconciler.Get(t.Context(), client.ObjectKeyFromObject(run), cached))
		seen, err := l.reconciler.observe(t.Context(), cached, l.reconciler.Client)
		l.must(err)
		return seen.ComparisonRows
	}
	if diff := cmp.Diff(map[string]int64{"": 4400}, observed("made")); diff != "" {
		t.Errorf("rows of a run that the comparison has made (-want +got):\n%s", diff)
	}
	if rows := observed("forged"); rows != nil {
		t.Errorf("a run that somebody else has made has the rows %v", rows)
	}
}

// What the first run of a comparison has decided holds for all others.
func TestEnvtestComparisonPilot(t *testing.T) {
	s := newComparisons(t)
	pilot := testutil.Record(1, 1, nil, 1000)
	pilot.Outcome, pilot.Rows = result.OutcomePilot, 4400
	s.pilots = []*result.Record{pilot}
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Rounds(4).With(func(comparison *v1alpha1.BenchmarkComparison) {
		comparison.Spec.Template.Spec.Trials.MinSeconds = ptr.To[int32](5)
	}).Obj())
	s.untilComparison(v1alpha1.ConditionFinished)
	for i, name := range s.made {
		want := `{"":4400}`
		if i == 0 {
			want = ""
		}
		if got := s.get(name).Annotations[v1alpha1.AnnotationRows]; got != want {
			t.Errorf("%s has the rows %q, want %q", name, got, want)
		}
	}
	var results corev1.ConfigMap
	s.must(api.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "s-results"}, &results))
	if text := results.Data["summary.md"]; !strings.Contains(text, "rows per trial, set by the first pilot for all variants: 4400\n") {
		t.Errorf("the summary does not say how many rows:\n%s", text)
	}
}
