//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// foreign is how many objects of each kind there are. The API server and etcd need some 20 GB for 300.
var foreign = flag.Int("foreign", 300, "objects of 900 kB of each watched kind that somebody else has made")

// TestScaleForeign starts a manager beside 300 objects of 900 kB of each watched kind that a user has made and labelled in a
// namespace of his own, 1,000 queued runs and a run of 5,000 measured trials, and prints what it takes. More than 128 MiB is too
// much.
func TestScaleForeign(t *testing.T) {
	const most = 128
	each := *foreign
	theirs, namespace := madeNamespace(t, "theirs-"), madeNamespace(t, "queue-")
	for kind, of := range foreignKinds {
		var objects []client.Object
		for i := range each {
			objects = append(objects, of(foreignMeta(theirs, fmt.Sprintf("foreign%d", i))))
		}
		began := time.Now()
		inParallel(t, objects, func(o client.Object) { create(t, o) })
		t.Logf("%d objects of kind %s made in %s", each, kind, time.Since(began).Round(time.Second))
	}
	var queued []client.Object
	for i := range 1000 {
		queued = append(queued, testutil.MakeRun(fmt.Sprintf("queued%d", i), namespace).Repetitions(5).Obj())
	}
	inParallel(t, queued, func(o client.Object) { o.SetUID(""); create(t, o) })
	large := largeRun(t, namespace)

	m := start(t, madeNamespace(t, "leases-"), "foreign", "")
	peak := 0
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 20*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, now := memory(t, m.pid)
		peak = max(peak, now) // one that has ended has none
		return large(ctx) && allQueued(ctx, namespace), nil
	})
	if err != nil {
		t.Fatalf("the queue and the large run: %v, %d MiB\n%s", err, peak, m.log)
	}
	fmt.Printf("%d × 900 kB of %d kinds by somebody else, 1,000 queued runs, 5,000 trials: at most %d MiB\n",
		each, len(foreignKinds), peak)
	if peak > most {
		t.Errorf("the manager took %d MiB, want at most %d", peak, most)
	}
}

func madeNamespace(t *testing.T, prefix string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
	create(t, namespace)
	return namespace.Name
}

// allQueued says whether the manager has looked at every run: each has conditions.
func allQueued(ctx context.Context, namespace string) bool {
	var runs v1alpha1.BenchmarkRunList
	if api.List(ctx, &runs, client.InNamespace(namespace)) != nil {
		return false
	}
	for i := range runs.Items {
		if len(runs.Items[i].Status.Conditions) == 0 {
			return false
		}
	}
	return len(runs.Items) == 1001
}

// bulk is as much text as an object has room for.
var bulk = strings.Repeat("x", 900_000)

// foreignMeta has the labels and owner references of Benchrun, forged, and annotations as large as the API server takes.
func foreignMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Labels: map[string]string{
			v1alpha1.LabelComponent: v1alpha1.ComponentAttempt, v1alpha1.LabelRun: name, v1alpha1.LabelRunUID: name, v1alpha1.LabelTrial: "1",
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun", Name: name, UID: "forged", Controller: ptr.To(true),
		}},
	}
}

// large fills an object by its metadata: annotations up to their bound, and labels, which have none. The API server adds their
// keys to the managed fields.
func large(meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Annotations = map[string]string{"benchrun.dev/any": bulk[:125_000], "example.com/any": bulk[:130_000]}
	for i := range 1500 {
		meta.Labels[fmt.Sprintf("%s.%s.%s/%05d%s", bulk[:63], bulk[:63], bulk[:63], i, bulk[:58])] = bulk[:63]
	}
	return meta
}

func foreignPod() corev1.PodSpec {
	return corev1.PodSpec{
		Containers:    []corev1.Container{{Name: "a", Image: "example.com/a", Args: []string{bulk}}},
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](0),
	}
}

// foreignKinds are the watched kinds, each with an object of 900 kB.
var foreignKinds = map[string]func(metav1.ObjectMeta) client.Object{
	"ConfigMap": func(m metav1.ObjectMeta) client.Object {
		return &corev1.ConfigMap{ObjectMeta: large(m)}
	},
	"Job": func(m metav1.ObjectMeta) client.Object {
		return &batchv1.Job{ObjectMeta: m, Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: foreignPod()},
		}}
	},
	"Pod": func(m metav1.ObjectMeta) client.Object { return &corev1.Pod{ObjectMeta: m, Spec: foreignPod()} },
	"StatefulSet": func(m metav1.ObjectMeta) client.Object {
		labels := map[string]string{"app": m.Name}
		template := foreignPod()
		template.RestartPolicy = corev1.RestartPolicyAlways
		return &appsv1.StatefulSet{ObjectMeta: m, Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template},
		}}
	},
	"Service": func(m metav1.ObjectMeta) client.Object {
		return &corev1.Service{ObjectMeta: large(m), Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 1}},
		}}
	},
	"PersistentVolumeClaim": func(m metav1.ObjectMeta) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: large(m), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		}}
	},
	"PodDisruptionBudget": func(m metav1.ObjectMeta) client.Object {
		return &policyv1.PodDisruptionBudget{ObjectMeta: large(m)}
	},
	"BenchmarkRun": func(m metav1.ObjectMeta) client.Object {
		run := testutil.MakeRun(m.Name, m.Namespace).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }).Obj()
		m.OwnerReferences = nil
		run.ObjectMeta = large(m)
		return run
	},
}
