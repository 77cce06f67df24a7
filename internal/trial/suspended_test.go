// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// suspendedJob is a Job as Kueue's webhook makes it, or with the queue "" as a person does.
func suspendedJob(queue string, conditions ...batchv1.JobCondition) *batchv1.Job {
	job := jobWith(conditions...)
	job.Spec.Suspend = ptr.To(true)
	if queue != "" {
		job.Labels = map[string]string{v1alpha1.LabelKueueQueue: queue}
	}
	return job
}

func TestJudgeSuspendedBeforeItsStart(t *testing.T) {
	admitted := suspendedJob("bench")
	admitted.Spec.Suspend = ptr.To(false)
	for name, tc := range map[string]struct {
		job     *batchv1.Job
		waiting string
		held    bool
	}{
		"by Kueue": {
			suspendedJob("bench", condition(batchv1.JobSuspended, "JobSuspended")),
			`Kueue has not admitted the loader's Job yet: LocalQueue "bench" needs quota for database and loader at the same time`, true,
		},
		"by a person": {suspendedJob(""), "the loader's Job is suspended", false},
		"admitted":    {admitted, "the loader's Pod is being created", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := trial.Judge(tc.job, nil)
			if v.Stage != trial.StagePending || v.Waiting != tc.waiting || v.Held != tc.held {
				t.Errorf("verdict is %+v", v)
			}
		})
	}
}

// A Job that is suspended in mid-attempt deletes its Pods, and with a backoff limit of 0 fails by their end.
func TestJudgeSuspendedInMidAttempt(t *testing.T) {
	const taken = `Kueue suspended the loader's Job, which it had admitted: LocalQueue "bench" was stopped, or others needed the quota`
	failed := condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded)
	deadline := condition(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded)
	interrupted := loader(leftFailure(result.CauseInterrupted), beingDeleted)
	checkJudgements(t, map[string]judgement{
		"its Pod has ended": {suspendedJob("bench", failed), []corev1.Pod{interrupted}, invalid(result.CauseEvicted, taken)},
		"its Pod is gone":   {suspendedJob("bench", failed), nil, invalid(result.CauseEvicted, taken)},
		"by a person": {
			suspendedJob("", failed), []corev1.Pod{interrupted}, invalid(result.CauseEvicted, "the loader's Job was suspended"),
		},
		"after its deadline": {suspendedJob("bench", deadline), nil, verdict{
			Outcome: result.OutcomeFailed, Cause: result.CauseDeadlineExceeded,
			Message: "the attempt took longer than trials.deadlineSeconds allows (600 s)",
		}},
		"admitted again by now": {failedJob, []corev1.Pod{interrupted}, invalid(result.CausePodDeleted, "the loader's Pod was deleted")},
	})
}

// Between the end of a Job's Pod and the Job's own, an attempt must not be taken for one that does not start.
func TestJudgeWhileTheJobControllerCounts(t *testing.T) {
	counting := map[string]batchv1.JobStatus{
		"counted":     {Failed: 1},
		"not counted": {UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"pod"}}},
	}
	for name, status := range counting {
		for _, job := range []*batchv1.Job{jobWith(), suspendedJob("bench")} {
			job.Status = status
			if v := trial.Judge(job, nil); v.Stage != trial.StageRunning {
				t.Errorf("%s: verdict is %+v", name, v)
			}
		}
	}
	none := jobWith()
	none.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	if v := trial.Judge(none, nil); v.Stage != trial.StagePending {
		t.Errorf("verdict is %+v", v)
	}
}
