// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func resources(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	if cpu != "" {
		list[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		list[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return list
}

func TestGuaranteed(t *testing.T) {
	cases := map[string]struct{ requested, want corev1.ResourceRequirements }{
		"nothing": {},
		"limits only": {
			corev1.ResourceRequirements{Limits: resources("2", "1Gi")},
			corev1.ResourceRequirements{Limits: resources("2", "1Gi"), Requests: resources("2", "1Gi")},
		},
		"a request that is said stays": {
			corev1.ResourceRequirements{Limits: resources("2", "1Gi"), Requests: resources("1", "")},
			corev1.ResourceRequirements{Limits: resources("2", "1Gi"), Requests: resources("1", "1Gi")},
		},
		"requests only": {
			corev1.ResourceRequirements{Requests: resources("1", "1Gi")},
			corev1.ResourceRequirements{Requests: resources("1", "1Gi")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.requested.DeepCopy()
			must.Same(t, "resources", tc.want, podutil.Guaranteed(tc.requested))
			if diff := cmp.Diff(*before, tc.requested); diff != "" {
				t.Errorf("what was asked was written to:\n%s", diff)
			}
		})
	}
}

func TestBindToNodes(t *testing.T) {
	name := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"worker"}}
	disk := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}
	zone := corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpExists}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	bound := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{name}}
	podsOnly := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	both := required(bound)
	both.PodAntiAffinity = &corev1.PodAntiAffinity{}
	preferred := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}},
	}}
	preferredBound := preferred.DeepCopy()
	preferredBound.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{bound},
	}
	expression := func(r corev1.NodeSelectorRequirement, fields ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}, MatchFields: fields}
	}
	cases := map[string]struct {
		affinity *corev1.Affinity
		nodes    []string
		want     *corev1.Affinity
	}{
		"no node, nothing":         {nil, []string{""}, nil},
		"no node, an affinity":     {required(expression(disk)), []string{""}, required(expression(disk))},
		"nothing":                  {nil, []string{"worker"}, required(bound)},
		"affinity to Pods":         {podsOnly, []string{"worker"}, both},
		"preferred nodes":          {preferred, []string{"worker"}, preferredBound},
		"a selector without terms": {required(), []string{"worker"}, required(bound)},
		"a required term":          {required(expression(disk)), []string{"worker"}, required(expression(disk, name))},
		"terms are alternatives":   {required(expression(disk), expression(zone)), []string{"worker"}, required(expression(disk, name), expression(zone, name))},
		"two nodes": {
			required(expression(disk), expression(zone)),
			[]string{"worker", "worker"},
			required(expression(disk, name), expression(disk, name), expression(zone, name), expression(zone, name)),
		},
		"a term that has fields too": {required(expression(disk, name)), []string{"worker"}, required(expression(disk, name, name))},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			before := tc.affinity.DeepCopy()
			must.Same(t, "affinity", tc.want, podutil.BindToNodes(tc.affinity, tc.nodes...))
			if diff := cmp.Diff(before, tc.affinity); diff != "" {
				t.Errorf("the affinity that was asked for was written to:\n%s", diff)
			}
		})
	}
}

func TestTolerations(t *testing.T) {
	lost := func(key string) corev1.Toleration {
		return corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](30),
		}
	}
	// The caller's slice has room behind its end, and something in it.
	backing := []corev1.Toleration{{Key: "mine"}, {Key: "untouched"}, {Key: "untouched"}}
	got := podutil.Tolerations(backing[:1])
	want := []corev1.Toleration{{Key: "mine"}, lost("node.kubernetes.io/not-ready"), lost("node.kubernetes.io/unreachable")}
	must.Same(t, "tolerations", want, got)
	if diff := cmp.Diff([]corev1.Toleration{{Key: "mine"}, {Key: "untouched"}, {Key: "untouched"}}, backing); diff != "" {
		t.Errorf("the caller's slice was written to:\n%s", diff)
	}
	if got := podutil.Tolerations(nil); len(got) != 2 {
		t.Errorf("without any: %v", got)
	}
}

func TestNodeLost(t *testing.T) {
	disrupted := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"}
	ready := func(status corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: status}
	}
	running := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ended := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	for name, tc := range map[string]struct {
		conditions []corev1.PodCondition
		container  corev1.ContainerStatus
		want       bool
	}{
		"running":                           {[]corev1.PodCondition{ready(corev1.ConditionTrue)}, running, false},
		"node does not answer yet":          {[]corev1.PodCondition{ready(corev1.ConditionFalse)}, running, false},
		"node was given up":                 {[]corev1.PodCondition{disrupted, ready(corev1.ConditionFalse)}, running, true},
		"evicted, and still running":        {[]corev1.PodCondition{disrupted, ready(corev1.ConditionTrue)}, running, false},
		"evicted, and ended by its kubelet": {[]corev1.PodCondition{disrupted, ready(corev1.ConditionFalse)}, ended, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions, ContainerStatuses: []corev1.ContainerStatus{tc.container}}}
			if got := podutil.NodeLost(pod); got != tc.want {
				t.Errorf("lost is %t", got)
			}
		})
	}
}

func TestHeldByKueue(t *testing.T) {
	for gate, want := range map[string]bool{
		"kueue.x-k8s.io/admission": true, "kueue.x-k8s.io/topology": true, "example.com/kueue.x-k8s.io": false, "": false,
	} {
		pod := &corev1.Pod{}
		if gate != "" {
			pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/other"}, {Name: gate}}
		}
		if got := podutil.HeldByKueue(pod); got != want {
			t.Errorf("gate %q: held is %t", gate, got)
		}
	}
}

func TestEvictedByKueue(t *testing.T) {
	condition := corev1.PodCondition{Type: "TerminationTarget", Status: corev1.ConditionTrue, Message: "Preempted"}
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady}, condition}}}
	if got := podutil.EvictedByKueue(pod); got != "Preempted" {
		t.Errorf("evicted: %q", got)
	}
	pod.Status.Conditions[1].Status = corev1.ConditionFalse
	if got := podutil.EvictedByKueue(pod); got != "" {
		t.Errorf("evicted: %q", got)
	}
}
