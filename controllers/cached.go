// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Anybody may make objects with the labels of Benchrun in his own namespace, and fill them. The cache therefore keeps of each
// object only what the operator reads.

var cachedLabels = []string{
	v1alpha1.LabelRun, v1alpha1.LabelRunUID, v1alpha1.LabelComponent, v1alpha1.LabelInstance, v1alpha1.LabelTrial,
	v1alpha1.LabelAttempt, v1alpha1.LabelOutcome, v1alpha1.LabelLane, v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority,
	kueuePodGroup,
}

// annotationBytes are the annotations of a kind that are read, each with its bound: more than the operator writes. One that is
// longer is not the operator's.
func annotationBytes(o client.Object) map[string]int {
	switch o.(type) {
	case *batchv1.Job:
		return map[string]int{neighborsAnnotation: 64 << 10, trial.AnnotationInstances: 256}
	case *corev1.Pod:
		return map[string]int{database.AnnotationBlockIO: 256, batchv1.JobCompletionIndexAnnotation: 16}
	}
	return nil
}

// Bounds of what is kept of lists and specifications: more than those of Benchrun's own objects have.
const (
	cachedFinalizers = 16
	cachedSpecBytes  = 32 << 10
)

// Cached reduces an object to what the operator reads in its cache. Leases are written back whole, and stand in namespaces of the
// operator's choice: they only lose their managed fields.
func Cached(object any) (any, error) {
	o, is := object.(client.Object)
	if !is {
		return object, nil
	}
	o.SetManagedFields(nil)
	if _, lease := object.(*coordinationv1.Lease); lease {
		return object, nil
	}
	cacheMetadata(o)
	switch one := object.(type) {
	case *corev1.Pod:
		one.Spec = cachedPod(&one.Spec)
	case *batchv1.Job:
		one.Spec = batchv1.JobSpec{
			Completions: one.Spec.Completions, Parallelism: one.Spec.Parallelism, Suspend: one.Spec.Suspend,
			ActiveDeadlineSeconds: one.Spec.ActiveDeadlineSeconds,
		}
	case *appsv1.StatefulSet:
		others := func(c corev1.Container) bool { return c.Name != database.ObserverContainer }
		observer := slices.DeleteFunc(one.Spec.Template.Spec.InitContainers, others)
		one.Spec = appsv1.StatefulSetSpec{Replicas: one.Spec.Replicas}
		one.Spec.Template.Spec.InitContainers = cachedContainers(observer) // it is said when a LimitRange refuses it
	case *unstructured.Unstructured:
		kept := map[string]any{"apiVersion": one.Object["apiVersion"], "kind": one.Object["kind"], "metadata": one.Object["metadata"]}
		if status, is := one.Object["status"].(map[string]any); is {
			kept["status"] = map[string]any{"conditions": status["conditions"]}
		}
		one.Object = kept
	case *corev1.Service:
		one.Spec, one.Status = corev1.ServiceSpec{}, corev1.ServiceStatus{}
	case *corev1.PersistentVolumeClaim:
		one.Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: one.Spec.StorageClassName}
		one.Status = corev1.PersistentVolumeClaimStatus{Phase: one.Status.Phase}
	case *policyv1.PodDisruptionBudget:
		one.Spec, one.Status = policyv1.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetStatus{}
	}
	return object, nil
}

// CachedItems are the objects of a list, reduced, in memory of their own: the list itself can go.
func CachedItems(list runtime.Object) ([]runtime.Object, error) {
	var items []runtime.Object
	err := apimeta.EachListItemWithAlloc(list, func(object runtime.Object) error {
		_, err := Cached(object)
		items = append(items, object)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the objects of a list: %w", err)
	}
	return items, nil
}

func cacheMetadata(o client.Object) {
	bounds := annotationBytes(o)
	o.SetAnnotations(only(o.GetAnnotations(), func(key, value string) bool {
		most, read := bounds[key]
		return read && len(value) <= most
	}))
	o.SetLabels(only(o.GetLabels(), func(key, _ string) bool { return slices.Contains(cachedLabels, key) }))
	var owners []metav1.OwnerReference
	if controller := metav1.GetControllerOf(o); controller != nil {
		owners = []metav1.OwnerReference{*controller}
	}
	o.SetOwnerReferences(owners)
	if finalizers := o.GetFinalizers(); len(finalizers) > cachedFinalizers {
		o.SetFinalizers(slices.Clone(finalizers[:cachedFinalizers]))
	}
}

// only what is to be kept, or nil.
func only(from map[string]string, keep func(key, value string) bool) map[string]string {
	var kept map[string]string
	for key, value := range from {
		if !keep(key, value) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[key] = value
	}
	return kept
}

func cachedPod(spec *corev1.PodSpec) corev1.PodSpec {
	kept := corev1.PodSpec{
		NodeName: spec.NodeName, NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		SchedulingGates: spec.SchedulingGates, Overhead: spec.Overhead, Resources: spec.Resources,
		InitContainers: cachedContainers(spec.InitContainers), Containers: cachedContainers(spec.Containers),
	}
	if kept.Size() > cachedSpecBytes {
		return corev1.PodSpec{NodeName: spec.NodeName}
	}
	return kept
}

func cachedContainers(list []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range list {
		kept = append(kept, corev1.Container{Name: list[i].Name, Resources: list[i].Resources, RestartPolicy: list[i].RestartPolicy})
	}
	return kept
}

// Scope has the namespaces that a manager works in; empty is all.
type Scope []string

// Runs in the scope, as a reader has them: those of a cache must not be changed.
func (s Scope) Runs(ctx context.Context, reader client.Reader) ([]v1alpha1.BenchmarkRun, error) {
	namespaces := []string(s)
	if len(s) == 0 {
		namespaces = []string{""}
	}
	var all []v1alpha1.BenchmarkRun
	for _, namespace := range namespaces {
		var runs v1alpha1.BenchmarkRunList
		if err := reader.List(ctx, &runs, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing runs: %w", err)
		}
		if len(namespaces) == 1 {
			return runs.Items, nil
		}
		all = append(all, runs.Items...)
	}
	return all, nil
}
