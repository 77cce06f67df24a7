// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

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

// Room is what a node has left for Pods.
type Room struct {
	// Node is the node, with its labels, taints and allocatable resources.
	Node *corev1.Node
	// Pods are those that are bound to it.
	Pods []corev1.Pod
}

// Neighbor is what Shortage reads of another Pod on a node, for a Pod: what it requests of the same resources, and the labels
// that the Pod asks about. Strangers may have filled the rest.
func Neighbor(pod, other *corev1.Pod) corev1.Pod {
	requested, theirs := corev1.ResourceList{}, resource.PodRequests(other, resource.PodResourcesOptions{})
	for name := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		if amount, found := theirs[name]; found {
			requested[name] = amount
		}
	}
	kept := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: other.Namespace},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requested}}}},
		Status:     corev1.PodStatus{Phase: other.Status.Phase},
	}
	for _, key := range avoided(pod) {
		if value, found := other.Labels[key]; found {
			metav1.SetMetaDataLabel(&kept.ObjectMeta, key, value)
		}
	}
	return kept
}

// avoided are the keys of the labels by which a Pod avoids others.
func avoided(pod *corev1.Pod) []string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	var keys []string
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.LabelSelector == nil {
			continue
		}
		keys = slices.AppendSeq(keys, maps.Keys(term.LabelSelector.MatchLabels))
		for _, expression := range term.LabelSelector.MatchExpressions {
			keys = append(keys, expression.Key)
		}
	}
	return keys
}

// Shortage says which resources a Pod that cannot be scheduled lacks, how much it requests, and how much would fit on the node
// that has the most of the first one left. The field is where its resources are specified, for example loader.resources. Without
// rooms it does not say what would fit. It is empty if the Pod does not wait for resources.
func Shortage(pod *corev1.Pod, field string, rooms []Room) string {
	missing := Insufficient(pod)
	if len(missing) == 0 {
		return ""
	}
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	var lacks, fits []string
	best, node := largest(pod, missing[0], rooms)
	for _, name := range missing {
		requested := requests[name]
		lacks = append(lacks, fmt.Sprintf("%s (it requests %s)", name, requested.String()))
		if left := best[name]; node != "" && left.Cmp(requested) < 0 {
			fits = append(fits, fmt.Sprintf("%s of %s", left.String(), name))
		}
	}
	text := "no eligible node has enough " + strings.Join(lacks, " and ")
	if len(fits) > 0 {
		text += fmt.Sprintf("; the most available is %s, on node %s", strings.Join(fits, " and "), node)
	}
	return text + fmt.Sprintf(": set %s.requests to what fits (they may be below the limits), or free a node", field)
}

// largest is what is left on the node that has the most of a resource left for the Pod, and the node's name, if there is one.
func largest(pod *corev1.Pod, name corev1.ResourceName, rooms []Room) (best corev1.ResourceList, node string) {
	for i := range rooms {
		r := &rooms[i]
		if !r.admits(pod) {
			continue
		}
		left := r.left()
		amount, most := left[name], best[name]
		if node == "" || amount.Cmp(most) > 0 {
			best, node = left, r.Node.Name
		}
	}
	return best, node
}

// admits says whether a Pod may use the node, apart from its resources.
func (r *Room) admits(pod *corev1.Pod) bool {
	repels := func(taint *corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule }
	_, tainted := schedulinghelpers.FindMatchingUntoleratedTaint(
		logr.Discard(), r.Node.Spec.Taints, pod.Spec.Tolerations, repels, false)
	if tainted {
		return false
	}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(r.Node); err != nil || !fits {
		return false
	}
	return !r.Node.Spec.Unschedulable && !slices.ContainsFunc(r.Pods, func(other corev1.Pod) bool { return avoids(pod, &other) })
}

// avoids says whether a Pod must not share a node with another one of its namespace.
func avoids(pod, other *corev1.Pod) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil || pod.Namespace != other.Namespace {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		func(term corev1.PodAffinityTerm) bool {
			selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			return err == nil && selector.Matches(labels.Set(other.Labels))
		})
}

// left is what the node's Pods do not request. It is not below zero.
func (r *Room) left() corev1.ResourceList {
	left := r.Node.Status.Allocatable.DeepCopy()
	for i := range r.Pods {
		if phase := r.Pods[i].Status.Phase; phase == corev1.PodSucceeded || phase == corev1.PodFailed {
			continue
		}
		for name, requested := range resource.PodRequests(&r.Pods[i], resource.PodResourcesOptions{}) {
			amount, found := left[name]
			if !found {
				continue
			}
			if amount.Sub(requested); amount.Sign() < 0 {
				amount = apiresource.Quantity{Format: amount.Format}
			}
			left[name] = amount
		}
	}
	return left
}
