// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// judgeFailed finds the cause of a failed Job. What happened to a Pod comes before what its loader reports: an evicted loader
// reports only that it was interrupted.
func judgeFailed(job *batchv1.Job, l loaders) Verdict {
	v := Verdict{Pod: l.firstFailed()}
	if deadlineExceeded(job) && !l.endedBefore(deadlineEnd(job)) {
		return v.Because(result.CauseDeadlineExceeded, fmt.Sprintf(
			"the attempt took longer than trials.deadlineSeconds allows (%d s)", *job.Spec.ActiveDeadlineSeconds)+l.interruptedAt())
	}
	if v.Pod == nil {
		if words, evicted := evictedPod(job); evicted {
			return v.Because(result.CauseEvicted, words)
		}
		return v.Because(result.CausePodDeleted, "the loader's Pod was deleted")
	}
	if pod := unreachable(l.pods); pod != nil {
		v.Pod = pod
		return v.Because(result.CauseNodeLost, "the loader's node "+pod.Spec.NodeName+" does not answer")
	}
	for i := range l.pods {
		if d := podutil.Disruption(&l.pods[i]); d != nil {
			v.Pod = &l.pods[i]
			return v.Because(result.CauseEvicted, fmt.Sprintf("%s: %s", d.Reason, d.Message))
		}
	}
	if words, evicted := evictedPod(job); evicted {
		return v.Because(result.CauseEvicted, words)
	}
	if end := podutil.Ended(v.Pod, Container); end != nil && end.Reason == podutil.OOMKilled {
		return v.Because(result.CauseOutOfMemory, "the loader ran out of memory and was killed: raise loader.resources.limits.memory")
	}
	return judgeReport(v, l)
}

// deadlineExceeded says whether the Job's deadline ended it.
func deadlineExceeded(job *batchv1.Job) bool {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		if c := jobCondition(job, t); c != nil && c.Reason == batchv1.JobReasonDeadlineExceeded {
			return true
		}
	}
	return false
}

// deadlineEnd is when the Job's deadline ended it.
func deadlineEnd(job *batchv1.Job) time.Time {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		if c := jobCondition(job, t); c != nil {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// evictedPod is what the Job says of a Pod that was evicted: the Pod itself may be gone before anybody has seen its condition.
// The Job's failure policy has no rule but that for evictions.
func evictedPod(job *batchv1.Job) (words string, evicted bool) {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		if c := jobCondition(job, t); c != nil && c.Reason == batchv1.JobReasonPodFailurePolicy {
			return c.Message, true
		}
	}
	return "", false
}

// judgeReport takes the cause from what the loader reports, because nothing happened to its Pod.
func judgeReport(v Verdict, l loaders) Verdict {
	summary, err := result.DecodeSummary(terminationMessage(v.Pod))
	switch {
	case v.Pod.DeletionTimestamp != nil:
		return v.Because(result.CausePodDeleted, l.podName(PodIndex(v.Pod))+" was deleted")
	case errors.Is(err, result.ErrSummaryVersion):
		return v.Because(result.CauseLoaderVersion, "the loader is from another release: "+err.Error())
	case err != nil && podutil.NotExecutable(v.Pod) != "":
		return v.Because(result.CauseNotStarted, podutil.NotExecutable(v.Pod))
	case err != nil:
		return v.Because(result.CauseSilent, withoutSummary(v.Pod))
	case summary.Failure == nil:
		return v.Because(result.CauseSilent, "the loader left a result but did not exit with code 0")
	case summary.Failure.Reason == result.CauseInterrupted && len(l.pods) < l.wanted:
		return v.Because(result.CausePodDeleted, l.podName(l.missing())+" was deleted")
	}
	v.Summary = summary
	message := summary.Failure.Message
	if l.wanted > 1 {
		message = fmt.Sprintf("Pod %d: %s", PodIndex(v.Pod), message)
	}
	return v.Because(summary.Failure.Reason, message)
}

// withoutSummary says how a Pod ended whose loader left no summary.
func withoutSummary(pod *corev1.Pod) string {
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
