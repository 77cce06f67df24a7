// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// An instance is warmed up until a trial on it counts: an attempt that was disturbed may have ended in its warm-up.
func TestWarmUpOfAnInstance(t *testing.T) {
	first := func(outcome result.Outcome) []*result.Record {
		r := records(1)
		r[0].Place.DatabasePodUID, r[0].Instance = "db-pod", 1
		if outcome != result.OutcomeAccepted {
			r = []*result.Record{disturbed(1, 1, outcome, result.CauseEvicted)}
			r[0].Place.DatabasePodUID, r[0].Instance = "db-pod", 1
		}
		return r
	}
	for name, tc := range map[string]struct {
		records  []*result.Record
		instance int
		change   func(*v1alpha1.TrialsSpec)
		want     bool
	}{
		"first":                 {instance: 1, want: true},
		"second":                {records: first(result.OutcomeAccepted), instance: 1},
		"the first one was not": {records: first(result.OutcomeInvalidated), instance: 1, want: true},
		"another instance":      {records: first(result.OutcomeAccepted), instance: 2, want: true},
		"not asked for":         {instance: 1, change: func(t *v1alpha1.TrialsSpec) { t.PrimeSeconds = ptr.To[int32](0) }},
		"fresh":                 {instance: 1, change: func(t *v1alpha1.TrialsSpec) { t.Server = v1alpha1.ServerFresh }},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			run.Spec.Trials.PrimeSeconds = ptr.To[int32](30)
			if tc.change != nil {
				tc.change(&run.Spec.Trials)
			}
			if tc.instance == 2 {
				run.Status.RemovedInstances = ptr.To[int32](1)
			}
			d := next(t, run, &Observed{Records: tc.records, Instances: []Instance{instanceOf(tc.instance, "db-pod")}}, now)
			start, ok := d.Action.(StartAttempt)
			if !ok || start.Attempt.Instance != tc.instance || start.Attempt.Prime != tc.want {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

// Every disturbance may cost the server, and the next one is primed.
func TestDefaultDeadlineHasRoomForWarmUps(t *testing.T) {
	run := oneAxis(3, 2)
	without := Deadline(run, planOf(t, run))
	run.Spec.Trials.PrimeSeconds = ptr.To[int32](30)
	if got, want := Deadline(run, planOf(t, run)), without+4*time.Minute; got != want {
		t.Errorf("deadline is %s, want %s", got, want)
	}
}
