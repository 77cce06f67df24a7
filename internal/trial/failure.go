// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// hopeless are the loader's reasons that a new attempt would meet again.
var hopeless = map[result.Cause]bool{
	result.CauseConfiguration: true,
	result.CauseConnect:       true,
	result.CauseSettingNotEffective:       true,
	result.CauseSchemaTaken:   true,
	result.CauseSQL:           true,
	result.CauseToolFailed:          true,
	// The Pod that did not come has its reasons, in the cluster, not here.
	result.CauseBarrierTimeout: true,
	result.CauseInternal:       true,
}

// failed finds out why a Job failed. What happened to a Pod from outside comes before what the loader says: an evicted
// loader reports no more than that it was interrupted.
func failed(job *batchv1.Job, c crew) Verdict {
	pod := c.culprit()
	v := Verdict{Stage: StageEnded, Outcome: result.OutcomeInvalidated, Pod: pod}
	if tookTooLong(job) {
		v.Outcome = result.OutcomeFailed
		return v.because(result.CauseDeadlineExceeded, fmt.Sprintf(
			"the attempt took longer than trials.deadlineSeconds (%d)", *job.Spec.ActiveDeadlineSeconds)+c.whereItWas())
	}
	if pod == nil {
		return v.because(result.CausePodDeleted, "the loader's Pod was deleted")
	}
	if p := lost(c.pods); p != nil {
		v.Pod = p
		return v.because(result.CauseNodeLost, nodeLost(p))
	}
	for i := range c.pods {
		if d := podutil.Disruption(&c.pods[i]); d != nil {
			v.Pod = &c.pods[i]
			return v.because(result.CauseEvicted, fmt.Sprintf("%s: %s", d.Reason, d.Message))
		}
	}
	if end := podutil.Ended(pod, Container); end != nil && end.Reason == "OOMKilled" {
		return v.because(result.CauseOutOfMemory, "the loader was killed for its memory: raise loader.resources.limits.memory")
	}
	return v.ofItsOwnAccord(c)
}

// tookTooLong says whether the Job's deadline ended it.
func tookTooLong(job *batchv1.Job) bool {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		if c := ended(job, t); c != nil && c.Reason == batchv1.JobReasonDeadlineExceeded {
			return true
		}
	}
	return false
}

// ofItsOwnAccord is the verdict about a loader that nothing happened to from outside: what it says.
func (v Verdict) ofItsOwnAccord(c crew) Verdict {
	summary, err := result.DecodeSummary(terminationMessage(v.Pod))
	switch {
	case v.Pod.DeletionTimestamp != nil:
		return v.because(result.CausePodDeleted, c.whose(PodIndex(v.Pod))+" was deleted")
	case err != nil:
		return v.because(result.CauseSilent, silence(v.Pod))
	case summary.Failure == nil:
		return v.because(result.CauseSilent, "the loader left a result but did not end well")
	case summary.Failure.Reason == result.CauseInterrupted && len(c.pods) < c.size:
		return v.because(result.CausePodDeleted, c.whose(c.missing())+" was deleted")
	}
	v.Summary = summary
	if hopeless[summary.Failure.Reason] {
		v.Outcome = result.OutcomeFailed
	}
	message := summary.Failure.Message
	if c.size > 1 {
		message = fmt.Sprintf("Pod %d: %s", PodIndex(v.Pod), message)
	}
	return v.because(result.Cause(summary.Failure.Reason), message)
}

func nodeLost(pod *corev1.Pod) string {
	return "the loader's node " + pod.Spec.NodeName + " does not answer"
}

func silence(pod *corev1.Pod) string {
	end := podutil.Ended(pod, Container)
	switch {
	case end != nil:
		return fmt.Sprintf("the loader ended with exit code %d and left no result", end.ExitCode)
	case pod.Status.Message != "":
		return "the loader's Pod ended: " + pod.Status.Message
	default:
		return "the loader's Pod ended and left no result"
	}
}
