// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/database"
)

// A container without which there is no server is given up when it has ended three times, and the message has its last words.
func TestStartIsGivenUp(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	backOff := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 20s"}}
	died := terminated("Error", "starting\nmmap failed\n\nAborted (core dumped)\n", 134)
	const last = "its log ends with: starting | mmap failed | Aborted (core dumped)"
	status := func(container string, restarts int32, state, last corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: container, RestartCount: restarts, State: state, LastTerminationState: last}
	}
	started := status("server", 7, running, died)
	started.Started, started.Ready = ptr.To(true), true
	for name, tc := range map[string]struct {
		init, main []corev1.ContainerStatus
		log        string
		want       database.State
	}{
		"once": {
			main: []corev1.ContainerStatus{status("server", 0, died, corev1.ContainerState{})},
			want: database.State{Waiting: "the server ended with exit code 134 before the database was up; " + last},
		},
		"twice": {
			main: []corev1.ContainerStatus{status("server", 1, backOff, died)},
			want: database.State{Waiting: "the server ended with exit code 134 before the database was up; " + last},
		},
		"twice, and started again": {
			main: []corev1.ContainerStatus{status("server", 2, running, died)}, want: database.State{Waiting: "the server is starting"},
		},
		"three times": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, died)},
			want: database.State{Broken: "the server ended 3 times with exit code 134 before the database was up; " + last},
		},
		"an image that does nothing": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, terminated("Completed", "", 0))}, log: "Hello from Docker!\n",
			want: database.State{
				Broken: "the server ended 3 times with exit code 0 before the database was up; its log ends with: Hello from Docker!",
			},
		},
		"no such program": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, terminated("StartError", "exec: not found", 128))},
			want: database.State{Broken: "the server ended 3 times with exit code 128 before the database was up; " +
				"its log ends with: exec: not found"},
		},
		"out of memory": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, terminated("OOMKilled", "", 137))},
			want: database.State{Broken: "the server ran out of memory and was killed 3 times before the database was up: " +
				"raise database.resources.limits.memory"},
		},
		"a container that prepares the volume": {
			init: []corev1.ContainerStatus{status("restore", 2, backOff, terminated("Error", "no space left", 1))},
			want: database.State{
				Broken: "container restore ended 3 times with exit code 1 before the database was up; its log ends with: no space left",
			},
		},
		"a container that has prepared it": {
			init: []corev1.ContainerStatus{status("probe", 5, terminated("Completed", "", 0), corev1.ContainerState{})},
			want: database.State{Waiting: "the database's Pod is starting"},
		},
		"the observer": {
			init: []corev1.ContainerStatus{status("observer", 5, backOff, died)}, main: []corev1.ContainerStatus{status("server", 0, running, corev1.ContainerState{})},
			want: database.State{Waiting: "the server is starting"},
		},
		"a server that is up": {main: []corev1.ContainerStatus{started}, want: database.State{Ready: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(func(p *corev1.Pod) {
				p.Status.PodIP, p.Status.InitContainerStatuses, p.Status.ContainerStatuses = "192.0.2.10", tc.init, tc.main
			})
			i := &database.Instance{Set: &appsv1.StatefulSet{}, Pod: p}
			if _, needed := i.NeedsLog(); needed {
				i.ServerLog = tc.log
			}
			if diff := cmp.Diff(tc.want, i.State()); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

// What the scheduler says of a claim that is not bound is nothing; the claim's own event says why.
func TestClaimThatCannotBeProvisioned(t *testing.T) {
	p := pod(unschedulable(corev1.ConditionFalse))
	i := &database.Instance{Set: &appsv1.StatefulSet{}, Pod: p, ClaimWarning: "failed to provision volume: no room"}
	if got, want := i.State().Waiting, "a volume of the database cannot be provisioned: failed to provision volume: no room"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
