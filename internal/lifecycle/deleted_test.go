// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// expiryCases are about runs that ended an hour ago. Left is for how long they still stay, or nil if for ever.
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

// What is being deleted is not deleted again, and not looked at again for it.
func TestExpiryOfWhatIsBeingDeleted(t *testing.T) {
	for _, byDefault := range []time.Duration{time.Minute, 24 * time.Hour} {
		run := oneAxis(1, 1)
		endedRun(run, v1alpha1.ConditionComplete)
		run.DeletionTimestamp = ptr.To(ago(0))
		if d := next(t, run, &Observed{Blockers: Blockers{DefaultTTL: byDefault}}, now); d.Action != (Wait{}) || d.After != 0 {
			t.Errorf("decided %+v after %s", d.Action, d.After)
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
