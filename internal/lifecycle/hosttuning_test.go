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
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Only a run that asks for it is refused, and only where the administrator has not allowed it.
func TestHostTuningRefused(t *testing.T) {
	plain, tuned := oneAxis(1, 1), oneAxis(1, 1)
	tuned.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	for _, allowed := range []bool{true, false} {
		if got := HostTuningRefused(plain, allowed); got != nil {
			t.Errorf("a run that asks for nothing is refused: %+v", got)
		}
	}
	if got := HostTuningRefused(tuned, true); got != nil {
		t.Errorf("refused, although it is allowed: %+v", got)
	}
	got := HostTuningRefused(tuned, false)
	if got == nil || got.Reason != v1alpha1.ReasonHostTuningNotAllowed || !strings.Contains(got.Message, "hostTuning.enabled: true") {
		t.Errorf("not allowed: %+v", got)
	}
}

// onDisk has a Pod say which disk is below its volume.
func onDisk(i *Instance) {
	i.Pod.Status.InitContainerStatuses = append(i.Pod.Status.InitContainerStatuses, corev1.ContainerStatus{
		Name: database.DiskContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "sda"}},
	})
}

// tunedNode is the node worker, tuned by a run for swappiness 1, with changes.
func tunedNode(run *v1alpha1.BenchmarkRun, changes ...func(*TunedNode)) TunedNode {
	n := TunedNode{Holder: HolderOf(run), Record: &hosttuning.Record{
		Node: "worker", Requested: result.HostSettings{Swappiness: "1"},
		Before: &result.HostSettings{Swappiness: "60"}, After: &result.HostSettings{Swappiness: "1"},
	}}
	for _, change := range changes {
		change(&n)
	}
	return n
}

func elsewhere(n *TunedNode) { n.Record.Node = "elsewhere" }
func released(n *TunedNode)  { n.Record.Release = true }
func restored(n *TunedNode)  { n.Record.Release, n.Record.Restored = true, true }
func unrestored(n *TunedNode) {
	n.Record.Release, n.Record.Attempts, n.Record.Unrestored = true, 3, "it is off"
}
func ofOther(n *TunedNode) { n.Holder = *heldByOther.Holder }
func refusedValue(n *TunedNode) {
	n.Record.Failed, n.Record.NotEffective = "requested 1, effective 2", true
}
func broken(n *TunedNode)  { n.Record.Failed = "no Pod" }
func untuned(n *TunedNode) { n.Record.After = nil }

// What a run does about nodes, by what was seen of them.
func TestDecisionsAboutNodes(t *testing.T) {
	noted := []v1alpha1.HostTuningStatus{{Node: "worker", Restored: ptr.To(true)}, {Node: "elsewhere", Restored: ptr.To(true)}}
	up := instanceOf(1, "db-pod", onDisk)
	done := records(1, 2)
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		status []v1alpha1.HostTuningStatus
		seen   Observed
		nodes  []func(*TunedNode)
		want   string
	}{
		"nobody has tuned it": {seen: Observed{Instances: []Instance{up}}, want: "TuneHost: node worker is being tuned"},
		"its server waits for that": {
			seen:  Observed{Instances: []Instance{instanceOf(1, "db-pod", onDisk, func(i *Instance) { i.Pod.Status.ContainerStatuses = nil })}},
			nodes: []func(*TunedNode){untuned}, want: "Wait: node worker is being tuned",
		},
		"its Pod has not said the disk": {seen: Observed{Instances: []Instance{instanceOf(1, "db-pod")}}, want: "StartAttempt: trial 1 of 2 (rowsPerCommit=1)"},
		"it is tuned":                   {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){nil}, want: "StartAttempt: trial 1 of 2 (rowsPerCommit=1)"},
		"it is being tuned":             {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){untuned}, want: "Wait: node worker is being tuned"},
		"another has tuned it":          {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){ofOther}, want: "Wait: node worker is tuned by run ns/other and has not been restored yet"},
		"it does not take a value":      {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){refusedValue}, want: "fail SettingNotEffective: node worker: requested 1, effective 2"},
		"it cannot be tuned":            {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){broken}, want: "fail HostTuningFailed: node worker could not be tuned: no Pod"},
		"it is being restored":          {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){released}, want: "Wait: node worker is being restored before it is tuned again"},
		"it was restored":               {status: noted, seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){restored}, want: "ForgetHost: node worker is being tuned"},
		"it was restored, nobody noted": {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){restored}, want: "Wait: node worker is being restored before it is tuned again"},
		"nothing was changed there": {
			seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){func(n *TunedNode) {
				restored(n)
				n.Record.Requested = result.HostSettings{}
			}},
			want: "ForgetHost: node worker is being tuned",
		},
		"it could not be restored":       {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){unrestored}, want: "Wait: node worker is being restored before it is tuned again"},
		"the database is on another now": {seen: Observed{Instances: []Instance{up}}, nodes: []func(*TunedNode){elsewhere}, want: "ReleaseHost: the previous node of the database is being restored"},
		"its Lease is gone": {
			status: []v1alpha1.HostTuningStatus{{Node: "worker"}}, seen: Observed{Instances: []Instance{up}},
			want: "fail HostTuningFailed: " + unrecorded("worker"),
		},
		"all is measured":               {seen: Observed{Records: done, Instances: []Instance{up}}, nodes: []func(*TunedNode){nil}, want: "ReleaseHost: node worker is being restored"},
		"all is measured, it restores":  {seen: Observed{Records: done, Instances: []Instance{up}}, nodes: []func(*TunedNode){released}, want: "Wait: node worker is being restored"},
		"all is measured and restored":  {seen: Observed{Records: done, Instances: []Instance{up}}, nodes: []func(*TunedNode){restored}, want: "Publish: every trial is measured; the results are being written"},
		"all is measured, not restored": {seen: Observed{Records: done, Instances: []Instance{up}}, nodes: []func(*TunedNode){unrestored}, want: "Publish: every trial is measured; the results are being written"},
		"suspended": {
			change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }, nodes: []func(*TunedNode){nil},
			want: "ReleaseHost: spec.suspend is true",
		},
		"suspended, it restores": {
			change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }, nodes: []func(*TunedNode){released},
			want: "Wait: spec.suspend is true",
		},
		"suspended, restored": {
			change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }, status: noted, nodes: []func(*TunedNode){restored},
			want: "ForgetHost: spec.suspend is true",
		},
		"suspended, not restored": {
			change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }, nodes: []func(*TunedNode){unrestored},
			want: "ReleaseLane: spec.suspend is true",
		},
		"it has lost its lane": {seen: Observed{Lane: heldByOther}, nodes: []func(*TunedNode){nil}, want: "ReleaseHost: " +
			"in the queue of lane default; others are ahead of it"},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
			run.Status.HostTuning = tc.status
			if tc.change != nil {
				tc.change(run)
			}
			for _, change := range tc.nodes {
				tc.seen.TunedNodes = append(tc.seen.TunedNodes, tunedNode(run, slices.DeleteFunc([]func(*TunedNode){change},
					func(f func(*TunedNode)) bool { return f == nil })...))
			}
			d := next(t, run, &tc.seen, now)
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

// A node that another run has tuned does not keep a database waiting for ever.
func TestNodeOfAnotherHasADeadline(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	seen := &Observed{Instances: []Instance{instanceOf(1, "db-pod", onDisk)}, TunedNodes: []TunedNode{tunedNode(run, ofOther)}}
	d := next(t, run, seen, now.Add(time.Duration(run.Spec.Trials.StartDeadlineSeconds)*time.Second))
	if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonHostTuningFailed ||
		!strings.Contains(d.Failure.Message, "tuned by run ns/other") {
		t.Errorf("decision is %+v", d)
	}
}

// The status says what was changed, and what became of it, also when the run has finished.
func TestStatusOfNodes(t *testing.T) {
	tuned := v1alpha1.HostTuningStatus{
		Node: "worker", Before: v1alpha1.HostSettings{Swappiness: "60"}, After: v1alpha1.HostSettings{Swappiness: "1"},
	}
	with := func(restored bool, message string) v1alpha1.HostTuningStatus {
		h := tuned
		h.Restored, h.Message = &restored, message
		return h
	}
	for name, tc := range map[string]struct {
		old   []v1alpha1.HostTuningStatus
		nodes []func(*TunedNode)
		want  []v1alpha1.HostTuningStatus
	}{
		"nothing":           {},
		"another's":         {nodes: []func(*TunedNode){ofOther}},
		"not yet read":      {nodes: []func(*TunedNode){func(n *TunedNode) { n.Record.Before, n.Record.After = nil, nil }}},
		"the cache alone":   {nodes: []func(*TunedNode){func(n *TunedNode) { n.Record.Requested = result.HostSettings{} }}},
		"tuned":             {nodes: []func(*TunedNode){released}, want: []v1alpha1.HostTuningStatus{tuned}},
		"restored":          {old: []v1alpha1.HostTuningStatus{tuned}, nodes: []func(*TunedNode){restored}, want: []v1alpha1.HostTuningStatus{with(true, "")}},
		"not restored":      {old: []v1alpha1.HostTuningStatus{tuned}, nodes: []func(*TunedNode){unrestored}, want: []v1alpha1.HostTuningStatus{with(false, "it is off")}},
		"restored at last":  {old: []v1alpha1.HostTuningStatus{with(false, "it is off")}, nodes: []func(*TunedNode){restored}, want: []v1alpha1.HostTuningStatus{with(true, "")}},
		"forgotten":         {old: []v1alpha1.HostTuningStatus{with(true, "")}, want: []v1alpha1.HostTuningStatus{with(true, "")}},
		"its Lease is gone": {old: []v1alpha1.HostTuningStatus{tuned}, want: []v1alpha1.HostTuningStatus{with(false, unrecorded("worker"))}},
	} {
		for _, finished := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, finished: %t", name, finished), func(t *testing.T) {
				run := oneAxis(1, 2)
				run.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
				if finished {
					endedRun(run, v1alpha1.ConditionComplete)
				}
				run.Status.HostTuning = slices.Clone(tc.old)
				seen := &Observed{}
				for _, change := range tc.nodes {
					seen.TunedNodes = append(seen.TunedNodes, tunedNode(run, change))
				}
				if diff := cmp.Diff(tc.want, statusOf(t, run, seen, now).HostTuning); diff != "" {
					t.Errorf("status (-want +got):\n%s", diff)
				}
			})
		}
	}
}
