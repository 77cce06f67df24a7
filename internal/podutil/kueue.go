// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// kueueGates begins the names of the scheduling gates of a Pod that Kueue has not admitted yet.
	kueueGates = "kueue.x-k8s.io/"
	// kueueTermination is the type of the condition that Kueue puts on a Pod before it deletes it.
	kueueTermination corev1.PodConditionType = "TerminationTarget"
)

// HeldByKueue says whether a Pod waits until Kueue admits it.
func HeldByKueue(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return strings.HasPrefix(g.Name, kueueGates)
	})
}

// WaitsForKueue says what has to happen before Kueue admits a Pod or Job. The database keeps its quota while the loader waits for
// more: two runs that share a queue can wait for each other. The message says what is needed, so that nobody has to guess it.
func WaitsForKueue(what, queue string) string {
	return fmt.Sprintf("Kueue has not admitted %s yet: LocalQueue %q needs quota for database and loader at the same time",
		what, queue)
}

// EvictedByKueue is Kueue's reason for deleting a Pod that it had admitted, or empty.
func EvictedByKueue(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == kueueTermination && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}
