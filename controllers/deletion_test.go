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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// keep adds a foreign finalizer to an object.
func (c *cluster) keep(object client.Object) {
	c.t.Helper()
	patch := client.MergeFrom(object.DeepCopyObject().(client.Object))
	object.SetFinalizers([]string{"example.com/keep"})
	c.must(api.Patch(c.t.Context(), object, patch))
}

// A run that is deleted and kept by a foreign finalizer stops: it removes what it has, leaves its lane, says so, and makes
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
		if got.Status != status || got.Reason != v1alpha1.ReasonTerminating || !strings.Contains(got.Message, "example.com/keep") {
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
	must.Same(t, "the first run", v1alpha1.ReasonTerminating, c.condition("first", v1alpha1.ConditionReconciling).Reason)
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

// A finished run that does not say how long it stays is deleted after the installation's default.
func TestEnvtestDefaultTimeToLive(t *testing.T) {
	c := newCluster(t)
	c.reconciler.DefaultTTL = time.Hour
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	if after := c.reconcile("run").RequeueAfter; after <= time.Hour-time.Minute || after > time.Hour {
		t.Errorf("it is looked at again after %v", after)
	}
	c.clock.Step(time.Hour + time.Minute)
	c.settleGone("run")
}

func TestEnvtestStrangersObjectIsLeftAlone(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "run-db1"}
	selector := map[string]string{"app": "stranger"}
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}, RestartPolicy: corev1.RestartPolicyNever},
	}
	set := pod.DeepCopy()
	set.Spec.RestartPolicy = corev1.RestartPolicyAlways
	for name, stranger := range map[string]client.Object{
		"ConfigMap run-db1":   &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"mine": "yes"}},
		"Service run-db1":     &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}},
		"StatefulSet run-db1": &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: *set}},
		"PersistentVolumeClaim run-db1": &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}},
		"Job run-t1-a1":       &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1"}, Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: pod}},
		"ConfigMap run-t1-a1": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			stranger := stranger.DeepCopyObject().(client.Object)
			stranger.SetNamespace(c.namespace)
			c.must(api.Create(t.Context(), stranger))
			before := stranger.GetResourceVersion()
			c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
			run := c.until("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonNameTaken || !strings.Contains(condition.Message, name+" exists and does not belong to this run") {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
			c.settle("run")
			c.must(api.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger))
			if _, isJob := stranger.(*batchv1.Job); !isJob && stranger.GetResourceVersion() != before {
				t.Error("the stranger was changed")
			}
		})
	}
}

// ofEarlier is an object that an earlier owner of that kind and name controls.
func ofEarlier(object client.Object, kind, name string) client.Object {
	object.SetOwnerReferences([]metav1.OwnerReference{
		{APIVersion: "benchrun.dev/v1alpha1", Kind: kind, Name: name, UID: "old", Controller: ptr.To(true)},
	})
	return object
}

// What is left of an earlier run is waited for while it is being deleted.
func TestEnvtestPredecessorIsWaitedFor(t *testing.T) {
	c := newCluster(t)
	old := ofEarlier(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "run-db1", Namespace: c.namespace, Labels: map[string]string{v1alpha1.LabelRun: "run", v1alpha1.LabelRunUID: "old"},
		Finalizers: []string{"example.com/wait"},
	}}, "BenchmarkRun", "run")
	c.must(api.Create(t.Context(), old))
	c.must(api.Delete(t.Context(), old))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	for range 3 {
		c.reconcile("run")
	}
	ready := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonWaitingForPredecessor || !strings.Contains(ready.Message, "run-db1") {
		t.Errorf("it says %s: %s", ready.Reason, ready.Message)
	}
	c.must(api.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	old.SetFinalizers(nil)
	c.must(api.Update(t.Context(), old))
	c.until("run", v1alpha1.ConditionComplete)
}

// Objects of an earlier run that the garbage collector has missed, which never runs here, are not in the way for ever. Those of
// something else that has the name are left alone, as are those that were changed meanwhile.
func TestEnvtestOrphansAreRemoved(t *testing.T) {
	c := newCluster(t)
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: name, Namespace: c.namespace, Labels: map[string]string{v1alpha1.LabelRun: "run", v1alpha1.LabelRunUID: "old"},
		}
	}
	ports := corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}
	for _, orphan := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta("run-db1")}, &corev1.ConfigMap{ObjectMeta: meta("run-t1-a1")},
		&corev1.Service{ObjectMeta: meta("run-db1"), Spec: ports},
	} {
		c.must(api.Create(t.Context(), ofEarlier(orphan, "BenchmarkRun", "run")))
	}
	other := ofEarlier(&corev1.ConfigMap{ObjectMeta: meta("other")}, "BenchmarkRun", "run")
	c.must(api.Create(t.Context(), other))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.must(api.Get(t.Context(), client.ObjectKeyFromObject(other), other)) // its name is none that a run needs

	run, stale := c.get("run"), other.DeepCopyObject().(client.Object)
	other.SetAnnotations(map[string]string{"a": "b"})
	c.must(api.Update(t.Context(), other))
	c.must(c.reconciler.writer(run).removeOrphan(t.Context(), stale))
	run.UID = "another"
	c.must(c.reconciler.writer(run).removeOrphan(t.Context(), other))
	c.must(api.Get(t.Context(), client.ObjectKeyFromObject(other), other))
}
