// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// TunedNode is a node that a run has tuned, or is about to. Its Lease is named after it.
type TunedNode struct {
	Holder Holder
	Record *hosttuning.Record
}

// HostTuningRefused is why a run that asks for host tuning cannot have it, or nil. It is allowed if the administrator has
// switched it on for the run's namespace.
func HostTuningRefused(run *v1alpha1.BenchmarkRun, allowed bool) *Failure {
	if run.Spec.Database.HostTuning == nil || allowed {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonHostTuningNotAllowed, Message: "database.hostTuning changes kernel settings of a node, " +
		"and this installation allows that to no run of this namespace: leave it out, or have an administrator set " +
		"hostTuning.enabled: true in the Helm chart, and hostTuning.namespaces if that is set (the operator's flags --host-tuning " +
		"and --host-tuning-namespaces)"}
}

// tunedByMe are the nodes that this run has tuned, and not forgotten.
func (s *situation) tunedByMe() []TunedNode {
	return slices.DeleteFunc(slices.Clone(s.seen.TunedNodes), func(n TunedNode) bool { return n.Holder != HolderOf(s.run) })
}

// toTune is the node of an instance that is to be tuned, and the disk of its data; empty if there is none, or not yet.
func (s *situation) toTune(instance *Instance) (node, disk string) {
	if s.run.Spec.Database.HostTuning == nil || instance == nil || instance.Pod == nil || instance.Going() {
		return "", ""
	}
	disk, known := database.Disk(instance.Pod)
	if !known {
		return "", ""
	}
	return instance.Pod.Spec.NodeName, disk
}

// tuned has the node of the wanted instance tuned before its server starts: the instance's own probe waits for it. A node that
// the run has left is restored meanwhile.
func tuned(s *situation) *Decision {
	instance := s.seen.instance(s.wantedInstance())
	node, disk := s.toTune(instance)
	if node == "" {
		return nil
	}
	if a := s.leaveNodes(node); a != nil {
		return tuning(a, "the previous node of the database is being restored")
	}
	i := slices.IndexFunc(s.seen.TunedNodes, func(n TunedNode) bool { return n.Record.Node == node })
	wait := tuning(Wait{}, "node "+node+" is being tuned")
	switch {
	case i < 0 && s.lost(node):
		return fail(Failure{Reason: v1alpha1.ReasonHostTuningFailed, Message: unrecorded(node)})
	case i < 0:
		wait.Action = TuneHost{Node: node, Disk: disk}
		return wait
	}
	n := s.seen.TunedNodes[i]
	switch r := n.Record; {
	case n.Holder != HolderOf(s.run):
		wait.Message = fmt.Sprintf("node %s is tuned by %s and has not been restored yet", node,
			n.Holder.called(s.run.Namespace, s.seen.Lane.Anonymous))
	case r.Restored && s.noted(r):
		wait.Action = ForgetHost{Node: node}
	case r.Release:
		wait.Message = "node " + node + " is being restored before it is tuned again"
	case r.Failed != "":
		return notTuned(r)
	case r.Tuned():
		return nil
	}
	if s.remaining(instance.Root().GetCreationTimestamp().Time) == 0 {
		return fail(Failure{
			Reason: v1alpha1.ReasonHostTuningFailed, Message: s.deadlineMessage("the node was not tuned", wait.Message),
		})
	}
	return wait
}

// notTuned ends a run whose node could not be tuned, or does not take a value.
func notTuned(r *hosttuning.Record) *Decision {
	if r.NotEffective {
		return fail(Failure{Reason: v1alpha1.ReasonSettingNotEffective, Message: "node " + r.Node + ": " + r.Failed})
	}
	return fail(Failure{
		Reason: v1alpha1.ReasonHostTuningFailed, Message: "node " + r.Node + " could not be tuned: " + r.Failed,
	})
}

// dropped has the page cache of the tuned node dropped before an attempt, if the run requests it.
func dropped(s *situation) *Decision {
	requested := s.run.Spec.Database.HostTuning
	if requested == nil || requested.DropPageCache != v1alpha1.DropPageCacheBeforeEachTrial {
		return nil
	}
	attempt := plan.AttemptName(s.run, s.next.Number, s.attempt)
	for _, n := range s.tunedByMe() {
		switch r := n.Record; {
		case r.Release || r.Dropped == attempt:
		case r.Failed != "":
			return fail(Failure{Reason: v1alpha1.ReasonHostTuningFailed, Message: "node " + r.Node + ": " + r.Failed})
		case r.Drop != attempt:
			return tuning(DropPageCache{Node: r.Node, Attempt: attempt}, "the page cache of node "+r.Node+" is being dropped")
		default:
			return tuning(Wait{}, "the page cache of node "+r.Node+" is being dropped")
		}
	}
	return nil
}

// tuning is a decision while a node is being tuned or restored. The Lease of the node is watched: the time is for one that was
// missed.
func tuning(a Action, message string) *Decision {
	return &Decision{Action: a, Reason: v1alpha1.ReasonTuningHost, Message: message, After: pollInterval}
}

// leaveNodes is the next step on the way to no tuned node but one, or nil. It does not wait until a node is restored.
func (s *situation) leaveNodes(but string) Action {
	for _, n := range s.tunedByMe() {
		switch r := n.Record; {
		case r.Node == but && but != "":
		case !r.Release:
			return ReleaseHost{Node: r.Node}
		case r.Restored && s.noted(r):
			return ForgetHost{Node: r.Node}
		}
	}
	return nil
}

// restoring has the nodes restored, and waits until they are or cannot be: what is published says which.
func (s *situation) restoring() *Decision {
	for _, n := range s.tunedByMe() {
		switch r := n.Record; {
		case !r.Release:
			return tuning(ReleaseHost{Node: r.Node}, "node "+r.Node+" is being restored")
		case !r.Settled():
			return tuning(Wait{}, "node "+r.Node+" is being restored")
		}
	}
	return nil
}

// unsettled says whether a node is still to be restored.
func (s *situation) unsettled() bool {
	return slices.ContainsFunc(s.tunedByMe(), func(n TunedNode) bool { return !n.Record.Settled() })
}

// noted says whether the status says that a node was restored, or that nothing was changed: its record is not needed any more.
func (s *situation) noted(r *hosttuning.Record) bool {
	have := statusOfNode(s.run.Status.HostTuning, r.Node)
	return !r.Changes() || have != nil && have.Restored != nil && *have.Restored == r.Restored
}

// lost says whether the record of a tuned node is gone, so that it is unknown what the node had before.
func (s *situation) lost(node string) bool {
	have := statusOfNode(s.run.Status.HostTuning, node)
	return have != nil && (have.Restored == nil || have.Message == unrecorded(node))
}

func unrecorded(node string) string {
	return fmt.Sprintf("Lease %s, which recorded the original values of node %s, was deleted: the node may still be tuned",
		hosttuning.LeaseName(node), node)
}

func statusOfNode(list []v1alpha1.HostTuningStatus, node string) *v1alpha1.HostTuningStatus {
	i := slices.IndexFunc(list, func(h v1alpha1.HostTuningStatus) bool { return h.Node == node })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// maxTunedNodes is how many nodes the status lists.
const maxTunedNodes = 16

// hostTuning sets what was changed on nodes, and what became of that.
func (s *situation) hostTuning(status *v1alpha1.BenchmarkRunStatus) {
	if s.seen.ObserveFailed || s.run.Spec.Database.HostTuning == nil {
		return
	}
	seen := map[string]bool{}
	for _, n := range s.tunedByMe() {
		r := n.Record
		seen[r.Node] = true
		if !r.Changes() {
			continue
		}
		current := v1alpha1.HostTuningStatus{
			Node: r.Node, Disk: cut(r.Disk, 64),
			Before: hostSettings(*r.Before), After: hostSettings(ptr.Deref(r.After, result.HostSettings{})),
		}
		switch {
		case r.Restored:
			current.Restored = ptr.To(true)
		case r.NotRestored():
			current.Restored, current.Message = ptr.To(false), cut(r.Unrestored, 1024)
		}
		if have := statusOfNode(status.HostTuning, r.Node); have != nil {
			*have = current
		} else {
			status.HostTuning = append(status.HostTuning, current)
		}
	}
	for i := range status.HostTuning {
		if h := &status.HostTuning[i]; h.Restored == nil && !seen[h.Node] {
			h.Restored, h.Message = ptr.To(false), cut(unrecorded(h.Node), 1024)
		}
	}
	if extra := len(status.HostTuning) - maxTunedNodes; extra > 0 {
		status.HostTuning = status.HostTuning[extra:]
	}
}

func hostSettings(s result.HostSettings) v1alpha1.HostSettings {
	return v1alpha1.HostSettings{
		Swappiness: cut(s.Swappiness, 32), IOScheduler: cut(s.IOScheduler, 64), TransparentHugePages: cut(s.TransparentHugePages, 32),
	}
}

// HostTuningOf a status is what the results say of the nodes that were tuned.
func HostTuningOf(list []v1alpha1.HostTuningStatus) []result.HostTuning {
	var all []result.HostTuning
	for _, h := range list {
		all = append(all, result.HostTuning{
			Node: h.Node, Disk: h.Disk, Before: result.HostSettings(h.Before), After: result.HostSettings(h.After),
			Restored: ptr.Deref(h.Restored, false), Message: h.Message,
		})
	}
	return all
}
