// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// queuedSince is since when an object waits for its lane: since it could measure or, if it had the lane and has lost it, since
// then.
func queuedSince(ready metav1.Time, conditions []metav1.Condition) time.Time {
	if c := pause(conditions); c != nil {
		return later(ready.Time, c.LastTransitionTime.Time)
	}
	return ready.Time
}

// queueDeadline bounds the decision to wait for a lane: who has waited for as long as was asked ends, and says for whom.
func (d *Decision) queueDeadline(noun string, requested *int32, waited time.Duration) *Decision {
	if requested == nil {
		return d
	}
	most := time.Duration(*requested) * time.Second
	if left := most - waited; left > 0 {
		d.After = Sooner(d.After, left)
		return d
	}
	return fail(Failure{Reason: v1alpha1.ReasonQueueDeadlineExceeded, Message: fmt.Sprintf(
		"the %s waited for its lane for %s (spec.queueDeadlineSeconds): %s", noun, most, d.Message)})
}
