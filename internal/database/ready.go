// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// State is how far a database instance is.
type State struct {
	// Ready: the server answers.
	Ready bool
	// Refused is the server's own error line, if it ended at once because of its configuration.
	Refused string
	// Waiting says what it is waiting for, in the cluster's words where it has any. Stable: no names of Pods, no counters.
	Waiting string
}

// Observe judges an instance by its StatefulSet and its Pod, either of which may be nil.
func Observe(set *appsv1.StatefulSet, pod *corev1.Pod) State {
	switch {
	case set == nil:
		return State{Waiting: "the database is being created"}
	case pod == nil:
		return State{Waiting: "the database's Pod is being created"}
	}
	if line := refusal(pod); line != "" {
		return State{Refused: line}
	}
	server := podutil.Status(pod, ServerContainer)
	if server != nil && server.Ready && pod.DeletionTimestamp == nil {
		return State{Ready: true}
	}
	return State{Waiting: waiting(pod, server)}
}

// refusal is the error line of a server that ended by itself before it was ever up.
func refusal(pod *corev1.Pod) string {
	server := podutil.Status(pod, ServerContainer)
	if server == nil || server.Started != nil && *server.Started {
		return ""
	}
	for _, end := range []*corev1.ContainerStateTerminated{server.State.Terminated, server.LastTerminationState.Terminated} {
		if end != nil && end.ExitCode != 0 && end.Reason != "OOMKilled" {
			if line := errorLine(end.Message); line != "" {
				return line
			}
		}
	}
	return ""
}

// errorLine finds the first line that says what was wrong: "Aborting" follows it and says nothing.
func errorLine(log string) string {
	for line := range strings.Lines(log) {
		_, text, found := strings.Cut(line, "[ERROR] ")
		text = strings.TrimSpace(text)
		if found && text != "" && text != "Aborting" {
			return text
		}
	}
	return ""
}

func waiting(pod *corev1.Pod, server *corev1.ContainerStatus) string {
	if pod.DeletionTimestamp != nil {
		return "the database's Pod is being deleted"
	}
	if server != nil && server.State.Running != nil {
		return "the server is starting"
	}
	return podutil.Waiting(pod, "the database")
}

// Restarted says whether the server was started more than once in this Pod.
func Restarted(pod *corev1.Pod) bool {
	server := podutil.Status(pod, ServerContainer)
	return server != nil && server.RestartCount > 0
}

// Lost says why an instance that was up is not the same any more: deleted, evicted, out of memory or restarted. It is empty
// as long as the server runs as it was started.
func Lost(set *appsv1.StatefulSet, pod *corev1.Pod) string {
	switch {
	case set == nil || set.DeletionTimestamp != nil:
		return "the database's StatefulSet was deleted"
	case pod == nil:
		return "the database's Pod is gone"
	}
	if c := podutil.Disruption(pod); c != nil {
		return fmt.Sprintf("the database's Pod was disrupted: %s: %s", c.Reason, c.Message)
	}
	server := podutil.Status(pod, ServerContainer)
	switch {
	case pod.DeletionTimestamp != nil:
		return "the database's Pod was deleted"
	case server == nil:
		return ""
	}
	for _, end := range []*corev1.ContainerStateTerminated{server.State.Terminated, server.LastTerminationState.Terminated} {
		switch {
		case end == nil:
		case end.Reason == "OOMKilled":
			return "the server was killed for its memory: raise database.resources.limits.memory"
		default:
			return fmt.Sprintf("the server ended with exit code %d", end.ExitCode)
		}
	}
	return ""
}

// Fingerprint is the probe's termination message; false as long as it has not ended well.
func Fingerprint(pod *corev1.Pod) (string, bool) {
	end := podutil.Ended(pod, ProbeContainer)
	if end == nil || end.ExitCode != 0 {
		return "", false
	}
	return end.Message, true
}
