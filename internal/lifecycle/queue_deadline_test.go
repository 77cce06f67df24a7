// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

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
			comparison := testutil.MakeComparison("s", "ns", "a", "b").Obj()
			comparison.CreationTimestamp, comparison.Spec.QueueDeadlineSeconds = ago(tc.created), tc.requested
			comparison.Status.QueuedTime, comparison.Status.Conditions = tc.queued, tc.conditions
			p, err := validation.PlanComparison(comparison)
			if err != nil {
				t.Fatal(err)
			}
			seen := &ComparisonObserved{Lane: heldByOther, Checked: true, ComparisonRuns: membersOf(p)}
			for noun, d := range map[string]Decision{
				"run":        next(t, run, &Observed{Lane: heldByOther}, now),
				"comparison": NextOfComparison(comparison, p, seen, now),
			} {
				ends := d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonQueueDeadlineExceeded
				if ends != tc.ends || !ends && (d.Reason != v1alpha1.ReasonQueued || d.After != tc.after) {
					t.Errorf("%s: %+v, failure %+v", noun, d, d.Failure)
				}
			}
		})
	}
}
