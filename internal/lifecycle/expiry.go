// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// The records and results of a finished run stay in etcd, whose size is limited. An administrator therefore sets a default time
// to live, so that runs that nobody deletes do not fill it.

// runExpiry is when a run that finished at that time is deleted, or nil if it stays. The default does not hold for a run of a
// comparison, which is deleted with its comparison: a comparison without one of its runs has lost what its answer is based on.
func runExpiry(run *v1alpha1.BenchmarkRun, finished *metav1.Time, byDefault time.Duration) *metav1.Time {
	if MemberOf(run) != nil {
		byDefault = 0
	}
	return expiry(run.Spec.TTLSecondsAfterFinished, finished, byDefault)
}

// comparisonExpiry is when a comparison that finished at that time is deleted with its runs, or nil if it stays.
func comparisonExpiry(comparison *v1alpha1.BenchmarkComparison, finished *metav1.Time, byDefault time.Duration) *metav1.Time {
	return expiry(comparison.Spec.TTLSecondsAfterFinished, finished, byDefault)
}

// expiry prefers the time to live of the specification, whether it is longer or shorter. A default of 0 is none, whereas a
// specification that says 0 asks for the deletion at once.
func expiry(seconds *int32, finished *metav1.Time, byDefault time.Duration) *metav1.Time {
	switch {
	case finished == nil, seconds == nil && byDefault == 0:
		return nil
	case seconds != nil:
		return ptr.To(metav1.NewTime(finished.Add(time.Duration(*seconds) * time.Second)))
	}
	return ptr.To(metav1.NewTime(finished.Add(byDefault)))
}

// expire adds to the decision about a finished run or comparison that it is deleted at that time, unless it is being deleted
// already.
func expire(d *Decision, object metav1.Object, at *metav1.Time, now time.Time, deletion Action) {
	if at == nil || object.GetDeletionTimestamp() != nil {
		return
	}
	if left := at.Sub(now); left > 0 {
		d.After = Sooner(d.After, left)
	} else {
		d.Action = deletion
	}
}
