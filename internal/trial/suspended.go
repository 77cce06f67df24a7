// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// suspended says whether a Job makes no Pods for now. Benchrun does not suspend Jobs: Kueue does, until it admits them, and
// again to take back what it has admitted.
func suspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }

// judgeSuspended is the verdict about an attempt whose Job is suspended: it has not begun, or it is being interrupted. A Job
// that is suspended does not fail: it deletes its Pods, does not count them, and makes new ones when it goes on. An attempt
// that has begun must not go on. If nobody looks while its Pods end, the loader of the new ones notices (StartedTwice).
func judgeSuspended(job *batchv1.Job, l loaders) Verdict {
	queue, queued := job.Labels[v1alpha1.LabelKueueQueue]
	switch {
	case l.started() > 0 && queued:
		return Verdict{Pod: l.leader()}.Because(result.CauseEvicted, fmt.Sprintf(
			"Kueue suspended the loader's Job after admitting it: LocalQueue %q was stopped, or other workloads needed the quota", queue))
	case l.started() > 0:
		return Verdict{Pod: l.leader()}.Because(result.CauseEvicted, "the loader's Job was suspended")
	case queued:
		return Verdict{Stage: StagePending, Waiting: podutil.WaitsForKueue("the loader's Job", queue), Held: true}
	default:
		return Verdict{Stage: StagePending, Waiting: "the loader's Job is suspended"}
	}
}

// WaitingSince is since when an attempt that has not begun waits for what it waits for now: to be admitted, or for its Pods.
func WaitingSince(job *batchv1.Job) time.Time {
	since := job.CreationTimestamp.Time
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobSuspended && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	return since
}

// counted says whether the Job controller has noticed a Pod that failed.
func counted(job *batchv1.Job) bool {
	s := &job.Status
	return s.Failed > 0 || s.UncountedTerminatedPods != nil && len(s.UncountedTerminatedPods.Failed) > 0
}
