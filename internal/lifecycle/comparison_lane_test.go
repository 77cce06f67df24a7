// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A run of a comparison neither takes its lane nor leaves it: it executes while its comparison has the lane.
func TestRunOfAComparisonInItsLane(t *testing.T) {
	member := ofComparison("s", "uid")
	comparison := Holder{ComparisonKind, "ns", "s", "uid"}
	earlier, other := Holder{ComparisonKind, "ns", "s", "old"}, Holder{ComparisonKind, "a", "x", "1"}
	me := HolderOf(oneAxis(1, 2))
	lane := func(holder *Holder) Lane { return Lane{Lease: "s/l", Holder: holder} }
	waits := Decision{Action: Wait{}, Reason: v1alpha1.ReasonQueued, Message: "waiting until comparison ns/s, to which this run belongs, holds lane default"}
	provide := Decision{Action: ProvideDatabase{Instance: 1}, Reason: v1alpha1.ReasonProvisioningDatabase, Message: "the database is being created"}
	unnamed := waits
	unnamed.Message = "waiting until comparison ns/s, which holds lane default, measures this run; it measures only runs that it created"
	lost := waits
	lost.Action, lost.Unexpected = RemoveJob{Job: attemptOf(1, 1).Job}, true
	suspended := func(r *v1alpha1.BenchmarkRun) {
		member(r)
		r.Spec.Suspend = ptr.To(true)
	}
	finished := func(r *v1alpha1.BenchmarkRun) {
		member(r)
		endedRun(r, v1alpha1.ConditionComplete)
	}
	pauses := Decision{Action: Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}
	left := pauses
	left.Action = ReleaseLane{me}
	checkDecisions(t, map[string]decision{
		"its comparison has it":                  {run: member, seen: Observed{Lane: lane(&comparison), Named: true}, want: provide},
		"made by somebody else":                  {run: member, seen: Observed{Lane: lane(&comparison)}, want: unnamed},
		"free":                                   {run: member, seen: Observed{Lane: lane(nil)}, want: waits},
		"an earlier comparison has it":           {run: member, seen: Observed{Lane: lane(&earlier)}, want: waits},
		"another comparison has it":              {run: member, seen: Observed{Lane: lane(&other)}, want: waits},
		"lost":                                   {run: member, seen: Observed{Lane: lane(&other), Attempts: []Attempt{attemptOf(1, 1)}}, want: lost},
		"suspended":                              {run: suspended, seen: Observed{Lane: lane(&comparison)}, want: pauses},
		"finished":                               {run: finished, seen: Observed{Lane: lane(&comparison)}, want: Decision{Action: Wait{}}},
		"admitted before there were comparisons": {run: member, seen: Observed{Lane: lane(&me)}, want: provide},
		"left by such a run":                     {run: suspended, seen: Observed{Lane: lane(&me)}, want: left},
		"another kind controls it": {
			run: func(r *v1alpha1.BenchmarkRun) {
				member(r)
				r.OwnerReferences[0].APIVersion = "example.com/v1"
			},
			seen: Observed{Lane: Lane{Lease: "s/l", Next: me}},
			want: Decision{Action: TakeLane{}, Reason: v1alpha1.ReasonQueued, Message: "lane default is free; next in the queue"},
		},
	})
}

func TestAdmittedRunOfAComparison(t *testing.T) {
	comparison := Holder{ComparisonKind, "ns", "s", "uid"}
	for name, tc := range map[string]struct {
		lane Lane
		want string
	}{
		"its comparison has the lane": {Lane{Lease: "s/l", Holder: &comparison}, "comparison ns/s, to which this run belongs, holds lane default"},
		"nobody has":                  {Lane{Lease: "s/l"}, "waiting until comparison ns/s, to which this run belongs, holds lane default"},
	} {
		run := oneAxis(1, 2)
		ofComparison("s", "uid")(run)
		status := statusOf(t, run, &Observed{Lane: tc.lane, Named: true}, now)
		if c := status.Conditions; !containsMessage(c, v1alpha1.ConditionAdmitted, tc.want) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func containsMessage(conditions []metav1.Condition, name, message string) bool {
	for _, c := range conditions {
		if c.Type == name {
			return c.Message == message
		}
	}
	return false
}

func TestNextOfComparisonInTheQueue(t *testing.T) {
	me := HolderOfComparison(testutil.Pair())
	other := Holder{RunKind, "a", "first", "1"}
	queue := func(a Action, message string) Decision {
		return Decision{Action: a, Reason: v1alpha1.ReasonQueued, Message: message}
	}
	waiting := queue(Wait{}, "waiting for run a/first, which holds lane default; next in the queue")
	lost := waiting
	lost.Unexpected = true
	taken := Lane{Lease: "s/l", Holder: &other, Next: me}
	gone, mine := taken, Lane{Lease: "s/l", Holder: &me}
	gone.Foreign, gone.Abandoned = true, true
	suspends := Decision{Action: Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}
	leaves, later := suspends, suspends
	leaves.Action, later.After = ReleaseLane{me}, time.Second
	suspended := func(s *v1alpha1.BenchmarkComparison) { s.Spec.Suspend = ptr.To(true) }
	acknowledged := func(r *v1alpha1.BenchmarkRun) {
		suspendedRun(r)
		r.Generation, r.Status.ObservedGeneration = 2, ptr.To[int64](2)
		condition(v1alpha1.ConditionSuspended)(r)
	}
	ttl := func(s *v1alpha1.BenchmarkComparison) {
		finishedComparison(s)
		s.Spec.TTLSecondsAfterFinished = ptr.To[int32](0)
	}
	for name, tc := range map[string]struct {
		comparison []func(*v1alpha1.BenchmarkComparison)
		lane       Lane
		member     func(*v1alpha1.BenchmarkRun)
		// lingers: something of its runs is left.
		lingers bool
		want    Decision
	}{
		"free":                {lane: Lane{Next: me}, want: queue(TakeLane{}, "lane default is free; next in the queue")},
		"free, not first":     {lane: Lane{Next: other}, want: queue(Wait{}, "in the queue of lane default; others are ahead of it")},
		"taken":               {lane: taken, want: waiting},
		"abandoned elsewhere": {lane: gone, want: queue(ReleaseLane{other}, "waiting for run a/first of another installation, which holds lane default (Lease s/l); next in the queue")},
		"lost": {comparison: []func(*v1alpha1.BenchmarkComparison){func(s *v1alpha1.BenchmarkComparison) {
			s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue}}
		}}, lane: taken, member: func(*v1alpha1.BenchmarkRun) {}, want: lost},
		"suspended, its run is not yet":       {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, lane: mine, member: suspendedRun, want: later},
		"suspended, its run has a server":     {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, lane: mine, member: acknowledged, lingers: true, want: later},
		"suspended, nothing is left":          {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, lane: mine, member: acknowledged, want: leaves},
		"suspended between two runs":          {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, lane: mine, want: leaves},
		"suspended, has left":                 {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, lane: taken, want: suspends},
		"finished":                            {comparison: []func(*v1alpha1.BenchmarkComparison){finishedComparison}, lane: mine, want: Decision{Action: ReleaseLane{me}}},
		"finished, something is left":         {comparison: []func(*v1alpha1.BenchmarkComparison){finishedComparison}, lane: mine, lingers: true, want: after(Decision{Action: Wait{}}, time.Second)},
		"finished, has left":                  {comparison: []func(*v1alpha1.BenchmarkComparison){finishedComparison}, lane: taken, want: Decision{Action: Wait{}}},
		"lifetime over, lane first":           {comparison: []func(*v1alpha1.BenchmarkComparison){ttl}, lane: mine, want: Decision{Action: ReleaseLane{me}}},
		"lifetime over, something is left":    {comparison: []func(*v1alpha1.BenchmarkComparison){ttl}, lane: mine, lingers: true, want: after(Decision{Action: DeleteComparison{}}, time.Second)},
		"failed, the results are not written": {comparison: []func(*v1alpha1.BenchmarkComparison){failedComparison}, lane: mine, want: Decision{Action: Wait{}, Finished: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(tc.comparison...)
			p := planOfComparison(t, s)
			seen := measuredRuns(s, p, 0)
			tc.lane.Lease = "s/l"
			seen.Lane, seen.Lingering = tc.lane, tc.lingers
			if tc.member != nil {
				seen.begin(s, p, 0, tc.member)
			}
			if diff := cmp.Diff(tc.want, NextOfComparison(s, p, seen, now)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// The time in the queue counts neither for the start of a comparison nor against its deadline.
func TestQueuedTimeOfAComparisonDoesNotCount(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.DeadlineSeconds = ptr.To[int32](60) })
	p := planOfComparison(t, s)
	mine := Lane{Lease: "s/l", Holder: ptr.To(HolderOfComparison(s))}
	taken := Lane{Lease: "s/l", Holder: &Holder{RunKind, "a", "first", "1"}, Next: HolderOfComparison(s)}
	at := now
	look := func(after time.Duration, suspend bool, lane Lane) {
		t.Helper()
		at = at.Add(after)
		s.Spec.Suspend = ptr.To(suspend)
		seen := measuredRuns(s, p, 0)
		seen.Lane = lane
		s.Status = StatusOfComparison(s, p, seen, NextOfComparison(s, p, seen, at), at)
	}
	look(0, false, taken)
	look(24*time.Hour, false, taken)
	if s.Status.StartTime != nil || s.Status.Deadline != nil || s.Status.SuspendedSeconds != nil {
		t.Errorf("in the queue: %+v", s.Status)
	}
	look(time.Hour, false, mine)
	start := at
	if !s.Status.StartTime.Time.Equal(start) {
		t.Errorf("started %s, want %s", s.Status.StartTime, start)
	}
	look(30*time.Second, true, mine)
	look(time.Hour, false, taken) // resumed, and in the queue
	look(time.Hour, false, mine)
	look(29*time.Second, false, mine) // one second is left
	want := metav1.NewTime(start.Add(2*time.Hour + time.Minute))
	failed := func() bool { return statuses(s.Status.Conditions)[v1alpha1.ConditionFailed] == "True DeadlineExceeded" }
	if !s.Status.Deadline.Equal(&want) || *s.Status.SuspendedSeconds != 7200 || failed() {
		t.Errorf("deadline %s, want %s: %+v", s.Status.Deadline, want, s.Status)
	}
	if look(time.Second, false, mine); !failed() {
		t.Errorf("after its deadline: %v", statuses(s.Status.Conditions))
	}
}

// What is left of runs disturbs as long as it works, or may begin to. What a run keeps is idle.
func TestRemains(t *testing.T) {
	labels := func(component string) map[string]string {
		return map[string]string{v1alpha1.LabelRunUID: "run", v1alpha1.LabelComponent: component}
	}
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Labels: labels(v1alpha1.ComponentLoader)}}
	ended := *job.DeepCopy()
	testutil.JobCondition(&ended, batchv1.JobFailed, "")
	pod := func(component string, phase corev1.PodPhase) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: labels(component)}, Status: corev1.PodStatus{Phase: phase}}
		if component == v1alpha1.ComponentLoader {
			p.OwnerReferences = []metav1.OwnerReference{{UID: "job", Controller: ptr.To(true)}}
		}
		return p
	}
	cutOff := pod(v1alpha1.ComponentLoader, corev1.PodRunning)
	cutOff.DeletionTimestamp = ptr.To(ago(time.Minute))
	for name, tc := range map[string]struct {
		remains       Remains
		disturb, kept bool
	}{
		"nothing":                 {},
		"a server":                {remains: Remains{Servers: []types.UID{"run"}}, disturb: true},
		"a database Pod":          {remains: Remains{Pods: []corev1.Pod{pod(v1alpha1.ComponentDatabase, corev1.PodRunning)}}, disturb: true},
		"a loader":                {remains: Remains{Pods: []corev1.Pod{pod(v1alpha1.ComponentLoader, corev1.PodRunning)}}, disturb: true, kept: true},
		"a loader that has ended": {remains: Remains{Pods: []corev1.Pod{pod(v1alpha1.ComponentLoader, corev1.PodFailed)}}},
		"a lost node":             {remains: Remains{Pods: []corev1.Pod{cutOff}}},
		"a Job":                   {remains: Remains{Jobs: []batchv1.Job{job}}, disturb: true, kept: true},
		"a Job that has ended":    {remains: Remains{Jobs: []batchv1.Job{ended}}},
		"a Job whose Pod has ended": {
			remains: Remains{Jobs: []batchv1.Job{job}, Pods: []corev1.Pod{pod(v1alpha1.ComponentLoader, corev1.PodFailed)}}, disturb: true, kept: true,
		},
	} {
		if got := tc.remains.Disturb(nil, now); got != tc.disturb {
			t.Errorf("%s: disturbs is %t", name, got)
		}
		if got := tc.remains.Disturb(sets.New[types.UID]("run"), now); got != tc.kept {
			t.Errorf("%s of a run that keeps its database: disturbs is %t", name, got)
		}
	}
}

func TestKeeps(t *testing.T) {
	for name, tc := range map[string]struct {
		policy v1alpha1.CleanupPolicy
		how    string
		want   bool
	}{
		"always":                  {v1alpha1.CleanupAlways, v1alpha1.ConditionFailed, false},
		"on success, and failed":  {v1alpha1.CleanupOnSuccess, v1alpha1.ConditionFailed, true},
		"on success, and not":     {v1alpha1.CleanupOnSuccess, v1alpha1.ConditionComplete, false},
		"on success, not yet end": {v1alpha1.CleanupOnSuccess, "", false},
	} {
		run := oneAxis(1, 2)
		run.Spec.Cleanup = tc.policy
		if tc.how != "" {
			endedRun(run, tc.how)
		}
		if Keeps(run) != tc.want {
			t.Errorf("%s: %t", name, !tc.want)
		}
	}
}
