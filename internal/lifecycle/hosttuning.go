// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// TunedNode is a node that a run has tuned, or is about to, and its Lease.
type TunedNode struct {
	Holder Holder
	*hosttuning.Record
	Lease *coordinationv1.Lease
}

func (n TunedNode) unsettled() bool { return !n.Settled() }

// tunedByMe are the nodes that this run has tuned. It keeps them until it ends or pauses, also if its database is on another.
func (s *situation) tunedByMe() []TunedNode {
	return slices.DeleteFunc(slices.Clone(s.seen.TunedNodes), func(n TunedNode) bool { return n.Holder != HolderOf(s.run) })
}

func tuned(s *situation) *Decision {
	number := s.wantedInstances()[0]
	wanted, instance := s.side(number).Spec.Database.HostTuning, s.seen.Instance(number)
	if d := s.tunedForOthers(wanted); d != nil {
		return d
	}
	if wanted == nil || instance == nil || instance.Pod == nil || instance.Going() {
		return nil
	}
	disk, known := database.Disk(instance.Pod)
	if !known {
		return nil
	}
	node := instance.Pod.Spec.NodeName
	i := slices.IndexFunc(s.seen.TunedNodes, func(n TunedNode) bool { return n.Node == node })
	if i < 0 {
		return s.tune(TuneHost{Node: node, Disk: disk, Tuning: wanted})
	}
	wait := tuning(Wait{}, "node "+node+" is being tuned")
	switch n := s.seen.TunedNodes[i]; {
	case n.Holder != HolderOf(s.run):
		words, where := n.Holder.named(s.run.Namespace, s.seen.Lane.Anonymous)
		wait.Message = fmt.Sprintf("node %s is tuned by %s%s and has not been restored yet", node, words, where)
	case n.Release:
		wait.Message = "node " + node + " is being restored before it is tuned again"
	case n.State == hosttuning.Failed:
		return fail(n.Reason, n.Failure)
	case n.State == hosttuning.Tuned:
		return nil
	}
	if s.remaining(instance.Root().GetCreationTimestamp().Time) == 0 {
		return fail(v1alpha1.ReasonHostTuningFailed, s.deadlineMessage("the node was not tuned", wait.Message))
	}
	return wait
}

// tune a node, unless the run has tuned it before and did not restore it: what it was like is not known then.
func (s *situation) tune(a TuneHost) *Decision {
	for _, h := range s.run.Status.HostTuning {
		if h.Node == a.Node && !ptr.Deref(h.Restored, false) {
			return fail(v1alpha1.ReasonHostTuningFailed, cmp.Or(h.Message, unrecorded(a.Node)))
		}
	}
	return tuning(a, "node "+a.Node+" is being tuned")
}

// tunedForOthers has nodes restored that the run has tuned for another variant than the one that is measured next.
func (s *situation) tunedForOthers(wanted *v1alpha1.HostTuningSpec) *Decision {
	for _, n := range s.tunedByMe() {
		if len(s.run.Spec.Variants) == 0 || !n.unsettled() || wanted != nil && n.Requested == hosttuning.Settings(wanted) {
			continue
		}
		message := "node " + n.Node + " is being restored before the next variant is measured"
		if !n.Release {
			return tuning(ReleaseHost{Node: n}, message)
		}
		return tuning(Wait{}, message)
	}
	return nil
}

// TunesHost says whether a run, or one of its variants, asks for host tuning.
func TunesHost(run *v1alpha1.BenchmarkRun) bool {
	for variant := range plan.Sides(run) {
		if plan.Side(run, variant, 1).Spec.Database.HostTuning != nil {
			return true
		}
	}
	return false
}

// tuning is a decision while a node is being tuned or restored. The Lease of the node is watched: the time is for one that was
// missed.
func tuning(a Action, message string) *Decision {
	return &Decision{Action: a, Reason: v1alpha1.ReasonTuningHost, Message: message, After: pollInterval}
}

// leaveNodes is the next step on the way to no tuned node, or nil. It does not wait until a node is restored.
func (s *situation) leaveNodes() Action {
	for _, n := range s.tunedByMe() {
		if !n.Release {
			return ReleaseHost{Node: n}
		}
	}
	return nil
}

// restoring has the nodes restored, and waits until they are or cannot be: what is published says which.
func (s *situation) restoring() *Decision {
	const message = "the node is being restored"
	if a := s.leaveNodes(); a != nil {
		return tuning(a, message)
	}
	if slices.ContainsFunc(s.tunedByMe(), TunedNode.unsettled) {
		return tuning(Wait{}, message)
	}
	return nil
}

func unrecorded(node string) string {
	return fmt.Sprintf("Lease %s, which recorded the original values of node %s, was deleted: the node may still be tuned",
		hosttuning.LeaseName(node), node)
}

const maxTunedNodes = 16

func (s *situation) hostTuning(status *v1alpha1.BenchmarkRunStatus) {
	if s.seen.ObserveFailed || !TunesHost(s.run) {
		return
	}
	mine := s.tunedByMe()
	for i := range status.HostTuning {
		h := &status.HostTuning[i]
		is := func(n TunedNode) bool { return n.Node == h.Node }
		if h.Restored == nil && !slices.ContainsFunc(mine, is) {
			h.Restored, h.Message = ptr.To(false), unrecorded(h.Node)
		}
	}
	for _, n := range mine {
		if n.Changes() {
			other := func(h v1alpha1.HostTuningStatus) bool { return h.Node == n.Node }
			status.HostTuning = append(slices.DeleteFunc(status.HostTuning, other), n.HostTuningStatus)
		}
	}
	status.HostTuning = status.HostTuning[max(0, len(status.HostTuning)-maxTunedNodes):]
}
