//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestEnvtestCompleteRun(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")

	want := []string{"run-t1-a1 Accepted", "run-t2-a1 Accepted", "run-t3-a1 Accepted", "run-t4-a1 Accepted"}
	must.Same(t, "records", want, c.attemptNames())
	for name, times := range c.jobs {
		if times != 1 {
			t.Errorf("Job %s was made %d times", name, times)
		}
	}
	if got := run.Status.Progress; got != "4/4" {
		t.Errorf("progress is %q", got)
	}
	if !strings.Contains(run.Status.Headline, "rows/s") {
		t.Errorf("headline is %q", run.Status.Headline)
	}
	if e := run.Status.Environment; e.ServerVersion != "11.8.3-MariaDB" || e.FdatasyncMicros != 110 || e.DatabaseNode == "" {
		t.Errorf("environment is %+v", e)
	}
	for _, condition := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionFinished} {
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) {
			t.Errorf("%s is not true", condition)
		}
	}

	var results corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &results))
	for _, file := range []string{"results.csv", "results.json", "results.bench", "summary.md"} {
		if results.Data[file] == "" {
			t.Errorf("the results lack %s", file)
		}
	}
	pageIn(t, &results, "run")
	if results.Immutable == nil || !*results.Immutable {
		t.Error("the results are not immutable")
	}
	if lines := strings.Count(results.Data["results.csv"], "\n"); lines != 5 {
		t.Errorf("results.csv has %d lines, want a header and 4 trials", lines)
	}
	c.nothingRuns()
}

// nothingRuns checks that a finished run has left no database and no Job.
func (c *cluster) nothingRuns() {
	c.t.Helper()
	var sets appsv1.StatefulSetList
	var jobs batchv1.JobList
	var pods corev1.PodList
	var leases coordinationv1.LeaseList
	c.list(&sets)
	c.list(&jobs)
	c.list(&pods)
	c.list(&leases)
	if n := len(sets.Items) + len(jobs.Items) + len(pods.Items) + len(leases.Items); n != 0 {
		c.t.Errorf("%d StatefulSets, %d Jobs, %d Pods, %d Leases are left",
			len(sets.Items), len(jobs.Items), len(pods.Items), len(leases.Items))
	}
}

func TestEnvtestRetention(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Results.Retention = v1alpha1.RetentionRetain
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	for _, name := range []string{"run-results", "run-t1-a1"} {
		var cm corev1.ConfigMap
		c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, &cm))
		if len(cm.OwnerReferences) != 0 {
			t.Errorf("%s would go with the run", name)
		}
	}
	retained := func(changes ...func(*v1alpha1.BenchmarkRun)) *v1alpha1.BenchmarkRun {
		run := testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Results.Retention = v1alpha1.RetentionRetain
		})
		for _, change := range changes {
			run.With(change)
		}
		return run.Obj()
	}
	// The same again finds them, measures nothing, and says where they are from.
	first := c.get("run")
	c.must(api.Delete(t.Context(), first))
	c.apply(retained())
	again := c.until("run", v1alpha1.ConditionComplete)
	complete := apimeta.FindStatusCondition(again.Status.Conditions, v1alpha1.ConditionComplete)
	if again.Status.Results.FromRun != string(first.UID) || again.Status.Results.Digest != first.Status.Results.Digest ||
		again.Status.Headline != first.Status.Headline || again.Status.Records != first.Status.Records ||
		!strings.Contains(complete.Message, "nothing was measured") || c.jobs["run-t1-a1"] != 1 {
		t.Errorf("%+v, %s, %d Jobs: %s", again.Status.Results, again.Status.Headline, c.jobs["run-t1-a1"], complete.Message)
	}
	c.settle("run")
	if a := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionResultsAvailable); a.Status != metav1.ConditionTrue {
		t.Errorf("the results are not available: %s", a.Message)
	}
	// Another specification does not, nor the same one when a record was changed.
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(retained(func(r *v1alpha1.BenchmarkRun) { r.Spec.Seed = ptr.To[int64](7) }))
	c.failsWith("run", v1alpha1.ReasonNameTaken)
	var record corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &record))
	c.must(api.Delete(t.Context(), &record))
	forged := record.DeepCopy()
	forged.ResourceVersion, forged.UID = "", ""
	forged.Data[result.RecordKey] = strings.Replace(record.Data[result.RecordKey], `"trial":1`, `"trial":2`, 1)
	c.must(api.Create(t.Context(), forged))
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(retained())
	c.failsWith("run", v1alpha1.ReasonNameTaken)
	// A run that does not ask for retained results must not take them for its own.
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.failsWith("run", v1alpha1.ReasonNameTaken)
}

// failsWith lets a run go on until it has failed for that reason.
func (c *cluster) failsWith(name, reason string) {
	c.t.Helper()
	run := c.until(name, v1alpha1.ConditionFailed)
	if r := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed).Reason; r != reason {
		c.t.Errorf("it ended %s, want %s", r, reason)
	}
}
