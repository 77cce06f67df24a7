// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// sidecars are what a policy may add to a loader's Pod, and the state in which it is.
var sidecars = map[string]podChange{
	"a container that runs": beside(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.PodRunning),
	"a container that has no image": beside(
		corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}, corev1.PodPending),
	"a container without a state": beside(corev1.ContainerState{}, corev1.PodRunning),
	"a native sidecar that runs": func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "agent", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		p.Status.Phase = corev1.PodRunning
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{
			{Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	},
}

func beside(state corev1.ContainerState, phase corev1.PodPhase) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: trial.Container}, {Name: "agent"}}
		p.Status.Phase = phase
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "agent", State: state})
	}
}

// The end of the loader decides, whatever lives on beside it: nobody waits for a Job that does not end.
func TestSidecarDoesNotHoldTheEnd(t *testing.T) {
	for name, sidecar := range sidecars {
		t.Run(name, func(t *testing.T) {
			checkJudgements(t, map[string]judgement{
				"failed": {
					jobWith(),
					[]corev1.Pod{loader(leftFailure(result.CauseToolFailed), sidecar)},
					verdict{result.OutcomeFailed, result.CauseToolFailed, "the loader says so", true},
				},
				"out of memory": {
					jobWith(),
					[]corev1.Pod{loader(left(137, ""), outOfMemory, sidecar)},
					invalid(result.CauseOutOfMemory, "the loader ran out of memory and was killed: raise loader.resources.limits.memory"),
				},
				"succeeded": {
					jobWith(),
					[]corev1.Pod{loader(left(0, message("pod", "")), sidecar)},
					verdict{Outcome: result.OutcomeAccepted, HasSummary: true},
				},
				"one of three failed": {
					jobOfThree(),
					[]corev1.Pod{
						loader(of(0), left(1, message("pod-0", result.CauseToolFailed)), sidecar), loader(of(1), phase(corev1.PodRunning)),
					},
					verdict{result.OutcomeFailed, result.CauseToolFailed, "Pod 0: the loader says so", true},
				},
			})
		})
	}
}

// A loader measures although another container of its Pod waits, and has delivered when its document is whole.
func TestSidecarDoesNotHoldTheBeginning(t *testing.T) {
	running := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: trial.Container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	}
	for name, sidecar := range sidecars {
		pods := []corev1.Pod{loader(running, sidecar)}
		if v := trial.Judge(jobWith(), pods, nil); v.Stage != trial.StageRunning {
			t.Errorf("%s: %s, it waits for %q", name, v.Stage, v.Waiting)
		}
		if trial.Delivers(jobWith(), pods) == nil {
			t.Errorf("%s: its log is not followed", name)
		}
	}
}

// A Job may fail because of a container that is not the loader's, or because of one that lived on after the loader's end.
func TestSidecarThatFailsTheJob(t *testing.T) {
	failedBeside := beside(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}, corev1.PodFailed)
	overDeadline := func(after time.Duration) *batchv1.Job {
		c := condition(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
		c.LastTransitionTime = metav1.NewTime(ended.Add(after))
		return jobWith(c)
	}
	interrupted := verdict{
		result.OutcomeFailed, result.CauseDeadlineExceeded,
		"the attempt took longer than trials.deadlineSeconds allows (600 s): the loader says so", false,
	}
	checkJudgements(t, map[string]judgement{
		"the sidecar failed, the loader did not": {
			failedJob,
			[]corev1.Pod{loader(left(0, message("pod", "")), failedBeside)},
			verdict{Outcome: result.OutcomeAccepted, HasSummary: true},
		},
		"the loader failed long before the deadline": {
			overDeadline(time.Hour),
			[]corev1.Pod{loader(leftFailure(result.CauseToolFailed), sidecars["a container that runs"])},
			verdict{result.OutcomeFailed, result.CauseToolFailed, "the loader says so", true},
		},
		"the loader was told to stop": {
			overDeadline(-time.Second),
			[]corev1.Pod{loader(leftFailure(result.CauseInterrupted), sidecars["a container that runs"])},
			interrupted,
		},
	})
}

// ForeignContainers are those that run beside the loader, not those that have prepared its Pod.
func TestForeignContainers(t *testing.T) {
	pod := loader(beside(corev1.ContainerState{}, corev1.PodRunning))
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "install"}, {Name: "mesh", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
	}
	if got, want := trial.ForeignContainers(&pod), []string{"mesh", "agent"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
