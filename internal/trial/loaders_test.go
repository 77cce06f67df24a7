// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// of makes a Pod one of several.
func of(index int) podChange {
	return func(p *corev1.Pod) {
		p.UID = types.UID(fmt.Sprintf("pod-%d", index))
		p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)}
	}
}

// reporting is a Pod whose loader ended with a summary of its own.
func reporting(index int, change func(*result.Summary)) corev1.Pod {
	uid := types.UID(fmt.Sprintf("pod-%d", index))
	summary := result.Summary{Version: result.DocumentVersion, Identity: result.Identity{PodUID: string(uid), Pod: index}}
	if index == 0 {
		summary.DocumentSHA256 = "feed"
	} else {
		summary.Delivered = true
	}
	change(&summary)
	exitCode := int32(0)
	if summary.Failure != nil {
		exitCode = 1
	}
	data, err := result.EncodeSummary(summary)
	if err != nil {
		panic(err)
	}
	return loader(of(index), func(p *corev1.Pod) { testutil.EndedLoaderPod(p, exitCode, string(data), ended) })
}

func well(index int) corev1.Pod { return reporting(index, func(*result.Summary) {}) }

func failing(index int, reason result.Cause, later time.Duration) corev1.Pod {
	p := reporting(index, func(s *result.Summary) {
		s.DocumentSHA256, s.Delivered = "", false
		s.Failure = &result.Failure{Reason: reason, Message: "it says so"}
	})
	p.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time = ended.Add(later)
	return p
}

func jobOfThree(conditions ...batchv1.JobCondition) *batchv1.Job {
	job := jobWith(conditions...)
	job.Spec.Completions = ptr.To[int32](3)
	return job
}

func TestJudgeSeveralLoaders(t *testing.T) {
	three := []corev1.Pod{well(2), well(0), well(1)}
	accepted := verdict{Outcome: result.OutcomeAccepted, HasSummary: true}
	withSummary := func(v verdict) verdict {
		v.HasSummary = true
		return v
	}
	succeeded := jobOfThree(condition(batchv1.JobSuccessCriteriaMet, ""))
	failedJobOfThree := jobOfThree(condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded))
	checkJudgements(t, map[string]judgement{
		"all ended well":       {jobOfThree(), three, accepted},
		"and the Job says so":  {succeeded, three, accepted},
		"one is gone":          {succeeded, three[:2], invalid(result.CausePodDeleted, "the loaders' Pod 1 is gone, and so is its result")},
		"who leads is gone":    {succeeded, []corev1.Pod{well(1), well(2)}, invalid(result.CausePodDeleted, "the loaders' Pod 0 is gone, and so is its result")},
		"an index twice":       {succeeded, append([]corev1.Pod{well(1)}, three...), invalid(result.CauseStartedTwice, "4 Pods ran for one attempt")},
		"one did not deliver":  {succeeded, []corev1.Pod{well(0), well(1), reporting(2, func(s *result.Summary) { s.Delivered, s.DocumentSHA256 = false, "beef" })}, withSummary(invalid(result.CauseSilent, "the loader of Pod 2 exited with code 0 but left no result"))},
		"one said nothing":     {succeeded, []corev1.Pod{well(0), loader(of(1), left(0, "")), well(2)}, withSummary(invalid(result.CauseSilent, "the loader of Pod 1 exited with code 0 but left no result: the termination message holds no summary"))},
		"in another's name":    {succeeded, []corev1.Pod{well(0), well(1), reporting(2, func(s *result.Summary) { s.Identity.Pod = 1 })}, withSummary(invalid(result.CauseForeignResult, "the result belongs to another Pod"))},
		"told to stop is none": {failedJobOfThree, []corev1.Pod{failing(0, result.CauseInterrupted, -time.Second), failing(1, result.CauseConnectionLost, time.Second), well(2)}, withSummary(invalid(result.CauseConnectionLost, "Pod 1: it says so"))},
		"the first that failed": {
			failedJobOfThree,
			[]corev1.Pod{failing(0, result.CauseConnectionLost, time.Second), failing(1, result.CauseServerRestarted, 0), well(2)},
			withSummary(invalid(result.CauseServerRestarted, "Pod 1: it says so")),
		},
		"one was deleted": {
			failedJobOfThree,
			[]corev1.Pod{failing(0, result.CauseInterrupted, 0), failing(2, result.CauseInterrupted, 0)},
			invalid(result.CausePodDeleted, "the loaders' Pod 1 was deleted"),
		},
		"one did not come": {
			failedJobOfThree,
			[]corev1.Pod{failing(0, result.CauseBarrierTimeout, 0), failing(1, result.CauseInterrupted, 0)},
			withSummary(verdict{Outcome: result.OutcomeFailed, Cause: result.CauseBarrierTimeout, Message: "Pod 0: it says so"}),
		},
	})
}

func TestJudgeSeveralLoadersBeforeTheEnd(t *testing.T) {
	running := func(index int) corev1.Pod { return loader(of(index), phase(corev1.PodRunning)) }
	unschedulable := loader(of(1), phase(corev1.PodPending), func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}
	})
	for name, tc := range map[string]struct {
		pods    []corev1.Pod
		stage   trial.Stage
		running int
		waiting string
	}{
		"one is not made":   {[]corev1.Pod{running(0), running(2)}, trial.StagePending, 2, "2 of 3 loaders are running; Pod 1 is being created"},
		"all run":           {[]corev1.Pod{running(0), running(1), running(2)}, trial.StageRunning, 0, ""},
		"one has delivered": {[]corev1.Pod{running(0), well(1), running(2)}, trial.StageRunning, 0, ""},
		"one waits": {
			[]corev1.Pod{running(0), unschedulable, running(2)},
			trial.StagePending, 2,
			"2 of 3 loaders are running; Pod 1 is not: the loader's Pod cannot be scheduled: 0/3 nodes",
		},
		"none runs": {
			[]corev1.Pod{unschedulable},
			trial.StagePending, 0,
			"0 of 3 loaders are running; Pod 1 is not: the loader's Pod cannot be scheduled: 0/3 nodes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := trial.Judge(jobOfThree(), tc.pods, nil)
			if v.Stage != tc.stage || v.Running != tc.running || v.Waiting != tc.waiting {
				t.Errorf("verdict %+v", v)
			}
		})
	}
	// A Pod that is gone was made: its Job knows of three, or of an end.
	for _, status := range []batchv1.JobStatus{{Active: 3}, {Active: 2, Failed: 1}} {
		job := jobOfThree()
		job.Status.Active, job.Status.Failed = status.Active, status.Failed
		if v := trial.Judge(job, []corev1.Pod{running(0), running(2)}, nil); v.Stage != trial.StageRunning {
			t.Errorf("%+v: verdict %+v", status, v)
		}
	}
}
