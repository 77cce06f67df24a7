// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// refusalLog is what a server writes that does not know a variable.
const refusalLog = `2026-01-02  3:04:05 0 [Note] Starting MariaDB 11.8.3-MariaDB-ubu2404 as process 1
2026-01-02  3:04:05 0 [Warning] option 'x': value adjusted
2026-01-02  3:04:05 0 [ERROR] 
2026-01-02  3:04:05 0 [ERROR] Aborting
2026-01-02  3:04:05 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'innodb_nonsense=1'
2026-01-02  3:04:05 0 [ERROR] Something that follows from it
`

func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "run-db1-0"}}
	for _, change := range changes {
		change(p)
	}
	return p
}

// server sets the status of the server's container.
func server(s corev1.ContainerStatus) func(*corev1.Pod) {
	s.Name = database.ServerContainer
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{s} }
}

// waiting sets what an init container waits for.
func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: database.ProbeContainer, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}
	}
}

func terminated(reason, log string, exitCode int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: reason, Message: log}}
}

func unschedulable(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "not this one"},
			{Type: corev1.PodScheduled, Status: status, Message: "0/3 nodes are available"},
		}
	}
}

// held is what the API server makes of a Pod that Kueue has yet to admit.
func held(p *corev1.Pod) {
	p.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "bench"}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
		Message: "Scheduling is blocked due to non-empty scheduling gates",
	}}
}

func beingDeleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func TestObserve(t *testing.T) {
	const unknown = "/usr/sbin/mariadbd: unknown variable 'innodb_nonsense=1'"
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	backOff := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s"}}
	starting := database.State{Waiting: "the database's Pod is starting"}
	cases := map[string]struct {
		noSet bool
		pod   *corev1.Pod
		want  database.State
	}{
		"nothing": {noSet: true, want: database.State{Waiting: "the database is being created"}},
		"a Pod that has lost its StatefulSet": {
			noSet: true, pod: pod(testutil.ReadyDatabasePod), want: database.State{Waiting: "the database is being created"},
		},
		"no Pod":        {want: database.State{Waiting: "the database's Pod is being created"}},
		"no status":     {pod: pod(), want: starting},
		"scheduled":     {pod: pod(unschedulable(corev1.ConditionTrue)), want: starting},
		"unschedulable": {pod: pod(unschedulable(corev1.ConditionFalse)), want: database.State{Waiting: "the database's Pod cannot be scheduled: 0/3 nodes are available"}},
		"held by Kueue": {pod: pod(held), want: database.State{
			Waiting: `Kueue has not admitted the database's Pod yet: LocalQueue "bench" needs quota for database and loader at the same time`,
			Held:    true,
		}},
		"held by somebody else": {
			pod: pod(held, func(p *corev1.Pod) { p.Spec.SchedulingGates[0].Name = "example.com/gate" }),
			want: database.State{
				Waiting: "the database's Pod cannot be scheduled: Scheduling is blocked due to non-empty scheduling gates",
			},
		},
		"image of the probe is not found": {
			pod: pod(waiting("ImagePullBackOff", "no such image")), want: database.State{Waiting: "container probe is waiting: ImagePullBackOff: no such image"},
		},
		"waiting without a message": {pod: pod(waiting("ErrImagePull", "")), want: database.State{Waiting: "container probe is waiting: ErrImagePull"}},
		"being created":             {pod: pod(waiting("ContainerCreating", "")), want: starting},
		"initializing":              {pod: pod(waiting("PodInitializing", "")), want: starting},
		"image of the server is not found": {
			pod: pod(server(corev1.ContainerStatus{State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
			}})),
			want: database.State{Waiting: "container server is waiting: ImagePullBackOff: no such image"},
		},
		"server is starting": {
			pod: pod(server(corev1.ContainerStatus{State: running, Started: ptr.To(false)})), want: database.State{Waiting: "the server is starting"},
		},
		"ready": {pod: pod(testutil.ReadyDatabasePod), want: database.State{Ready: true}},
		"ready, and being deleted": {
			pod: pod(testutil.ReadyDatabasePod, beingDeleted), want: database.State{Waiting: "the database's Pod is being deleted"},
		},
		"refused, and waiting to be started again": {
			pod: pod(func(p *corev1.Pod) { testutil.RefusedDatabasePod(p, refusalLog) }), want: database.State{Refused: unknown},
		},
		"refused just now": {
			pod: pod(server(corev1.ContainerStatus{State: terminated("Error", refusalLog, 1)})), want: database.State{Refused: unknown},
		},
		"refused, and started again": {
			pod:  pod(server(corev1.ContainerStatus{State: running, Started: ptr.To(false), LastTerminationState: terminated("Error", refusalLog, 7)})),
			want: database.State{Refused: unknown},
		},
		"out of memory is no refusal": {
			pod: pod(server(corev1.ContainerStatus{State: backOff, LastTerminationState: terminated("OOMKilled", refusalLog, 137)})),
			want: database.State{
				Waiting: "the server ran out of memory and was killed before the database was up: raise database.resources.limits.memory",
			},
		},
		"a good end is no refusal": {
			pod: pod(server(corev1.ContainerStatus{State: backOff, LastTerminationState: terminated("Completed", "over", 0)})),
			want: database.State{
				Waiting: "the server ended with exit code 0 before the database was up; its log ends with: over",
			},
		},
		"an end without an error line is no refusal": {
			pod: pod(server(corev1.ContainerStatus{State: backOff, LastTerminationState: terminated("Error", "[ERROR] Aborting\n[ERROR] \nkilled", 1)})),
			want: database.State{Waiting: "the server ended with exit code 1 before the database was up; " +
				"its log ends with: [ERROR] Aborting | [ERROR] | killed"},
		},
		"an error of a server that is up again is no refusal": {
			pod: pod(server(corev1.ContainerStatus{
				State: running, Ready: true, Started: ptr.To(true), RestartCount: 1, LastTerminationState: terminated("Error", refusalLog, 1),
			}), func(p *corev1.Pod) { p.Status.PodIP = "192.0.2.10" }),
			want: database.State{Ready: true},
		},
		"a probe for another processor": {
			pod: pod(func(p *corev1.Pod) {
				p.Spec.NodeName = "worker"
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
					Name: database.ProbeContainer, Image: "loader:arm64", State: backOff,
					LastTerminationState: terminated("Error", "exec /loader: exec format error", 255),
				}}
			}),
			want: database.State{
				Broken: "node worker cannot execute image loader:arm64 of container probe: it is for another processor (exec format error)",
			},
		},
		"an error of another container is no refusal": {
			pod: pod(func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: database.ProbeContainer, State: terminated("Error", "[ERROR] no", 1)}}
			}),
			want: database.State{
				Waiting: "container probe ended with exit code 1 before the database was up; its log ends with: [ERROR] no",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{}
			if tc.noSet {
				set = nil
			}
			if diff := cmp.Diff(tc.want, (&database.Instance{Set: set, Pod: tc.pod}).State()); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFactsOfThePod(t *testing.T) {
	probe := func(state corev1.ContainerState) *corev1.Pod {
		return pod(func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: database.ProbeContainer, State: state}}
		})
	}
	cases := map[string]struct {
		pod         *corev1.Pod
		fingerprint string
		known       bool
		image       string
	}{
		"no status":         {pod: pod()},
		"up":                {pod(testutil.ReadyDatabasePod), testutil.Fingerprint, true, "mariadb@sha256:2222"},
		"probe is running":  {pod: probe(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})},
		"probe has failed":  {pod: probe(terminated("Error", "panic", 2))},
		"probe has no text": {pod: probe(terminated("Completed", "", 0)), known: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fingerprint, known := database.Fingerprint(tc.pod)
			if fingerprint != tc.fingerprint || known != tc.known {
				t.Errorf("fingerprint is %q, %t", fingerprint, known)
			}
			if got := (&database.Instance{Pod: tc.pod}).Image(); got != tc.image {
				t.Errorf("image is %q", got)
			}
		})
	}
}
