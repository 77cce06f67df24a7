// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// MayLoad says whether an object may still put load on a node at that time: a Pod that has not ended and is not cut off from its
// control plane, and what may still make Pods. What is being deleted makes none, however long it stays. Claims, Services,
// ConfigMaps and Secrets never load a node.
func MayLoad(object metav1.Object, now time.Time) bool {
	switch o := object.(type) {
	case *corev1.Pod:
		return o.Status.Phase != corev1.PodSucceeded && o.Status.Phase != corev1.PodFailed && !CutOff(o, now)
	case *batchv1.Job:
		return o.DeletionTimestamp == nil && !JobEnded(o)
	case *appsv1.StatefulSet:
		return o.DeletionTimestamp == nil
	case *unstructured.Unstructured: // a resource of the MariaDB operator
		return o.GetDeletionTimestamp() == nil
	}
	return false
}

// JobEnded says whether a Job will make no further Pod.
func JobEnded(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type != batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	})
}

// HeldUp says whether such a finalizer on what makes Pods keeps one of them at work. The garbage collector deletes them
// first if it is asked to.
func HeldUp(maker metav1.Object, pods ...corev1.Pod) bool {
	return IsKept(maker) && !slices.Contains(maker.GetFinalizers(), metav1.FinalizerDeleteDependents) &&
		slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// IsKept says whether an object that is being deleted stays because of a finalizer that is not Kubernetes' own. Nobody knows for
// how long.
func IsKept(object metav1.Object) bool {
	return object.GetDeletionTimestamp() != nil && slices.ContainsFunc(object.GetFinalizers(), func(finalizer string) bool {
		switch finalizer {
		case metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents, batchv1.JobTrackingFinalizer,
			"kubernetes.io/pvc-protection":
			return false
		}
		return true
	})
}
