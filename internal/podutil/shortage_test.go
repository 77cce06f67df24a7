// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// podOf requests that much.
func podOf(cpu, memory string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{"of": cpu}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources(cpu, memory)}}}},
	}
}

func roomOn(name, cpu, memory string, pods ...corev1.Pod) podutil.Room {
	return podutil.Room{
		Node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: resources(cpu, memory)},
		},
		Pods: pods,
	}
}

func TestShortage(t *testing.T) {
	const cpuOnly = "0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu. preemption: 0/3 nodes are available."
	tainted := roomOn("tainted", "64", "64Gi")
	tainted.Node.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	cordoned := roomOn("cordoned", "64", "64Gi")
	cordoned.Node.Spec.Unschedulable = true
	ended := podOf("2", "1Gi")
	ended.Status.Phase = corev1.PodSucceeded
	bound := podOf("1", "256Mi")
	bound.Spec.Affinity = podutil.BindToNodes(nil, "small")
	apart := podOf("1", "256Mi")
	apart.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"of": "500m"}}, TopologyKey: corev1.LabelHostname,
		}},
	}}
	for name, tc := range map[string]struct {
		pod     corev1.Pod
		message string
		rooms   []podutil.Room
		want    string
	}{
		"something else": {podOf("1", "256Mi"), "0/3 nodes are available: 3 node(s) had volume node affinity conflict.", nil, ""},
		"nodes unknown": {
			podOf("1", "256Mi"), cpuOnly, nil,
			"no eligible node has enough cpu (it requests 1): set loader.resources.requests to what fits (they may be below the limits), or free a node",
		},
		"the node with the most left": {
			podOf("1", "256Mi"), cpuOnly,
			[]podutil.Room{roomOn("full", "2", "4Gi", podOf("1900m", "1Gi")), tainted, roomOn("small", "2", "4Gi", podOf("960m", "1Gi"), podOf("500m", "1Gi"), ended), cordoned},
			"no eligible node has enough cpu (it requests 1); the most available is 540m of cpu, on node small: " +
				"set loader.resources.requests to what fits (they may be below the limits), or free a node",
		},
		"two resources": {
			podOf("1", "8Gi"), "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
			[]podutil.Room{roomOn("small", "2", "4Gi", podOf("1500m", "1Gi"))},
			"no eligible node has enough cpu (it requests 1) and memory (it requests 8Gi); the most available is 500m of cpu and 3Gi of memory, " +
				"on node small: set loader.resources.requests to what fits (they may be below the limits), or free a node",
		},
		"bound to a node": {
			bound, cpuOnly,
			[]podutil.Room{roomOn("small", "500m", "4Gi"), roomOn("large", "900m", "4Gi")},
			"no eligible node has enough cpu (it requests 1); the most available is 500m of cpu, on node small: " +
				"set loader.resources.requests to what fits (they may be below the limits), or free a node",
		},
		"apart from the database": {
			apart, cpuOnly,
			[]podutil.Room{roomOn("database", "1200m", "4Gi", podOf("500m", "1Gi")), roomOn("other", "200m", "4Gi")},
			"no eligible node has enough cpu (it requests 1); the most available is 200m of cpu, on node other: " +
				"set loader.resources.requests to what fits (they may be below the limits), or free a node",
		},
		"nothing left": {
			podOf("1", "256Mi"), cpuOnly,
			[]podutil.Room{roomOn("small", "2", "4Gi", podOf("3", "1Gi"))},
			"no eligible node has enough cpu (it requests 1); the most available is 0 of cpu, on node small: " +
				"set loader.resources.requests to what fits (they may be below the limits), or free a node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: tc.message,
			}}
			if got := podutil.Shortage(&tc.pod, "loader.resources", tc.rooms); got != tc.want {
				t.Errorf("shortage is\n%s, want\n%s", got, tc.want)
			}
		})
	}
	if zero := (resource.Quantity{}); zero.String() != "0" {
		t.Errorf("zero is %s", zero.String())
	}
}
