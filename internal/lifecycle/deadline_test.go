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
	if got, want := Deadline(run, planOf(t, run)), (6+2)*120*time.Second+10*time.Minute; got != want {
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
		"predecessor":          {Observed{Predecessor: []string{"run-db1"}}, "objects of an earlier run of this name are still being deleted: run-db1"},
		"instance that stays":  {Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod", removed)}}, "database instance 1 is being removed"},
		"database":             {Observed{}, "the database is being created"},
		"attempt":              {Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}, Instances: []Instance{instanceOf(1, "u")}}, trialOne},
		"refused results":      {Observed{Records: records(1, 2), Hindrances: Hindrances{Trouble: "ConfigMap x cannot be written: quota", Unwritten: true}}, "quota"},
		"what cannot be read":  {Observed{Hindrances: Hindrances{Blind: true, Trouble: "listing Jobs: forbidden"}}, "listing Jobs: forbidden"},
		"a Job that is going":  {Observed{Attempts: []Attempt{attemptOf(1, 1, jobGoing)}}, trialOne},
		"a step that is stuck": {Observed{Hindrances: Hindrances{Trouble: "etcd: timeout"}}, "etcd: timeout"},
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
		if d := next(t, run, &seen, now); d.Failure != nil || !writes(d.Action) {
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
