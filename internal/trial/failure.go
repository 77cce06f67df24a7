// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// judgeFailed finds the cause of a failed Job. What happened to a Pod comes before what its loader reports: an evicted loader
// reports only that it was interrupted.
func judgeFailed(job *batchv1.Job, l loaders) Verdict {
	v := Verdict{Pod: l.firstFailed()}
	deadline, evicted := failedFor(job, batchv1.JobReasonDeadlineExceeded), failedFor(job, batchv1.JobReasonPodFailurePolicy)
	if deadline != nil && !endedBefore(v.Pod, deadline.LastTransitionTime.Time) {
		return v.Because(result.CauseDeadlineExceeded, fmt.Sprintf(
			"the attempt took longer than trials.deadlineSeconds allows (%d s)", *job.Spec.ActiveDeadlineSeconds)+l.interruptedAt())
	}
	if pod := podutil.Find(l.pods, podutil.NodeLost); pod != nil {
		v.Pod = pod
		return v.Because(result.CauseNodeLost, "the loader's node "+pod.Spec.NodeName+" does not answer")
	}
	for i := range l.pods {
		if d := podutil.Condition(&l.pods[i], corev1.DisruptionTarget); d != nil {
			v.Pod = &l.pods[i]
			return v.Because(result.CauseEvicted, fmt.Sprintf("%s: %s", d.Reason, d.Message))
		}
	}
	if evicted != nil {
		return v.Because(result.CauseEvicted, evicted.Message)
	}
	if v.Pod == nil {
		return v.Because(result.CausePodDeleted, "the loader's Pod was deleted")
	}
	if end := podutil.Ended(v.Pod, Container); end != nil && end.Reason == podutil.OOMKilled {
		return v.Because(result.CauseOutOfMemory, "the loader ran out of memory and was killed: raise loader.resources.limits.memory")
	}
	return judgeReport(v, l)
}

// failedFor is what a Job that fails or has failed for a reason says of that, or nil. Its failure policy has no rule but that for
// evictions: the evicted Pod itself may be gone before anybody has seen its condition.
func failedFor(job *batchv1.Job, reason string) *batchv1.JobCondition {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		if c := jobCondition(job, t); c != nil && c.Reason == reason {
			return c
		}
	}
	return nil
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

// ForeignContainers are the containers that run beside the loader in its Pod: those that an admission policy has added.
func ForeignContainers(pod *corev1.Pod) []string { return podutil.Beside(pod, Container) }

// begun says whether a Pod's loader runs or has ended, whatever its other containers wait for.
func begun(pod *corev1.Pod) bool {
	if s := podutil.Status(pod, Container); s != nil && (s.State.Running != nil || s.State.Terminated != nil) {
		return true
	}
	return pod.Status.Phase != corev1.PodPending
}

// failedBesideOthers says whether a loader has failed and its Pod goes on because of another container: the Job would not end.
func (l loaders) failedBesideOthers() bool {
	return slices.ContainsFunc(l.pods, func(pod corev1.Pod) bool {
		end := podutil.Ended(&pod, Container)
		return end != nil && end.ExitCode != 0 && slices.ContainsFunc(
			slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
			func(s corev1.ContainerStatus) bool { return s.Name != Container && s.State.Terminated == nil })
	})
}

// endedBefore says whether a loader failed on its own before a moment at which its Job was ended, because another container of
// its Pod lived on.
func endedBefore(pod *corev1.Pod, moment time.Time) bool {
	return pod != nil && !EndOf(pod).IsZero() && EndOf(pod).Before(moment)
}

// judgeSuspended is the verdict about an attempt whose Job is suspended: it has not begun, or it is being interrupted. A Job
// that is suspended does not fail: it deletes its Pods, does not count them, and makes new ones when it goes on. An attempt
// that has begun must not go on. If no manager looks while its Pods end, the loader of the new ones notices (StartedTwice).
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
