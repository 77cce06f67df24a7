// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// ForeignContainers are the containers that run beside the loader in its Pod: those that an admission policy has added.
func ForeignContainers(pod *corev1.Pod) []string { return podutil.Beside(pod, Container) }

// begun says whether a Pod's loader runs or has ended, whatever its other containers wait for.
func begun(pod *corev1.Pod) bool {
	if s := podutil.Status(pod, Container); s != nil && (s.State.Running != nil || s.State.Terminated != nil) {
		return true
	}
	return pod.Status.Phase != corev1.PodPending
}

// failedBesideOthers says whether a loader has failed and its Pod goes on because of another container: the Job would not end.
func (l loaders) failedBesideOthers() bool {
	return slices.ContainsFunc(l.pods, func(pod corev1.Pod) bool {
		end := podutil.Ended(&pod, Container)
		return end != nil && end.ExitCode != 0 && slices.ContainsFunc(
			slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
			func(s corev1.ContainerStatus) bool { return s.Name != Container && s.State.Terminated == nil })
	})
}

// endedBefore says whether a loader failed on its own before a moment at which its Job was ended, because another container of
// its Pod lived on.
func (l loaders) endedBefore(moment time.Time) bool {
	pod := l.firstFailed()
	if pod == nil {
		return false
	}
	end := EndOf(pod)
	return !end.IsZero() && end.Before(moment)
}
