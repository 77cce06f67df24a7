// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// OOMKilled is the reason of a container's end if it exceeded its memory limit.
const OOMKilled = "OOMKilled"

// Find is the first in a list that is like that, or nil.
func Find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Status of a container or init container, or nil if the kubelet has not reported it.
func Status(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	is := func(s *corev1.ContainerStatus) bool { return s.Name == container }
	return cmp.Or(Find(pod.Status.InitContainerStatuses, is), Find(pod.Status.ContainerStatuses, is))
}

// Beside are the containers of a Pod that run beside those with the given names: not those that only prepare it.
func Beside(pod *corev1.Pod, own ...string) []string {
	var names []string
	for i, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		prepares := i < len(pod.Spec.InitContainers) && ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways
		if !prepares && !slices.Contains(own, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Ended is how a container ended, or nil until it has.
func Ended(pod *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	return ptr.Deref(Status(pod, container), corev1.ContainerStatus{}).State.Terminated
}

// ImageID is the digest of a container's image as the container runtime names it, or empty if the kubelet has not reported it.
func ImageID(pod *corev1.Pod, container string) string {
	return ptr.Deref(Status(pod, container), corev1.ContainerStatus{}).ImageID
}

// notExecutable is what the kernel answers (ENOEXEC) to a program for another processor. The container runtime says so in the
// state of the container, or in its log, which becomes its termination message.
const notExecutable = "exec format error"

// NotExecutable says which container's program the node cannot execute, or is empty. Another try on such a node would end as
// well.
func NotExecutable(pod *corev1.Pod) string {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		for _, end := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			if end != nil && end.ExitCode != 0 && strings.Contains(end.Message, notExecutable) {
				return fmt.Sprintf("node %s cannot execute image %s of container %s: it is for another processor (%s)",
					pod.Spec.NodeName, s.Image, s.Name, notExecutable)
			}
		}
	}
	return ""
}

// Condition of a Pod if it is true, or nil.
func Condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	return Find(pod.Status.Conditions, func(c *corev1.PodCondition) bool { return c.Type == t && c.Status == corev1.ConditionTrue })
}

// NodeLost says whether Kubernetes gave up a Pod because its node does not answer: the control plane has marked the Pod as not
// ready, but the last that the kubelet reported is that all containers are ready.
func NodeLost(pod *corev1.Pod) bool {
	if Condition(pod, corev1.DisruptionTarget) == nil || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	down := func(s corev1.ContainerStatus) bool { return !s.Ready || s.State.Running == nil }
	notReady := func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue }
	return slices.ContainsFunc(pod.Status.Conditions, notReady) && !slices.ContainsFunc(pod.Status.ContainerStatuses, down)
}

// CutOff says whether a Pod that is being deleted stays because its node does not answer: 30 s after the end of its grace period.
func CutOff(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && now.After(pod.DeletionTimestamp.Add(30*time.Second))
}

// Waiting says what a Pod that does not run yet waits for, in the cluster's words if it has any. The owner is "the database" or
// "the loader". The text is stable: it has no Pod names and no counters.
func Waiting(pod *corev1.Pod, owner string) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			return owner + "'s Pod cannot be scheduled: " + c.Message
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
			return strings.TrimSuffix(fmt.Sprintf("container %s is waiting: %s: %s", s.Name, w.Reason, w.Message), ": ")
		}
	}
	return owner + "'s Pod is starting"
}

// MayLoad says whether an object may still put load on a node at that time: a Pod that has not ended and is not cut off from its
// control plane, and what may still make Pods. What is being deleted makes none, however long it stays. Claims, Services,
// ConfigMaps and Secrets never load a node.
func MayLoad(object metav1.Object, now time.Time) bool {
	switch o := object.(type) {
	case *corev1.Pod:
		return o.Status.Phase != corev1.PodSucceeded && o.Status.Phase != corev1.PodFailed && !CutOff(o, now)
	case *batchv1.Job: // every condition but that is of its end
		return o.DeletionTimestamp == nil && !slices.ContainsFunc(o.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type != batchv1.JobSuspended && c.Status == corev1.ConditionTrue
		})
	case *appsv1.StatefulSet, *unstructured.Unstructured: // the latter is a resource of the MariaDB operator
		return object.GetDeletionTimestamp() == nil
	}
	return false
}

// HeldUp says whether such a finalizer on what makes Pods keeps one of them at work. The garbage collector deletes them
// first if it is asked to.
func HeldUp(maker metav1.Object, pods ...corev1.Pod) bool {
	return IsKept(maker) && !slices.Contains(maker.GetFinalizers(), metav1.FinalizerDeleteDependents) &&
		slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// IsKept says whether an object that is being deleted stays because of a finalizer that is not Kubernetes' own. For how long is
// unknown.
func IsKept(object metav1.Object) bool {
	own := []string{
		metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents, batchv1.JobTrackingFinalizer,
		"kubernetes.io/pvc-protection",
	}
	foreign := func(finalizer string) bool { return !slices.Contains(own, finalizer) }
	return object.GetDeletionTimestamp() != nil && slices.ContainsFunc(object.GetFinalizers(), foreign)
}

// insufficient is how the scheduler names a resource that nodes have not enough of.
var insufficient = regexp.MustCompile(`Insufficient ([a-z0-9./-]*[a-z0-9])`)

// Insufficient are the resources that no node has enough of for a Pod, in the scheduler's words and order, each once.
func Insufficient(pod *corev1.Pod) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		for _, match := range insufficient.FindAllStringSubmatch(c.Message, -1) {
			if name := corev1.ResourceName(match[1]); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// NoRoom says whether a Pod cannot be scheduled because no node has enough of a resource.
func NoRoom(pod *corev1.Pod) bool { return len(Insufficient(pod)) > 0 }

// Shortage says which resources a Pod that cannot be scheduled lacks, and how much of them it requests. The field is where they
// are specified, for example loader.resources. It is empty if the Pod does not wait for resources.
func Shortage(pod *corev1.Pod, field string) string {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	var lacks []string
	for _, name := range Insufficient(pod) {
		requested := requests[name]
		lacks = append(lacks, fmt.Sprintf("%s (it requests %s)", name, requested.String()))
	}
	if len(lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("no eligible node has enough %s: set %s.requests to what fits (they may be below the limits; "+
		"kubectl describe nodes says what is left), or free a node", strings.Join(lacks, " and "), field)
}
