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

func TestEnvtestPredecessorIsWaitedFor(t *testing.T) {
	c := newCluster(t)
	old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "run-db1", Namespace: c.namespace, Labels: map[string]string{v1alpha1.LabelRun: "run", v1alpha1.LabelRunUID: "old"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "benchrun.dev/v1alpha1", Kind: "BenchmarkRun", Name: "run", UID: "old", Controller: ptr.To(true)}},
	}}
	c.must(api.Create(t.Context(), old))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	for range 3 {
		c.reconcile("run")
	}
	ready := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonWaitingForPredecessor || !strings.Contains(ready.Message, "run-db1") {
		t.Errorf("it says %s: %s", ready.Reason, ready.Message)
	}
	c.must(api.Delete(t.Context(), old))
	c.until("run", v1alpha1.ConditionComplete)
}

// A comparison that was deleted and is created again waits until the results of the old one are gone, too: they go by themselves.
func TestEnvtestPredecessorsResultsAreWaitedFor(t *testing.T) {
	s := newComparisons(t)
	old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "s-results", Namespace: s.namespace, Labels: map[string]string{v1alpha1.LabelComparison: "s", v1alpha1.LabelComparisonUID: "old"},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "benchrun.dev/v1alpha1", Kind: "BenchmarkComparison", Name: "s", UID: "old", Controller: ptr.To(true)},
		},
	}}
	s.must(api.Create(t.Context(), old))
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
	for range 3 {
		s.turn()
	}
	ready := apimeta.FindStatusCondition(s.getComparison().Status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonWaitingForPredecessor || !strings.Contains(ready.Message, "s-results") || len(s.made) > 0 {
		t.Errorf("it says %s: %s, and has made %v", ready.Reason, ready.Message, s.made)
	}
	s.must(api.Delete(t.Context(), old))
	s.untilComparison(v1alpha1.ConditionComplete)
}
