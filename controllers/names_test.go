//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

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

// A comparison that was deleted and is created again makes no run before the results of the old one are gone, too.
func TestEnvtestPredecessorsResultsAreWaitedFor(t *testing.T) {
	s := newComparisons(t)
	old := ofEarlier(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "s-results", Namespace: s.namespace, Finalizers: []string{"example.com/wait"},
		Labels: map[string]string{v1alpha1.LabelComparison: "s", v1alpha1.LabelComparisonUID: "old"},
	}}, "BenchmarkComparison", "s")
	s.must(api.Create(t.Context(), old))
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
	for range 3 {
		s.turn()
	}
	ready := apimeta.FindStatusCondition(s.getComparison().Status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonWaitingForPredecessor || !strings.Contains(ready.Message, "s-results") || len(s.made) > 0 {
		t.Errorf("it says %s: %s, and has made %v", ready.Reason, ready.Message, s.made)
	}
	s.must(api.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	if old.GetDeletionTimestamp() == nil {
		t.Error("nobody deletes the earlier comparison's results")
	}
	old.SetFinalizers(nil)
	s.must(api.Update(t.Context(), old))
	s.untilComparison(v1alpha1.ConditionComplete)
}

// Objects of an earlier run that the garbage collector has missed, which never runs here, are not in the way for ever. Those of
// something else that has the name are left alone, as are those that somebody has changed meanwhile.
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

// A comparison that was deleted and is created again begins when the runs and the results of the old one are gone.
func TestEnvtestOrphansOfComparisons(t *testing.T) {
	s := newComparisons(t)
	labels := map[string]string{v1alpha1.LabelComparison: "s", v1alpha1.LabelComparisonUID: "old"}
	old := ofEarlier(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "s-results", Namespace: s.namespace, Labels: labels},
	}, "BenchmarkComparison", "s")
	s.must(api.Create(t.Context(), old))
	run := testutil.MakeRun("s-r9-a", s.namespace).Obj() // this comparison has fewer rounds
	run.Labels = labels
	s.must(api.Create(t.Context(), ofEarlier(run, "BenchmarkComparison", "s")))
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Rounds(2).Obj())
	s.untilComparison(v1alpha1.ConditionComplete)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(run), run); !apierrors.IsNotFound(err) {
		t.Errorf("the earlier comparison's run: error %v, want that it is gone", err)
	}
}
