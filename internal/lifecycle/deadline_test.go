// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

func TestDefaultDeadline(t *testing.T) {
	run := oneAxis(3, 2)
	run.Spec.Trials.StartDeadlineSeconds, run.Spec.Trials.DeadlineSeconds, run.Spec.Trials.MaxInvalid = 10, 100, ptr.To[int32](1)
	if got, want := Deadline(run, planOf(t, run)), (6+2)*110*time.Second+2*10*time.Second+10*time.Minute; got != want {
		t.Errorf("deadline is %s, want %s", got, want)
	}
	run.Spec.Trials.DeadlineSeconds = 31536000
	if got := Deadline(run, planOf(t, run)); got != 365*24*time.Hour {
		t.Errorf("the longest deadline is %s", got)
	}
	run.Spec.DeadlineSeconds = ptr.To[int32](5)
	if got := Deadline(run, nil); got != 5*time.Second {
		t.Errorf("asked for 5 seconds, got %s", got)
	}
}

// Whatever a run waits for, it ends at its deadline, and says what it was.
func TestEveryWaitEndsAtTheDeadline(t *testing.T) {
	for name, tc := range map[string]struct {
		seen Observed
		says string
	}{
		"predecessor":          {Observed{Predecessor: Predecessor{Remains: []string{"run-db1"}}}, "objects of an earlier run of this name are still being deleted: run-db1"},
		"instance that stays":  {Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod", removed)}}, "database instance 1 is being removed"},
		"database":             {Observed{}, "the database is being created"},
		"attempt":              {Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}, Instances: []Instance{instanceOf(1, "u")}}, trialOne},
		"refused results":      {Observed{Records: records(1, 2), Blockers: Blockers{RetryError: "ConfigMap x cannot be written: quota", Unwritten: true}}, "quota"},
		"what cannot be read":  {Observed{Blockers: Blockers{ObserveFailed: true, RetryError: "listing Jobs: forbidden"}}, "listing Jobs: forbidden"},
		"a Job that is going":  {Observed{Attempts: []Attempt{attemptOf(1, 1, jobGoing)}}, trialOne},
		"a step that is stuck": {Observed{Blockers: Blockers{RetryError: "etcd: timeout"}}, "etcd: timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.Spec.DeadlineSeconds, run.Status.StartTime = ptr.To[int32](60), ptr.To(ago(60*time.Second))
			if d := next(t, run, &tc.seen, now.Add(-time.Second)); d.Failure != nil {
				t.Errorf("failed before its deadline: %v", d.Failure)
			}
			d := next(t, run, &tc.seen, now)
			if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonDeadlineExceeded || !strings.Contains(d.Failure.Message, tc.says) ||
				!strings.Contains(d.Failure.Message, "within 1m0s (spec.deadlineSeconds)") {
				t.Errorf("decided %+v, want a failure that says %q", d.Failure, tc.says)
			}
		})
	}
}

// What has been measured is kept, although the deadline has passed meanwhile.
func TestDeadlineLetsResultsBeWritten(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.DeadlineSeconds, run.Status.StartTime = ptr.To[int32](60), ptr.To(ago(time.Hour))
	for name, seen := range map[string]Observed{
		"record":  {Attempts: []Attempt{attemptOf(1, 1, vanished)}},
		"results": {Records: records(1, 2)},
	} {
		if d := next(t, run, &seen, now); d.Failure != nil || !d.writes() {
			t.Errorf("%s: decided %T, %v", name, d.Action, d.Failure)
		}
	}
}

// The time for which a run is suspended does not count.
func TestSuspendedTimeMovesTheDeadline(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.DeadlineSeconds = ptr.To[int32](60)
	at := now
	look := func(after time.Duration, suspend bool) {
		at = at.Add(after)
		run.Spec.Suspend = ptr.To(suspend)
		run.Status = statusOf(t, run, &Observed{}, at)
	}
	look(0, false)
	look(30*time.Second, true)
	look(time.Hour, true)
	look(time.Hour, false)
	if want := metav1.NewTime(now.Add(2*time.Hour + time.Minute)); !run.Status.Deadline.Equal(&want) {
		t.Errorf("the deadline is %s, want %s", run.Status.Deadline, want)
	}
	look(29*time.Second, true)
	look(time.Minute, false)
	if want := metav1.NewTime(now.Add(2*time.Hour + 2*time.Minute)); !run.Status.Deadline.Equal(&want) {
		t.Errorf("after a second time the deadline is %s, want %s", run.Status.Deadline, want)
	}
}

// defaultRun is a run without spec.deadlineSeconds, whose attempts may take 12 minutes with everything around them.
func defaultRun(repetitions int32) *v1alpha1.BenchmarkRun {
	run := oneAxis(1, repetitions)
	run.Spec.Trials.StartDeadlineSeconds, run.Spec.Trials.DeadlineSeconds = 10, 100
	return run
}

const defaultQuiet = 120*time.Second + spareTime

// A run that makes no progress ends when one attempt could have ended, and not when all could have.
func TestStuckRunEndsSoon(t *testing.T) {
	run := defaultRun(36)
	stuck := &Observed{Predecessor: Predecessor{Remains: []string{"run-db1"}}}
	run.Status = statusOf(t, run, stuck, now)
	if d := next(t, run, stuck, now.Add(defaultQuiet-time.Second)); d.Failure != nil {
		t.Errorf("ended too early: %v", d.Failure)
	}
	d := next(t, run, stuck, now.Add(defaultQuiet))
	if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonDeadlineExceeded ||
		d.Failure.Message != "the run made no progress for 12m0s (spec.deadlineSeconds is not set): "+
			"objects of an earlier run of this name are still being deleted: run-db1" {
		t.Errorf("decided %+v", d.Failure)
	}
}

// However slow a run is, each attempt that is recorded gives it time for the next, also if an operator was away for long before.
func TestSlowRunDoesNotEnd(t *testing.T) {
	run, at := defaultRun(36), now
	for trial := 1; trial < 36; trial++ {
		at = at.Add(119 * time.Second) // of 120 that an attempt may take
		seen := &Observed{Instances: []Instance{instanceOf(1, "u", starting)}}
		for n := range trial {
			seen.Records = append(seen.Records, records(n+1)...)
		}
		seen.Newest = v1alpha1.RecordReference{ConfigMap: "run-t1-a1", Digest: strings.Repeat("1", trial)}
		d := next(t, run, seen, at)
		if d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonDeadlineExceeded {
			t.Fatalf("after %d trials it ended: %v", trial, d.Failure)
		}
		run.Status = statusOf(t, run, seen, at)
		if want := metav1.NewTime(at.Add(defaultQuiet)); !run.Status.Deadline.Equal(&want) {
			t.Fatalf("after %d trials the deadline is %s, want %s", trial, run.Status.Deadline, want)
		}
		// Nothing is new: the deadline stays, also while nothing can be read.
		for _, same := range []*Observed{seen, {Blockers: Blockers{ObserveFailed: true}}} {
			if later := statusOf(t, run, same, at.Add(time.Minute)).Deadline; !later.Equal(run.Status.Deadline) {
				t.Fatalf("a minute later it is %s", later)
			}
		}
	}
}

// An operator that was away for longer than a run may be quiet goes on with it.
func TestOperatorThatWasAway(t *testing.T) {
	run := defaultRun(36)
	seen := &Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")}}
	run.Status = statusOf(t, run, seen, now)
	back := now.Add(2 * defaultQuiet)
	if d := next(t, run, seen, back); d.Failure != nil || d.Action == (Wait{}) {
		t.Fatalf("back again, it decides %T, %+v", d.Action, d.Failure)
	}
	attempt := attemptOf(2, 1, loading)
	attempt.Job.CreationTimestamp = metav1.NewTime(back)
	seen.Attempts = []Attempt{attempt}
	if d := next(t, run, seen, back.Add(time.Minute)); d.Failure != nil {
		t.Errorf("with the next attempt under way: %+v", d.Failure)
	}
	if d := next(t, run, seen, back.Add(defaultQuiet)); d.Failure == nil {
		t.Error("an attempt that never ends does not end the run")
	}
}

// The time for which a run waits again does not count, and it has all of its time afterwards.
func TestPausedRunHasAllOfItsTime(t *testing.T) {
	run := defaultRun(3)
	run.Status = statusOf(t, run, &Observed{}, now)
	run.Spec.Suspend = ptr.To(true)
	run.Status = statusOf(t, run, &Observed{}, now.Add(time.Minute))
	run.Spec.Suspend = ptr.To(false)
	at := now.Add(48 * time.Hour)
	seen := &Observed{Predecessor: Predecessor{Remains: []string{"x"}}}
	if d := next(t, run, seen, at); d.Failure != nil {
		t.Fatalf("after two days: %+v", d.Failure)
	}
	run.Status = statusOf(t, run, seen, at)
	if want := metav1.NewTime(at.Add(defaultQuiet)); !run.Status.Deadline.Equal(&want) {
		t.Errorf("the deadline is %s, want %s", run.Status.Deadline, want)
	}
	if d := next(t, run, seen, at.Add(defaultQuiet-time.Second)); d.Failure != nil {
		t.Errorf("before its deadline: %+v", d.Failure)
	}
}

// Progress without end is none: a Job that a user deletes again and again does not keep a run for ever.
func TestDefaultDeadlineIsBounded(t *testing.T) {
	run := defaultRun(2)
	run.Status = statusOf(t, run, &Observed{}, now)
	at := now
	for range 1000 {
		at = at.Add(time.Minute)
		attempt := attemptOf(1, 1, loading)
		attempt.Job.CreationTimestamp = metav1.NewTime(at)
		seen := &Observed{Attempts: []Attempt{attempt}, Instances: []Instance{instanceOf(1, "u")}}
		if d := next(t, run, seen, at); d.Failure != nil {
			if took := at.Sub(now); took < Deadline(run, planOf(t, run)) || took > Deadline(run, planOf(t, run))+time.Minute {
				t.Errorf("it ended after %s", took)
			}
			return
		}
		run.Status = statusOf(t, run, seen, at)
	}
	t.Error("it did not end")
}

// Who waits for a lane waits as long as it takes, or as long as was asked since it could measure: since it was created or
// resumed, or since it has lost its lane.
func TestQueueDeadline(t *testing.T) {
	lost := func(ago time.Duration) []metav1.Condition {
		return []metav1.Condition{{
			Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued,
			LastTransitionTime: metav1.NewTime(now.Add(-ago)),
		}}
	}
	for name, tc := range map[string]struct {
		requested  *int32
		created    time.Duration
		queued     *metav1.Time
		conditions []metav1.Condition
		ends       bool
		after      time.Duration
	}{
		"nothing is asked":        {created: 24 * time.Hour},
		"time is left":            {requested: ptr.To[int32](600), created: 9 * time.Minute, after: time.Minute},
		"time is over":            {requested: ptr.To[int32](600), created: 10 * time.Minute, ends: true},
		"it was resumed":          {requested: ptr.To[int32](600), created: time.Hour, queued: ptr.To(ago(9 * time.Minute)), after: time.Minute},
		"it has lost its lane":    {requested: ptr.To[int32](600), created: time.Hour, conditions: lost(9 * time.Minute), after: time.Minute},
		"it has lost it for long": {requested: ptr.To[int32](600), created: time.Hour, conditions: lost(10 * time.Minute), ends: true},
		"it was resumed long ago": {requested: ptr.To[int32](600), created: time.Hour, queued: ptr.To(ago(11 * time.Minute)), ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.CreationTimestamp, run.Spec.QueueDeadlineSeconds = ago(tc.created), tc.requested
			run.Status.QueuedTime, run.Status.Conditions = tc.queued, tc.conditions
			d := next(t, run, &Observed{Lane: heldByOther}, now)
			ends := d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonQueueDeadlineExceeded
			if ends != tc.ends || !ends && (d.Reason != v1alpha1.ReasonQueued || d.After != tc.after) {
				t.Errorf("%+v, failure %+v", d, d.Failure)
			}
		})
	}
}
