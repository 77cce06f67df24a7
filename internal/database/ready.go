// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
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

// State judges an instance by what exists of it.
func (i *Instance) State() State {
	switch {
	case i.Root() == nil:
		return State{Waiting: "the database is being created"}
	case i.Provisioner == v1alpha1.ProvisionerExternal:
		return State{Ready: true}
	case i.Pod == nil:
		return State{Waiting: i.withTrouble("the database's Pod is being created")}
	}
	if line := i.refusal(); line != "" {
		return State{Refused: line}
	}
	server := i.server()
	switch {
	case server == nil || !server.Ready || i.Pod.DeletionTimestamp != nil:
		return State{Waiting: i.waiting(server)}
	case i.Provisioner == v1alpha1.ProvisionerMariaDBOperator && !mariaDBReady(i.MariaDB):
		return State{Waiting: "the MariaDB operator is not done yet: " + mariaDBMessage(i.MariaDB)}
	}
	return State{Ready: true}
}

// server is the status of the server's container, nil as long as it is not known.
func (i *Instance) server() *corev1.ContainerStatus {
	if i.Pod == nil {
		return nil
	}
	return podutil.Status(i.Pod, i.container())
}

func (i *Instance) container() string {
	if i.Provisioner == v1alpha1.ProvisionerMariaDBOperator {
		return mariaDBContainer
	}
	return ServerContainer
}

// Image is the digest of the server's image as the container runtime names it; empty as long as it is not known.
func (i *Instance) Image() string {
	if server := i.server(); server != nil {
		return server.ImageID
	}
	return ""
}

func (i *Instance) withTrouble(waiting string) string {
	if i.Trouble == "" {
		return waiting
	}
	return waiting + ": " + i.Trouble
}

// refusal is the error line of a server that ended by itself before it was ever up.
func (i *Instance) refusal() string {
	for _, end := range i.earlyEnds() {
		if line := engine.ErrorLine(end.Message + i.LastWords); line != "" {
			return line
		}
	}
	return ""
}

// earlyEnds are those of a server that was never up, and had an end of its own making.
func (i *Instance) earlyEnds() []*corev1.ContainerStateTerminated {
	server := i.server()
	if server == nil || server.Started != nil && *server.Started {
		return nil
	}
	var ends []*corev1.ContainerStateTerminated
	for _, end := range []*corev1.ContainerStateTerminated{server.State.Terminated, server.LastTerminationState.Terminated} {
		if end != nil && end.ExitCode != 0 && end.Reason != "OOMKilled" {
			ends = append(ends, end)
		}
	}
	return ends
}

// Speechless names the container of a server that ended by itself before it was ever up, and left nothing but its log: the
// MariaDB operator's have no termination message.
func (i *Instance) Speechless() (container string, speechless bool) {
	for _, end := range i.earlyEnds() {
		if end.Message == "" {
			return i.container(), true
		}
	}
	return "", false
}

func (i *Instance) waiting(server *corev1.ContainerStatus) string {
	if i.Pod.DeletionTimestamp != nil {
		return "the database's Pod is being deleted"
	}
	if server != nil && server.State.Running != nil {
		return "the server is starting"
	}
	return i.withTrouble(podutil.Waiting(i.Pod, "the database"))
}

// restarted says whether the server was started more than once in its Pod.
func (i *Instance) restarted() bool {
	server := i.server()
	return server != nil && server.RestartCount > 0
}

// Lost says why an instance that was up is not the same any more: deleted, evicted, out of memory, restarted or cut off. It
// is empty as long as the server runs as it was started, and for a server that is not in the cluster's hands. A nil instance
// is gone.
func (i *Instance) Lost() string {
	switch {
	case i == nil:
		return "the database is gone"
	case i.Provisioner == v1alpha1.ProvisionerExternal:
		return ""
	case i.Going():
		return "the database's " + i.rootKind() + " was deleted"
	case i.Pod == nil:
		return "the database's Pod is gone"
	case podutil.NodeLost(i.Pod):
		return "the database's node " + i.Pod.Spec.NodeName + " does not answer"
	}
	if c := podutil.Disruption(i.Pod); c != nil {
		return fmt.Sprintf("the database's Pod was disrupted: %s: %s", c.Reason, c.Message)
	}
	server := i.server()
	switch {
	case i.Pod.DeletionTimestamp != nil:
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

func (i *Instance) rootKind() string {
	if i.Provisioner == v1alpha1.ProvisionerMariaDBOperator {
		return mariaDBKind.Kind
	}
	return "StatefulSet"
}

// readySince is since when the Pod is ready; the zero time as long as it is not.
func (i *Instance) readySince() time.Time {
	if i.Pod == nil {
		return time.Time{}
	}
	for _, c := range i.Pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// Interrupted says why what was measured since a time is of no use, although the instance is the same: its node was not
// ready in the meantime, so nobody knows what became of its time. It is empty if nothing is known to have happened.
func (i *Instance) Interrupted(since time.Time) string {
	if i == nil || !i.readySince().After(since) {
		return ""
	}
	return "the database's Pod was not ready in the meantime: its node " + i.Pod.Spec.NodeName + " did not answer"
}

// Fingerprint is the probe's termination message; false as long as it has not ended well.
func Fingerprint(pod *corev1.Pod) (string, bool) {
	end := podutil.Ended(pod, ProbeContainer)
	if end == nil || end.ExitCode != 0 {
		return "", false
	}
	return end.Message, true
}
