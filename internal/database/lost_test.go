// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestLost(t *testing.T) {
	deleted := ptr.To(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	ended := func(reason string, code int32) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}
	}
	for name, tc := range map[string]struct {
		set  func(*appsv1.StatefulSet) *appsv1.StatefulSet
		pod  func(*corev1.Pod) *corev1.Pod
		want string
	}{
		"up":          {},
		"set gone":    {set: func(*appsv1.StatefulSet) *appsv1.StatefulSet { return nil }, want: "the database's StatefulSet was deleted"},
		"set is gone": {set: func(s *appsv1.StatefulSet) *appsv1.StatefulSet { s.DeletionTimestamp = deleted; return s }, want: "the database's StatefulSet was deleted"},
		"Pod gone":    {pod: func(*corev1.Pod) *corev1.Pod { return nil }, want: "the database's Pod is gone"},
		"Pod deleted": {pod: func(p *corev1.Pod) *corev1.Pod { p.DeletionTimestamp = deleted; return p }, want: "the database's Pod was deleted"},
		"evicted": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.DeletionTimestamp = deleted
				p.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler", Message: "preempted",
				}}
				return p
			},
			want: "the database's Pod was disrupted: PreemptionByScheduler: preempted",
		},
		"evicted by Kueue": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.DeletionTimestamp = deleted
				p.Status.Conditions = []corev1.PodCondition{{
					Type: "TerminationTarget", Status: corev1.ConditionTrue, Reason: "WorkloadEvicted", Message: "The ClusterQueue is stopped",
				}}
				return p
			},
			want: "Kueue evicted the database's Pod: The ClusterQueue is stopped",
		},
		"node lost": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Spec.NodeName, p.DeletionTimestamp = "worker", deleted
				p.Status.Conditions = []corev1.PodCondition{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"},
					{Type: corev1.PodReady, Status: corev1.ConditionFalse},
				}
				return p
			},
			want: "the database's node worker does not answer",
		},
		"out of memory": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = ended("OOMKilled", 137)
				return p
			},
			want: "the server ran out of memory and was killed: raise database.resources.limits.memory",
		},
		"ended": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: ended("Error", 1)}
				return p
			},
			want: "the server ended with exit code 1; its log is empty",
		},
		"restarted": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = ended("Completed", 0)
				return p
			},
			want: "the server ended with exit code 0; its log is empty",
		},
		"no status yet": {pod: func(p *corev1.Pod) *corev1.Pod { p.Status.ContainerStatuses = nil; return p }},
	} {
		t.Run(name, func(t *testing.T) {
			set, pod := &appsv1.StatefulSet{}, &corev1.Pod{}
			testutil.ReadyDatabasePod(pod)
			if tc.set != nil {
				set = tc.set(set)
			}
			if tc.pod != nil {
				pod = tc.pod(pod)
			}
			if got := (&database.Instance{Set: set, Pod: pod}).Lost(); got != tc.want {
				t.Errorf("lost: %q, want %q", got, tc.want)
			}
		})
	}
}
