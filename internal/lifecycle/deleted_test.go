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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// expiryCases are about runs and comparisons that ended an hour ago. Left is for how long they still stay, or nil if for ever.
var expiryCases = map[string]struct {
	seconds   *int32
	byDefault time.Duration
	left      *time.Duration
}{
	"neither":                     {},
	"default, just not over":      {byDefault: time.Hour + time.Second, left: ptr.To(time.Second)},
	"default, just over":          {byDefault: time.Hour, left: ptr.To(time.Duration(0))},
	"default, over for long":      {byDefault: time.Minute, left: ptr.To(-59 * time.Minute)},
	"own, longer":                 {seconds: ptr.To[int32](7200), byDefault: time.Minute, left: ptr.To(time.Hour)},
	"own, shorter":                {seconds: ptr.To[int32](60), byDefault: 24 * time.Hour, left: ptr.To(-59 * time.Minute)},
	"own of 0 is not the default": {seconds: ptr.To[int32](0), byDefault: 24 * time.Hour, left: ptr.To(-time.Hour)},
	"own, no default":             {seconds: ptr.To[int32](3601), left: ptr.To(time.Second)},
}

// checkExpiry compares a decision and a status with what is left.
func checkExpiry(t *testing.T, d Decision, deletion Action, status *metav1.Time, left *time.Duration) {
	t.Helper()
	want := Decision{Action: Wait{}}
	switch {
	case left == nil:
	case *left > 0:
		want.After = *left
	default:
		want.Action = deletion
	}
	if d.Action != want.Action || d.After != want.After {
		t.Errorf("decided %+v after %s, want %+v after %s", d.Action, d.After, want.Action, want.After)
	}
	if (status == nil) != (left == nil) || left != nil && !status.Time.Equal(now.Add(*left)) {
		t.Errorf("the status says %v, want %v from now", status, left)
	}
}

func TestExpiryOfARun(t *testing.T) {
	for name, tc := range expiryCases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 1)
			endedRun(run, v1alpha1.ConditionComplete)
			run.Spec.TTLSecondsAfterFinished = tc.seconds
			seen := &Observed{Blockers: Blockers{DefaultTTL: tc.byDefault}}
			checkExpiry(t, next(t, run, seen, now), DeleteRun{}, statusOf(t, run, seen, now).ExpirationTime, tc.left)
		})
	}
}

func TestExpiryOfAComparison(t *testing.T) {
	for name, tc := range expiryCases {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(finishedComparison)
			s.Spec.TTLSecondsAfterFinished = tc.seconds
			p := planOfComparison(t, s)
			seen := measuredRuns(s, p, 1)
			seen.DefaultTTL, seen.Lane = tc.byDefault, Lane{} // it has left its lane
			checkExpiry(t, NextOfComparison(s, p, seen, now), DeleteComparison{}, statusOfComparison(t, s, seen).ExpirationTime, tc.left)
		})
	}
}

// A run of a comparison is deleted with its comparison; the default does not hold for it. What a user has set on it does.
func TestExpiryOfARunOfAComparison(t *testing.T) {
	run := oneAxis(1, 1)
	endedRun(run, v1alpha1.ConditionComplete)
	ofComparison("s", "uid")(run)
	seen := &Observed{Blockers: Blockers{DefaultTTL: time.Minute}}
	checkExpiry(t, next(t, run, seen, now), DeleteRun{}, statusOf(t, run, seen, now).ExpirationTime, nil)
	run.Spec.TTLSecondsAfterFinished = ptr.To[int32](3660)
	checkExpiry(t, next(t, run, seen, now), DeleteRun{}, statusOf(t, run, seen, now).ExpirationTime, ptr.To(time.Minute))
}

// What is being deleted is not deleted again, and not looked at again for it.
func TestExpiryOfWhatIsBeingDeleted(t *testing.T) {
	for _, byDefault := range []time.Duration{time.Minute, 24 * time.Hour} {
		run := oneAxis(1, 1)
		endedRun(run, v1alpha1.ConditionComplete)
		run.DeletionTimestamp = ptr.To(ago(0))
		if d := next(t, run, &Observed{Blockers: Blockers{DefaultTTL: byDefault}}, now); d.Action != (Wait{}) || d.After != 0 {
			t.Errorf("a run: decided %+v after %s", d.Action, d.After)
		}
		s := testutil.Pair(finishedComparison)
		s.DeletionTimestamp = ptr.To(ago(0))
		p := planOfComparison(t, s)
		seen := measuredRuns(s, p, 1)
		seen.DefaultTTL, seen.Lane = byDefault, Lane{} // it has left its lane
		if d := NextOfComparison(s, p, seen, now); d.Action != (Wait{}) || d.After != 0 {
			t.Errorf("a comparison: decided %+v after %s", d.Action, d.After)
		}
	}
}

// The status says when a run is deleted from the moment on in which it finishes, and nothing while it is under way.
func TestExpiryWhileARunEnds(t *testing.T) {
	run := oneAxis(1, 1)
	seen := &Observed{Records: records(1), Blockers: Blockers{DefaultTTL: time.Hour}, Instances: []Instance{instanceOf(1, "u")}}
	if got := statusOf(t, run, seen, now).ExpirationTime; got != nil {
		t.Errorf("under way, it is deleted at %s", got)
	}
	seen = &Observed{Records: records(1), Results: &v1alpha1.ResultsReference{}, Blockers: Blockers{DefaultTTL: time.Hour}}
	status := statusOf(t, run, seen, now)
	if status.CompletionTime == nil || status.ExpirationTime == nil || !status.ExpirationTime.Equal(ptr.To(ago(-time.Hour))) {
		t.Errorf("completed at %v, it is deleted at %v", status.CompletionTime, status.ExpirationTime)
	}
}

// A name of another owner's object is in the way of a run only if that needs it next.
func TestNamesThatARunNeeds(t *testing.T) {
	for name, needed := range map[string]bool{
		"run-results": true, "run-t2-a1": true, "run-db1": true, "run-db1-0": true, "data-run-db1-0": true, "storage-run-db1-0": true,
		"run-t1-a1": false, "run-t2-a2": false, "run-t2-a1-2": false, "run-t3-a1": false, "run-t999-a1": false, "run-db2": false,
		"run-db11": false, "data-run-db11-0": false, "run-db0": false,
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			seen := &Observed{
				Blockers: Blockers{Strangers: []string{name}}, Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")},
			}
			d := next(t, run, seen, now)
			if taken := d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonNameTaken; taken != needed {
				t.Errorf("decision is %+v", d)
			}
		})
	}
}

// The same of a comparison: all runs of its plan are its.
func TestNamesThatAComparisonNeeds(t *testing.T) {
	for name, needed := range map[string]bool{
		"s-results": true, "s-r1-a": true, "s-r2-b": true, "s-db1": true, "s-r1-c": false, "s-r99-a": false, "s-db2": false,
	} {
		t.Run(name, func(t *testing.T) {
			comparison := testutil.MakeComparison("s", "ns", "a", "b").Rounds(6).Obj()
			p, err := validation.PlanComparison(comparison)
			if err != nil {
				t.Fatal(err)
			}
			seen := &ComparisonObserved{Blockers: Blockers{Strangers: []string{name}}, ComparisonRuns: membersOf(p)}
			d := NextOfComparison(comparison, p, seen, now)
			if taken := d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonNameTaken; taken != needed {
				t.Errorf("decision is %+v", d)
			}
		})
	}
}

// Only a run that asks for it is refused, and only where it is not allowed.
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
