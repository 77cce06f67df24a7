// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// publishGrace is how long after a failure the operator tries at least to write the results of what was measured before.
const publishGrace = time.Minute

// failing publishes what was measured before a failure, and then ends the run. If the cluster refuses the results for too long,
// it ends without them.
func failing(s *situation) *Decision {
	failed := apimeta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionFailed)
	if !s.is(v1alpha1.ConditionFailed) {
		return nil
	}
	over := failed.LastTransitionTime.Add(publishGrace)
	if deadline := deadline(s); deadline.After(over) {
		over = deadline
	}
	left := over.Sub(s.now)
	if s.nothingToPublish() || s.seen.RetryError != "" && left <= 0 {
		return &Decision{Action: Wait{}, Finished: true}
	}
	if d := s.restoring(); d != nil && left > 0 {
		return d
	}
	return &Decision{
		Action: Publish{Outcome: v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: max(0, left),
		Message: "the run has failed; the results so far are being written",
	}
}

// nothingToPublish: the results are there, or there is nothing that could be in them.
func (s *situation) nothingToPublish() bool {
	return s.seen.Results != nil || s.plan == nil || len(s.seen.Records) == 0
}

// keeps says whether the database stays after that end.
func (s *situation) keeps(complete bool) bool { return keeps(s.run.Spec.Cleanup, complete) }

func keeps(policy v1alpha1.CleanupPolicy, complete bool) bool {
	return policy == v1alpha1.CleanupNever || policy == v1alpha1.CleanupOnSuccess && !complete
}

// cleanUp is the next step of spec.cleanup, or nil.
func (s *situation) cleanUp(complete bool) Action {
	return thenCopies(s.cleanUpInstances(complete), s.seen.DataCopies)
}

// thenCopies is a step or, if there is none, the removal of the copies of prepared data: they are of no use any more, whether or
// not a database stays.
func thenCopies(next Action, copies bool) Action {
	if next == nil && copies {
		return RemoveDataCopies{}
	}
	return next
}

// cleanUpInstances: the Jobs of a failed run stay if its database stays: both can be inspected.
func (s *situation) cleanUpInstances(complete bool) Action {
	if s.keeps(complete) {
		if a := cleanUp(s.seen.Instances, true); a != nil {
			return a
		}
		return s.leaveNodes("")
	}
	return s.removeEverything()
}
