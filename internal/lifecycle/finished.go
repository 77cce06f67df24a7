// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// finished does what is left after the end: it publishes what was measured before a failure, removes the Jobs and the database,
// and deletes the run when its time to live is over.
func finished(s *situation) *Decision {
	if !apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionFinished) {
		return nil
	}
	d := Decision{Action: Wait{}}
	complete := apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionComplete)
	switch {
	case s.seen.Results == nil && len(s.seen.Records) > 0 && !complete:
		d.Action = Publish{Outcome: v1alpha1.ConditionFailed}
	case s.cleanUp(complete) != nil:
		d.Action = s.cleanUp(complete)
	case s.run.Spec.TTLSecondsAfterFinished != nil && s.run.Status.CompletionTime != nil:
		ttl := time.Duration(*s.run.Spec.TTLSecondsAfterFinished) * time.Second
		if left := s.run.Status.CompletionTime.Add(ttl).Sub(s.now); left > 0 {
			d.After = left
		} else {
			d.Action = DeleteRun{}
		}
	}
	return &d
}

// cleanUp is the next step of spec.cleanup, or nil. The Jobs of a failed run stay if its database stays: both can be inspected.
func (s *situation) cleanUp(complete bool) Action {
	switch s.run.Spec.Cleanup {
	case v1alpha1.CleanupAlways:
	case v1alpha1.CleanupNever:
		return nil
	case v1alpha1.CleanupOnSuccess:
		if !complete {
			return nil
		}
	}
	return s.removeEverything()
}
