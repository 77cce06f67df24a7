// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// What anybody fills an object with is not kept, and what is kept stays the same when it is reduced again.
func TestCachedIsSmall(t *testing.T) {
	bulk := strings.Repeat("x", 900_000)
	meta := metav1.ObjectMeta{
		Name: "a", Labels: map[string]string{v1alpha1.LabelRun: "run"}, Annotations: map[string]string{"example.com/any": bulk},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: bulk}},
	}
	for _, key := range []string{
		neighborsAnnotation, database.AnnotationBlockIO, batchv1.JobCompletionIndexAnnotation,
	} {
		meta.Annotations[key] = bulk
	}
	meta.OwnerReferences = []metav1.OwnerReference{{Kind: "BenchmarkRun", Name: "any", UID: "forged", Controller: ptr.To(true)}}
	for i := range 1000 {
		meta.Labels[fmt.Sprint("example.com/", i)] = "any"
		meta.Finalizers = append(meta.Finalizers, fmt.Sprint("example.com/", i))
		meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{Name: fmt.Sprint("any", i)})
	}
	pod := corev1.PodSpec{
		Containers:  []corev1.Container{{Name: "a", Args: []string{bulk}, Env: []corev1.EnvVar{{Name: "a", Value: bulk}}}},
		Tolerations: []corev1.Toleration{{Key: bulk}},
	}
	template := corev1.PodTemplateSpec{ObjectMeta: meta, Spec: pod}
	for _, object := range []client.Object{
		&corev1.Pod{ObjectMeta: meta, Spec: pod},
		&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Template: template, ServiceName: bulk}},
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ExternalName: bulk}},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: bulk}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": bulk}},
		}},
		&metav1.PartialObjectMetadata{ObjectMeta: meta},
		&v1alpha1.BenchmarkRun{ObjectMeta: meta},
	} {
		object = object.DeepCopyObject().(client.Object)
		reduce(t, object)
		if text, err := json.Marshal(object); err != nil || len(text) > 8<<10 {
			t.Errorf("%T: %d bytes are kept, %v", object, len(text), err)
		}
		if object.GetName() != "a" || object.GetLabels()[v1alpha1.LabelRun] != "run" {
			t.Errorf("%T: its name or label is lost: %v", object, object.GetLabels())
		}
		once := object.DeepCopyObject()
		reduce(t, object)
		if diff := cmp.Diff(once, object); diff != "" {
			t.Errorf("%T: reduced again, it is another one:\n%s", object, diff)
		}
	}
}

// What decisions read is kept.
func TestCachedKeepsWhatIsRead(t *testing.T) {
	owner := metav1.OwnerReference{Kind: "BenchmarkRun", Name: "run", UID: "uid", Controller: ptr.To(true)}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Labels:          map[string]string{v1alpha1.LabelKueueQueue: "queue", v1alpha1.LabelKueuePriority: "high"},
		OwnerReferences: []metav1.OwnerReference{owner}, Finalizers: []string{"example.com/a"},
	}}
	run.Status.Progress = "1/2"
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: database.ObserverContainer, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
	}}}}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{neighborsAnnotation: "{}"}},
		Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), Completions: ptr.To[int32](2), Parallelism: ptr.To[int32](2), ActiveDeadlineSeconds: ptr.To[int64](9),
		},
		Status: batchv1.JobStatus{Failed: 1},
	}
	for _, object := range []client.Object{run, set, job} {
		want := object.DeepCopyObject()
		reduce(t, object)
		if diff := cmp.Diff(want, object); diff != "" {
			t.Errorf("%T has lost what is read:\n%s", object, diff)
		}
	}
}

func reduce(t *testing.T, object client.Object) {
	t.Helper()
	must.Get(Cached(object))(t)
}
