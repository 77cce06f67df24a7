// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Every kind of object that a run makes, as it works, while it is being deleted, and while a finalizer keeps it: only what
// runs, or will make what runs, may load a node. A finalizer changes nothing of that, and says for how long the object stays.
func TestMayLoad(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	working := corev1.PodStatus{Phase: corev1.PodRunning}
	ended := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}}
	waits := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}}}
	for name, tc := range map[string]struct {
		object         client.Object
		works, deleted bool
		deleting       time.Duration
	}{
		"Pod":                   {object: &corev1.Pod{Status: working}, works: true, deleted: true},
		"Pod that waits":        {object: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, works: true, deleted: true},
		"Pod that has ended":    {object: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}},
		"Pod that failed":       {object: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}},
		"Pod on a lost node":    {object: &corev1.Pod{Status: working}, works: true, deleting: time.Minute},
		"Job":                   {object: &batchv1.Job{}, works: true},
		"Job that is suspended": {object: &batchv1.Job{Status: waits}, works: true},
		"Job that has ended":    {object: &batchv1.Job{Status: ended}},
		"StatefulSet":           {object: &appsv1.StatefulSet{}, works: true},
		"MariaDB":               {object: &unstructured.Unstructured{Object: map[string]any{}}, works: true},
		"claim":                 {object: &corev1.PersistentVolumeClaim{}},
		"Service":               {object: &corev1.Service{}},
		"ConfigMap":             {object: &corev1.ConfigMap{}},
		"Secret":                {object: &corev1.Secret{}},
		"PodDisruptionBudget":   {object: &policyv1.PodDisruptionBudget{}},
	} {
		must.Same(t, name+": may load", tc.works, MayLoad(tc.object, now))
		if IsKept(tc.object) {
			t.Errorf("%s is kept, and nobody deletes it", name)
		}
		at := metav1.NewTime(now.Add(-tc.deleting))
		tc.object.SetDeletionTimestamp(&at)
		for _, own := range [][]string{nil, {metav1.FinalizerDeleteDependents}, {"kubernetes.io/pvc-protection", batchv1.JobTrackingFinalizer}} {
			if tc.object.SetFinalizers(own); IsKept(tc.object) {
				t.Errorf("%s is kept by %q, which are Kubernetes' own", name, own)
			}
		}
		tc.object.SetFinalizers([]string{metav1.FinalizerDeleteDependents, "example.com/keep"})
		if got := MayLoad(tc.object, now); got != tc.deleted || !IsKept(tc.object) {
			t.Errorf("%s that is being deleted and kept: may load is %t, kept %t", name, got, IsKept(tc.object))
		}
	}
}

// An object that makes Pods and is kept keeps them at work, until the garbage collector is asked to delete them first.
func TestHeldUp(t *testing.T) {
	now := metav1.Now()
	pod, going := corev1.Pod{}, corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	for name, tc := range map[string]struct {
		deleted    bool
		finalizers []string
		pods       []corev1.Pod
		want       bool
	}{
		"works":              {finalizers: []string{"example.com/keep"}, pods: []corev1.Pod{pod}},
		"goes by itself":     {deleted: true, pods: []corev1.Pod{pod}},
		"kept":               {deleted: true, finalizers: []string{"example.com/keep"}, pods: []corev1.Pod{going, pod}, want: true},
		"kept, its Pod goes": {deleted: true, finalizers: []string{"example.com/keep"}, pods: []corev1.Pod{going}},
		"kept, without Pods": {deleted: true, finalizers: []string{"example.com/keep"}},
		"kept, Pods first":   {deleted: true, finalizers: []string{"example.com/keep", metav1.FinalizerDeleteDependents}, pods: []corev1.Pod{pod}},
	} {
		for _, maker := range []client.Object{&batchv1.Job{}, &appsv1.StatefulSet{}} {
			maker.SetFinalizers(tc.finalizers)
			if tc.deleted {
				maker.SetDeletionTimestamp(&now)
			}
			must.Same(t, fmt.Sprintf("%T, %s", maker, name), tc.want, HeldUp(maker, tc.pods...))
		}
	}
}
