// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	// Broken says why no waiting helps: the node cannot execute one of the images, or a container has ended too often.
	Broken string
	// Waiting says what it waits for, in the cluster's words if it has any. It is stable: no Pod names, no counters.
	Waiting string
	// Held: it waits until Kueue admits its Pod.
	Held bool
	// NoRoom: no node has enough of a resource that its Pod requests.
	NoRoom bool
}

// State of an instance by its objects.
func (i *Instance) State() State {
	switch {
	case i.Root() == nil:
		return State{Waiting: "the database is being created"}
	case i.Provisioner == v1alpha1.ProvisionerExternal:
		return State{Ready: true}
	case i.Pod == nil:
		return State{Waiting: i.withWarning("the database's Pod is being created")}
	}
	if line := i.refusal(); line != "" {
		return State{Refused: line}
	}
	if broken := podutil.NotExecutable(i.Pod); broken != "" {
		return State{Broken: broken}
	}
	if ended, tooOften := i.startEnded(); tooOften {
		return State{Broken: ended}
	}
	server := i.server()
	switch {
	case server == nil || !server.Ready || i.Pod.DeletionTimestamp != nil:
		return State{Waiting: i.waiting(server), Held: podutil.HeldByKueue(i.Pod), NoRoom: podutil.NoRoom(i.Pod)}
	case i.Provisioner == v1alpha1.ProvisionerMariaDBOperator && mariaDBUnready(i.MariaDB) != "":
		return State{Waiting: "the MariaDB operator has not finished yet: " + mariaDBUnready(i.MariaDB)}
	case i.Pod.Status.PodIP == "":
		return State{Waiting: "the database's Pod has no address yet"}
	}
	return State{Ready: true}
}

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

// Image is the digest of the server's image as the container runtime names it, or empty if the kubelet has not reported it.
func (i *Instance) Image() string {
	if server := i.server(); server != nil {
		return server.ImageID
	}
	return ""
}

func (i *Instance) withWarning(waiting string) string {
	if i.Warning == "" {
		return waiting
	}
	return waiting + ": " + i.Warning + i.observerTooSmall()
}

// observerTooSmall says what to do if a LimitRange of the namespace wants more for each container than the observer asks for: its
// message names no container, and the user's own are large enough.
func (i *Instance) observerTooSmall() string {
	if i.Set == nil || !strings.Contains(i.Warning, " per Container is ") || !strings.Contains(i.Warning, "minimum ") {
		return ""
	}
	for _, c := range i.Set.Spec.Template.Spec.InitContainers {
		if c.Name == ObserverContainer {
			return fmt.Sprintf("; the observer requests %s of CPU and %s of memory: set database.observer to Disabled to leave it out",
				c.Resources.Requests.Cpu(), c.Resources.Requests.Memory())
		}
	}
	return ""
}

// refusal is the error line of a server that exited before it was ever up, unless that was because of the memory limit.
func (i *Instance) refusal() string {
	server := i.server()
	if server == nil || server.Started != nil && *server.Started {
		return ""
	}
	for _, end := range []*corev1.ContainerStateTerminated{server.State.Terminated, server.LastTerminationState.Terminated} {
		if end == nil || end.ExitCode == 0 || end.Reason == podutil.OOMKilled {
			continue
		}
		if line := engine.ErrorLine(end.Message + i.ServerLog); line != "" {
			return line
		}
	}
	return ""
}

// NeedsLog names the container of a server that failed to start, if its log is the only place that can say why: the containers of
// the MariaDB operator have no termination message.
func (i *Instance) NeedsLog() (container string, needed bool) {
	needed = slices.ContainsFunc(i.endings(), func(e ending) bool {
		return e.container == i.container() && e.last.Message == "" && e.last.Reason != podutil.OOMKilled
	})
	return i.container(), needed
}

func (i *Instance) waiting(server *corev1.ContainerStatus) string {
	ended, _ := i.startEnded()
	switch {
	case i.Pod.DeletionTimestamp != nil:
		return "the database's Pod is being deleted"
	case server != nil && server.State.Running != nil:
		return "the server is starting"
	case podutil.HeldByKueue(i.Pod):
		return i.withWarning(podutil.WaitsForKueue("the database's Pod", i.Pod.Labels[v1alpha1.LabelKueueQueue]))
	case ended != "":
		return ended
	case i.ClaimWarning != "":
		return "a volume of the database cannot be provisioned: " + i.ClaimWarning
	}
	return i.withWarning(podutil.Waiting(i.Pod, "the database"))
}

// Lost says how an instance that was up was lost: it was deleted, evicted, killed or restarted, or its node does not answer. It
// is empty while the server runs, and always for an external server. A nil instance is gone.
func (i *Instance) Lost() string {
	switch {
	case i == nil:
		return "the database is gone"
	case i.Provisioner == v1alpha1.ProvisionerExternal:
		return ""
	case i.Going() && i.Provisioner == v1alpha1.ProvisionerMariaDBOperator:
		return "the database's MariaDB was deleted"
	case i.Going():
		return "the database's StatefulSet was deleted"
	case i.Pod == nil:
		return "the database's Pod is gone"
	case podutil.NodeLost(i.Pod):
		return "the database's node " + i.Pod.Spec.NodeName + " does not answer"
	}
	if c := podutil.Condition(i.Pod, corev1.DisruptionTarget); c != nil {
		return fmt.Sprintf("the database's Pod was disrupted: %s: %s", c.Reason, c.Message)
	}
	if reason := podutil.EvictedByKueue(i.Pod); reason != "" {
		return "Kueue evicted the database's Pod: " + reason
	}
	server := i.server()
	switch {
	case i.Pod.DeletionTimestamp != nil:
		return "the database's Pod was deleted"
	case server == nil:
		return ""
	}
	switch end := cmp.Or(server.State.Terminated, server.LastTerminationState.Terminated); {
	case end == nil:
		return ""
	case end.Reason == podutil.OOMKilled:
		return "the server ran out of memory and was killed: raise database.resources.limits.memory"
	default:
		return fmt.Sprintf("the server ended with exit code %d; %s", end.ExitCode, lastLines(end.Message))
	}
}

// Interrupted says why a measurement that began at the given time does not count although the instance is the same: its node was
// not ready in the meantime, and may have stood still. The control plane then marks the Pod as not ready, but not its containers:
// if they were not ready either, the kubelet has said so, of the observer or of a container that an admission policy has added.
func (i *Instance) Interrupted(since time.Time) string {
	if i == nil || i.Pod == nil {
		return ""
	}
	became := func(condition corev1.PodConditionType) bool {
		c := podutil.Condition(i.Pod, condition)
		return c != nil && c.LastTransitionTime.After(since)
	}
	if !became(corev1.PodReady) || became(corev1.ContainersReady) {
		return ""
	}
	return "the database's Pod was not ready in the meantime: its node " + i.Pod.Spec.NodeName + " did not answer"
}

// ForeignContainers are the containers that run beside the server and the observer: those that an admission policy has added.
func (i *Instance) ForeignContainers() []string {
	if i.Pod == nil {
		return nil
	}
	return podutil.Beside(i.Pod, i.container(), ObserverContainer)
}

// Disk is the name of the disk below the data volume, or false if the Pod has not said it. Its node can be tuned then.
func Disk(pod *corev1.Pod) (string, bool) { return left(pod, DiskContainer) }

// Fingerprint is the probe's termination message, or false if the probe has not succeeded.
func Fingerprint(pod *corev1.Pod) (string, bool) { return left(pod, ProbeContainer) }

// left by a container that has succeeded.
func left(pod *corev1.Pod, container string) (message string, succeeded bool) {
	end := podutil.Ended(pod, container)
	if end == nil || end.ExitCode != 0 {
		return "", false
	}
	return end.Message, true
}
