// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
)

// Only a run that asks for it is refused, and only where no administrator has named its namespace.
func TestHostTuningRefused(t *testing.T) {
	plain, tuned := oneAxis(1, 1), tunedRun()
	for namespaces, refused := range map[string]bool{"": true, "other": true, "other,ns": false} {
		list := strings.Split(namespaces, ",")
		if got := HostTuningRefused(tuned, list); (got != nil) != refused || HostTuningRefused(plain, list) != nil {
			t.Errorf("allowed in %q: %+v", namespaces, got)
		}
	}
	if got := HostTuningRefused(tuned, nil); got == nil || got.Reason != v1alpha1.ReasonHostTuningNotAllowed {
		t.Errorf("allowed to nobody: %+v", got)
	}
}

func tunedRun() *v1alpha1.BenchmarkRun {
	run := oneAxis(1, 2)
	run.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	return run
}

// onDisk has a Pod say which disk is below its volume.
func onDisk(i *Instance) {
	i.Pod.Status.InitContainerStatuses = append(i.Pod.Status.InitContainerStatuses, corev1.ContainerStatus{
		Name: database.DiskContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "sda"}},
	})
}

// tunedNode is the node worker, tuned by a run for swappiness 1, with changes.
func tunedNode(run *v1alpha1.BenchmarkRun, changes ...func(*TunedNode)) TunedNode {
	n := TunedNode{Holder: HolderOf(run), Record: &hosttuning.Record{State: hosttuning.Tuned}}
	n.Node, n.Before.Swappiness, n.After.Swappiness = "worker", "60", "1"
	for _, change := range changes {
		change(&n)
	}
	return n
}

func setting(n *TunedNode)  { n.State, n.After.Swappiness = hosttuning.Setting, "" }
func broken(n *TunedNode)   { n.State, n.Reason, n.Failure = hosttuning.Failed, "Broken", "no Pod" }
func released(n *TunedNode) { n.State, n.Release = hosttuning.Restoring, true }
func restored(n *TunedNode) { n.State, n.Release, n.Restored = hosttuning.Ended, true, ptr.To(true) }

func unrestored(n *TunedNode) {
	n.Release, n.Restored, n.Message = true, ptr.To(false), "it is off"
}
func ofOther(n *TunedNode) { n.Holder = *heldByOther.Holder }

// What a run does about nodes, by what was seen of them.
func TestDecisionsAboutNodes(t *testing.T) {
	up := Observed{Instances: []Instance{instanceOf(1, "db-pod", onDisk)}}
	starting := Observed{Instances: []Instance{instanceOf(1, "db-pod", onDisk, func(i *Instance) { i.Pod.Status.ContainerStatuses = nil })}}
	done := Observed{Records: records(1, 2), Instances: up.Instances}
	suspend := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	const start = "StartAttempt: trial 1 of 2 (rowsPerCommit=1)"
	for name, tc := range map[string]struct {
		seen   Observed
		node   func(*TunedNode)
		change func(*v1alpha1.BenchmarkRun)
		after  time.Duration
		want   string
	}{
		"nobody has tuned it":           {seen: up, want: "TuneHost: node worker is being tuned"},
		"its server waits for that":     {seen: starting, node: setting, want: "Wait: node worker is being tuned"},
		"its Pod has not said the disk": {seen: Observed{Instances: []Instance{instanceOf(1, "db-pod")}}, want: start},
		"it is tuned":                   {seen: up, node: func(*TunedNode) {}, want: start},
		"another has tuned it":          {seen: up, node: ofOther, want: "Wait: node worker is tuned by run ns/other and has not been restored yet"},
		"another keeps it": {seen: up, node: ofOther, after: time.Hour, want: "fail HostTuningFailed: the node was not tuned within " +
			"trials.startDeadlineSeconds (300): node worker is tuned by run ns/other and has not been restored yet"},
		"it cannot be tuned":    {seen: up, node: broken, want: "fail Broken: no Pod"},
		"it is being restored":  {seen: up, node: released, want: "Wait: node worker is being restored before it is tuned again"},
		"it was restored":       {seen: up, node: restored, want: "Wait: node worker is being restored before it is tuned again"},
		"it was not restored":   {seen: up, node: unrestored, want: "Wait: node worker is being restored before it is tuned again"},
		"it was forgotten":      {seen: up, change: noted(ptr.To(true), ""), want: "TuneHost: node worker is being tuned"},
		"its Lease is gone":     {seen: up, change: noted(nil, ""), want: "fail HostTuningFailed: " + unrecorded("worker")},
		"it was gone":           {seen: up, change: noted(ptr.To(false), "it was gone"), want: "fail HostTuningFailed: it was gone"},
		"the database moved":    {seen: up, node: func(n *TunedNode) { n.Node = "elsewhere" }, want: "TuneHost: node worker is being tuned"},
		"all is measured":       {seen: done, node: func(*TunedNode) {}, want: "ReleaseHost: the node is being restored"},
		"measured, restoring":   {seen: done, node: released, want: "Wait: the node is being restored"},
		"measured, restored":    {seen: done, node: restored, want: "Publish: every trial is measured; the results are being written"},
		"measured, unrestored":  {seen: done, node: unrestored, want: "Publish: every trial is measured; the results are being written"},
		"suspended":             {change: suspend, node: func(*TunedNode) {}, want: "ReleaseHost: spec.suspend is true"},
		"suspended, restoring":  {change: suspend, node: released, want: "Wait: spec.suspend is true"},
		"suspended, restored":   {change: suspend, node: restored, want: "ReleaseLane: spec.suspend is true"},
		"suspended, unrestored": {change: suspend, node: unrestored, want: "ReleaseLane: spec.suspend is true"},
		"it has lost its lane": {
			seen: Observed{Lane: heldByOther}, node: func(*TunedNode) {}, want: "ReleaseHost: in the queue of lane default; others are ahead of it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := tunedRun()
			if tc.change != nil {
				tc.change(run)
			}
			if tc.node != nil {
				tc.seen.TunedNodes = []TunedNode{tunedNode(run, tc.node)}
			}
			d := next(t, run, &tc.seen, now.Add(tc.after))
			got := strings.TrimPrefix(fmt.Sprintf("%T: %s", d.Action, d.Message), "lifecycle.")
			if d.Failure != nil {
				got = "fail " + d.Failure.Reason + ": " + d.Failure.Message
			}
			if got != tc.want {
				t.Errorf("decision is\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

// noted has the status of a run say how the node worker ended.
func noted(restored *bool, message string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Status.HostTuning = []v1alpha1.HostTuningStatus{{Node: "worker", Restored: restored, Message: message}}
	}
}

// The status says what was changed, and what became of that, also when the run has finished.
func TestStatusOfNodes(t *testing.T) {
	status := func(change func(*TunedNode)) []v1alpha1.HostTuningStatus {
		return []v1alpha1.HostTuningStatus{tunedNode(oneAxis(1, 1), change).HostTuningStatus}
	}
	lost := status(func(n *TunedNode) { n.Restored, n.Message = ptr.To(false), unrecorded("worker") })
	for name, tc := range map[string]struct {
		old  []v1alpha1.HostTuningStatus
		node func(*TunedNode)
		want []v1alpha1.HostTuningStatus
	}{
		"nothing":           {},
		"another's":         {node: ofOther},
		"not yet read":      {node: func(n *TunedNode) { n.Before.Swappiness = "" }},
		"tuned":             {node: released, want: status(released)},
		"restored":          {old: status(released), node: restored, want: status(restored)},
		"restored at last":  {old: status(unrestored), node: restored, want: status(restored)},
		"forgotten":         {old: status(restored), want: status(restored)},
		"its Lease is gone": {old: status(released), want: lost},
	} {
		for _, finished := range []bool{false, true} {
			run := tunedRun()
			if finished {
				endedRun(run, v1alpha1.ConditionComplete)
			}
			run.Status.HostTuning = slices.Clone(tc.old)
			seen := &Observed{}
			if tc.node != nil {
				seen.TunedNodes = []TunedNode{tunedNode(run, tc.node)}
			}
			if diff := cmp.Diff(tc.want, statusOf(t, run, seen, now).HostTuning); diff != "" {
				t.Errorf("%s, finished %t: status (-want +got):\n%s", name, finished, diff)
			}
		}
	}
}
