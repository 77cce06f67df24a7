// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Stage is how far an attempt is.
type Stage string

const (
	// StagePending: no loader has run yet.
	StagePending Stage = "Pending"
	// StageRunning: a loader is running.
	StageRunning Stage = "Running"
	// StageEnded: the verdict below holds.
	StageEnded Stage = "Ended"
)

// Verdict is what a Job and its Pods say of an attempt.
type Verdict struct {
	Stage Stage
	// Waiting says what a pending attempt waits for, in the cluster's words where it has any.
	Waiting string
	// Running is how many of several loaders run already, of a pending attempt.
	Running int
	// Outcome, Cause and Message hold for an ended attempt. An accepted one still owes its document.
	Outcome result.Outcome
	Cause   result.Cause
	Message string
	// Pod is the one that ran, if there was one: of several, the one that leads, or that explains the end.
	Pod *corev1.Pod
	// Summary is what it left, if it left one.
	Summary *result.Summary
}

// Judge an attempt by its Job and all Pods of it.
func Judge(job *batchv1.Job, pods []corev1.Pod) Verdict {
	c := newCrew(job, pods)
	switch {
	case tookTooLong(job) && c.stopping(job):
		// It is being told to stop, and says then where it was.
		return Verdict{Stage: StageRunning, Pod: c.lead()}
	case ended(job, batchv1.JobFailureTarget) != nil || ended(job, batchv1.JobFailed) != nil:
		return failed(job, c)
	case ended(job, batchv1.JobSuccessCriteriaMet) != nil || ended(job, batchv1.JobComplete) != nil:
		return succeeded(c)
	case c.allEndedWell():
		// Pods and Job will say the same, some seconds later: the kubelet tidies up first, and the Job's controller gathers
		// changes. Nothing of that changes how the only containers of the only Pods have ended.
		return succeeded(c)
	case lost(c.pods) != nil:
		// The Job would wait for a Pod that a dead node never gives back.
		return failed(job, c)
	case len(c.pods) == 0:
		return Verdict{Stage: StagePending, Waiting: "the loader's Pod is being created"}
	case c.pending() != nil:
		return Verdict{Stage: StagePending, Waiting: c.waiting(), Running: c.running(), Pod: c.pending()}
	case c.uncreated(job):
		waiting := fmt.Sprintf("%d of %d loaders run, Pod %d is being created", c.running(), c.size, c.missing())
		return Verdict{Stage: StagePending, Waiting: waiting, Running: c.running()}
	default:
		return Verdict{Stage: StageRunning, Pod: c.lead()}
	}
}

// lost finds a Pod whose node does not answer.
func lost(pods []corev1.Pod) *corev1.Pod {
	for i := range pods {
		if podutil.NodeLost(&pods[i]) {
			return &pods[i]
		}
	}
	return nil
}

// ended finds a condition of a Job that is true. The two targets come before Complete and Failed, which wait for Pods that
// a dead node never gives back.
func ended(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == t && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return &job.Status.Conditions[i]
}

// succeeded judges loaders that ended well. The one that leads owes the result, the others that theirs is in it.
func succeeded(c crew) Verdict {
	v := Verdict{Stage: StageEnded, Pod: c.lead()}
	switch {
	case c.lead() == nil || len(c.pods) < c.size:
		return v.Because(result.CausePodDeleted, c.whose(c.missing())+" is gone, and its result with it")
	case c.twice():
		return v.Because(result.CauseStartedTwice, fmt.Sprintf("%d Pods ran for one attempt", len(c.pods)))
	}
	for i := range c.pods {
		pod := &c.pods[i]
		if pod.DeletionTimestamp != nil {
			return v.Because(result.CausePodDeleted, c.whose(i)+" was being deleted")
		}
		summary, err := result.DecodeSummary(terminationMessage(pod))
		if err != nil {
			return v.Because(result.CauseSilent, c.who(i)+" ended well but left no result: "+err.Error())
		}
		if i == 0 {
			v.Summary = summary
		}
		switch {
		case summary.Failure != nil:
			return v.Because(result.CauseSilent, c.who(i)+" ended well but reports a failure: "+summary.Failure.Message)
		case summary.Identity.PodUID != string(pod.UID) || summary.Identity.Pod != i:
			return v.Because(result.CauseForeignResult, "the result is that of another Pod")
		case summary.Delivered != (i > 0):
			return v.Because(result.CauseSilent, c.who(i)+" ended well but left no result")
		}
	}
	v.Outcome = result.OutcomeAccepted
	return v
}

// Because is the verdict that the attempt ended for a cause, which decides about its outcome.
func (v Verdict) Because(cause result.Cause, message string) Verdict {
	v.Stage, v.Outcome, v.Cause, v.Message = StageEnded, cause.Outcome(), cause, message
	return v
}

// endedWell says whether the loader of a Pod has ended with exit code 0.
func endedWell(pod *corev1.Pod) bool {
	end := podutil.Ended(pod, Container)
	return end != nil && end.ExitCode == 0
}

// terminationMessage is what the loader left; empty as long as it has not ended.
func terminationMessage(pod *corev1.Pod) string {
	if end := podutil.Ended(pod, Container); end != nil {
		return end.Message
	}
	return ""
}

// EndOf is when the loader of a Pod ended; the zero time as long as it has not.
func EndOf(pod *corev1.Pod) time.Time {
	if end := podutil.Ended(pod, Container); end != nil {
		return end.FinishedAt.Time
	}
	return time.Time{}
}
