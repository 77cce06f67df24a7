//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// keep adds the finalizer of somebody else to an object.
func (c *cluster) keep(object client.Object) {
	c.t.Helper()
	patch := client.MergeFrom(object.DeepCopyObject().(client.Object))
	object.SetFinalizers([]string{"example.com/keep"})
	c.must(api.Patch(c.t.Context(), object, patch))
}

// A run that is deleted and kept by somebody else's finalizer stops: it removes what it has, leaves its lane, says so, and makes
// nothing any more. What it has measured stays.
func TestEnvtestDeletedRunLeavesItsLane(t *testing.T) {
	c := newCluster(t)
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		if job.Name == "first-t1-a1" || strings.HasPrefix(job.Name, "second") {
			c.succeed(job, pod)
		}
	}
	c.queue(func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.Repetitions = ptr.To[int32](3) }, "first")
	c.queue(nil, "second")
	for c.jobs["first-t2-a1"] == 0 {
		c.turn("first", "second")
	}
	c.keep(c.get("first"))
	c.must(api.Delete(t.Context(), c.get("first")))
	c.turns("second", v1alpha1.ConditionComplete, "first", "second")

	run := c.get("first")
	for condition, status := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionReady: metav1.ConditionFalse, v1alpha1.ConditionReconciling: metav1.ConditionFalse,
		v1alpha1.ConditionAdmitted: metav1.ConditionFalse, v1alpha1.ConditionDatabaseReady: metav1.ConditionFalse,
	} {
		got := apimeta.FindStatusCondition(run.Status.Conditions, condition)
		if got.Status != status || got.Reason != v1alpha1.ReasonBeingDeleted || !strings.Contains(got.Message, "example.com/keep") {
			t.Errorf("%s is %s %s: %s", condition, got.Status, got.Reason, got.Message)
		}
	}
	if run.Status.Progress != "1/3" || run.Status.Results.ConfigMap != "" {
		t.Errorf("it has measured %s, and has results %q", run.Status.Progress, run.Status.Results.ConfigMap)
	}
	if slices.Contains(c.busy(), "first") || c.jobs["first-t2-a1"] != 1 || c.jobs["first-t3-a1"] != 0 {
		t.Errorf("%v have something; Jobs %v", c.busy(), c.jobs)
	}
	var budgets policyv1.PodDisruptionBudgetList
	if c.list(&budgets); len(budgets.Items) > 0 && budgets.Items[0].Labels[v1alpha1.LabelRun] == "first" {
		t.Error("its PodDisruptionBudget is left")
	}
}

// A run that waits, and is deleted but kept, does not stand in the queue, and never takes the lane.
func TestEnvtestDeletedRunLeavesTheQueue(t *testing.T) {
	c := newCluster(t)
	c.queue(nil, "first")
	c.reconcile("first")
	c.queue(nil, "second")
	c.reconcile("second")
	c.keep(c.get("second"))
	c.must(api.Delete(t.Context(), c.get("second")))
	c.turns("first", v1alpha1.ConditionComplete, "second", "first")
	for range 5 {
		c.turn("second", "first")
	}
	c.says("second", "False BeingDeleted: the run is being deleted and has stopped; it stays until its finalizers are removed: example.com/keep")
	c.nothingRuns()
}

// With foreground deletion, the garbage collector deletes what a run has, and on a node that does not answer that stays: the Job
// and the StatefulSet as long as their Pods, which are Terminating. The lane is left when the Pods are cut off.
func TestEnvtestDeletedInTheForegroundWithADeadNode(t *testing.T) {
	c := newCluster(t)
	c.loader = func(_ *batchv1.Job, pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning } // it runs until it is removed
	c.queue(nil, "first", "second")
	for c.jobs["first-t1-a1"] == 0 {
		c.turn("first", "second")
	}
	foreground := client.PropagationPolicy(metav1.DeletePropagationForeground)
	c.must(api.Delete(t.Context(), c.get("first"), foreground))
	var pods corev1.PodList
	c.list(&pods)
	for i := range pods.Items {
		c.must(api.Delete(t.Context(), &pods.Items[i], client.GracePeriodSeconds(30))) // nobody ends it: it is Terminating
	}
	for _, name := range []string{"first-t1-a1", "first-db1"} {
		object := c.owned(name)
		c.must(api.Delete(t.Context(), object, foreground))
	}
	for range 3 {
		c.tryAll("first", "second")
	}
	if got := c.condition("second", v1alpha1.ConditionAdmitted); got.Status != metav1.ConditionFalse {
		t.Errorf("the next run is admitted while the Pods of the first may work: %s", got.Message)
	}
	c.clock.Step(2 * time.Minute)
	for range 3 {
		c.tryAll("first", "second")
	}
	if got := c.condition("second", v1alpha1.ConditionAdmitted); got.Status != metav1.ConditionTrue {
		t.Errorf("the next run is not admitted: %s", got.Message)
	}
	if got := c.condition("first", v1alpha1.ConditionReconciling).Reason; got != v1alpha1.ReasonBeingDeleted {
		t.Errorf("the first run says %s", got)
	}
}

// owned is what has a name: a Job or a StatefulSet.
func (c *cluster) owned(name string) client.Object {
	c.t.Helper()
	var object client.Object = &batchv1.Job{}
	if c.exists(object, name) != nil {
		object = &appsv1.StatefulSet{}
		c.must(c.exists(object, name))
	}
	return object
}

// tryAll reconciles runs, while the cluster does nothing.
func (c *cluster) tryAll(names ...string) {
	c.t.Helper()
	for _, name := range names {
		if _, err := c.try(name); err != nil {
			c.t.Logf("to be tried again: %v", err)
		}
	}
}

// A comparison that is deleted and kept by somebody else's finalizer stops its run, and leaves its lane; so does a run of it, if
// the garbage collector deletes that first.
func TestEnvtestDeletedComparisonLeavesItsLane(t *testing.T) {
	t.Parallel()
	for name, foreground := range map[string]bool{"its run stays": false, "its run is deleted, too": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newInLane(t)
			l.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				if strings.HasPrefix(job.Name, "s-r2") {
					pod.Status.Phase = corev1.PodRunning // until it is removed
					return
				}
				l.succeed(job, pod)
			}
			l.comparison("s", 3, nil)
			for l.jobs["s-r2-b-t1-a1"] == 0 && l.jobs["s-r2-a-t1-a1"] == 0 {
				l.turn("s")
			}
			l.queue(nil, "next")
			answer := l.comparisonNamed("s").Status.Answer
			l.keep(l.comparisonNamed("s"))
			l.must(api.Delete(t.Context(), l.comparisonNamed("s")))
			if foreground {
				var runs v1alpha1.BenchmarkRunList
				l.list(&runs)
				for i := range runs.Items {
					if strings.HasPrefix(runs.Items[i].Name, "s-r") {
						l.keep(&runs.Items[i])
						l.must(api.Delete(t.Context(), &runs.Items[i]))
					}
				}
			}
			l.until("next", v1alpha1.ConditionComplete, "s")
			status := l.comparisonNamed("s").Status
			ready := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
			want := "the comparison is being deleted and has stopped; it stays until its finalizers are removed: example.com/keep"
			if ready.Reason != v1alpha1.ReasonBeingDeleted || ready.Message != want || status.Answer != answer {
				t.Errorf("it says %s: %s; answer %q, before %q", ready.Reason, ready.Message, status.Answer, answer)
			}
			if status.Results.ConfigMap != "" {
				t.Error("it has published results")
			}
		})
	}
}
