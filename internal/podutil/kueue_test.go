// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

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
