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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// forged is a record that looks exactly like one of the operator's, and that the operator did not write.
func forged(c *cluster, run *v1alpha1.BenchmarkRun, trial int) *corev1.ConfigMap {
	c.t.Helper()
	text, err := testutil.Record(trial, 1, nil, 999_999).Encode()
	c.must(err)
	labels := plan.Labels(run, v1alpha1.ComponentAttempt)
	labels[v1alpha1.LabelTrial], labels[v1alpha1.LabelAttempt], labels[v1alpha1.LabelOutcome] = "2", "1", "Accepted"
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: "made-by-hand", Namespace: c.namespace, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
		},
		Immutable: ptr.To(true),
		Data:      map[string]string{result.RecordKey: text},
	}
}

// A ConfigMap that somebody makes by hand is no measurement, whatever it says it is.
func TestEnvtestForgedRecordDoesNotCount(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	c.reconcile("run")
	c.must(api.Create(t.Context(), forged(c, c.get("run"), 2)))
	done := c.until("run", v1alpha1.ConditionComplete)
	if strings.Contains(done.Status.Headline, "999999") || done.Status.Points[0].High != "1002" {
		t.Errorf("the forged number counts: %+v", done.Status.Points)
	}
	if c.jobs["run-t2-a1"] != 1 {
		t.Errorf("trial 2 was measured %d times", c.jobs["run-t2-a1"])
	}
}

// An object that only has the run's name in its label neither blocks the run nor is a part of the run.
func TestEnvtestLabelAloneMeansNothing(t *testing.T) {
	c := newCluster(t)
	labels := map[string]string{v1alpha1.LabelRun: "run"}
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i"}}, RestartPolicy: corev1.RestartPolicyNever,
	}}
	strangers := []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "notes", Labels: labels}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "service", Labels: labels}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}},
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Labels: labels}, Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: template}},
	}
	for _, stranger := range strangers {
		stranger.SetNamespace(c.namespace)
		c.must(api.Create(t.Context(), stranger))
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	for _, stranger := range strangers {
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger); err != nil || stranger.GetDeletionTimestamp() != nil {
			t.Errorf("%s: %v", stranger.GetName(), err)
		}
	}
}

// A record that is deleted while the run is under way ends it: the run cannot say any more what it measured. What the status says
// of what was measured before stays.
func TestEnvtestDeletedRecordEndsTheRun(t *testing.T) {
	for name, restart := range map[string]bool{"the same operator": false, "another operator": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
			for len(c.attemptNames()) < 2 {
				c.reconcile("run")
				c.react()
			}
			headline := c.get("run").Status.Headline
			c.must(api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1", Namespace: c.namespace}}))
			if restart {
				c.reconciler = c.newReconciler()
			}
			failed := c.until("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonRecordsChanged || !strings.Contains(condition.Message, "run-t1-a1") {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
			if failed.Status.Headline != headline || headline == "" {
				t.Errorf("the headline was %q and is %q", headline, failed.Status.Headline)
			}
		})
	}
}

// A finished run is finished: nothing that happens to its ConfigMaps changes what it says, and the condition says what is
// missing.
func TestEnvtestFinishedRunStaysAsItIs(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	before := c.get("run").Status
	remove := func(name, says string) {
		t.Helper()
		c.must(api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace}}))
		c.settle("run")
		after := c.get("run").Status
		available := apimeta.FindStatusCondition(after.Conditions, v1alpha1.ConditionResultsAvailable)
		if available.Status != metav1.ConditionFalse || available.Reason != v1alpha1.ReasonResultsDeleted || available.Message != says {
			t.Errorf("ResultsAvailable is %s, %s: %s; want %q", available.Status, available.Reason, available.Message, says)
		}
		if !apimeta.IsStatusConditionTrue(after.Conditions, v1alpha1.ConditionComplete) || after.Progress != "2/2" ||
			after.Headline != before.Headline || after.Results != before.Results {
			t.Errorf("the status was %+v and is %+v", before, after)
		}
	}
	remove("run-t1-a1", "ConfigMaps with records of attempts were deleted: 1 of 2")
	remove("run-results", "ConfigMap run-results with the results was deleted")
}

// A database is numbered once, also if it was removed before anything was measured.
func TestEnvtestSuspendedBeforeTheFirstRecord(t *testing.T) {
	c := newCluster(t)
	c.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	for c.jobs["run-t1-a1"] == 0 {
		c.reconcile("run")
		c.react()
	}
	suspend := func(value bool) {
		run := c.get("run")
		run.Spec.Suspend = &value
		c.must(api.Update(t.Context(), run))
	}
	suspend(true)
	c.settle("run")
	c.nothingRuns()
	c.loader = c.succeed
	suspend(false)
	done := c.until("run", v1alpha1.ConditionComplete)
	if got := ptr.Deref(done.Status.RemovedInstances, 0); got != 1 {
		t.Errorf("%d instances were removed, want 1", got)
	}
	var record corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &record))
	if !strings.Contains(record.Data[result.RecordKey], `"instance":2`) {
		t.Errorf("the record says %s", record.Data[result.RecordKey])
	}
}

// Of a run that is gone the operator remembers nothing.
func TestEnvtestRunThatIsGoneIsForgotten(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	for len(c.attemptNames()) == 0 {
		c.reconcile("run")
		c.react()
	}
	if n := len(c.reconciler.memories.all); n != 1 {
		t.Errorf("%d runs are remembered, want 1", n)
	}
	c.must(api.Delete(t.Context(), c.get("run")))
	c.reconcile("run")
	if n := len(c.reconciler.memories.all); n != 0 {
		t.Errorf("%d runs are remembered, want none", n)
	}
}
