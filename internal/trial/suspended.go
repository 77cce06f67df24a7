// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// suspended says whether a Job makes no Pods for now. Benchrun does not suspend Jobs: Kueue does, until it admits them, and
// again to take back what it has admitted.
func suspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }

// heldVerdict is about an attempt whose Job has not begun because it is suspended.
func heldVerdict(job *batchv1.Job) Verdict {
	queue, found := job.Labels[v1alpha1.LabelKueueQueue]
	if !found {
		return Verdict{Stage: StagePending, Waiting: "the loader's Job is suspended"}
	}
	return Verdict{Stage: StagePending, Waiting: podutil.WaitsForKueue("the loader's Job", queue), Held: true}
}

// interruptedBy says who ended an attempt by suspending its Job.
func interruptedBy(job *batchv1.Job) string {
	queue, found := job.Labels[v1alpha1.LabelKueueQueue]
	if !found {
		return "the loader's Job was suspended"
	}
	return fmt.Sprintf("Kueue suspended the loader's Job, which it had admitted: LocalQueue %q was stopped, or others needed the "+
		"quota", queue)
}

// counted says whether the Job controller has noticed a Pod that failed.
func counted(job *batchv1.Job) bool {
	s := &job.Status
	return s.Failed > 0 || s.UncountedTerminatedPods != nil && len(s.UncountedTerminatedPods.Failed) > 0
}
