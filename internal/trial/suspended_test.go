// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			v := trial.Judge(tc.job, nil, nil)
			if v.Stage != trial.StagePending || v.Waiting != tc.waiting || v.Held != tc.held {
				t.Errorf("verdict is %+v", v)
			}
		})
	}
}

// A Job that is suspended in mid-attempt deletes its Pods and makes new ones later: the attempt is over.
func TestJudgeSuspendedInMidAttempt(t *testing.T) {
	const taken = `Kueue suspended the loader's Job after admitting it: LocalQueue "bench" was stopped, or other workloads needed the quota`
	failed := condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded)
	runs, pending := loader(phase(corev1.PodRunning)), loader(phase(corev1.PodPending))
	going, interrupted := loader(phase(corev1.PodRunning), beingDeleted), loader(leftFailure(result.CauseInterrupted), beingDeleted)
	checkJudgements(t, map[string]judgement{
		"its Pod runs":       {suspendedJob("bench"), []corev1.Pod{runs}, invalid(result.CauseEvicted, taken)},
		"its Pod is going":   {suspendedJob("bench"), []corev1.Pod{going}, invalid(result.CauseEvicted, taken)},
		"its Pod has ended":  {suspendedJob("bench"), []corev1.Pod{interrupted}, invalid(result.CauseEvicted, taken)},
		"one of two had run": {suspendedJob("bench"), []corev1.Pod{pending, interrupted}, invalid(result.CauseEvicted, taken)},
		"by a person": {
			suspendedJob(""), []corev1.Pod{interrupted}, invalid(result.CauseEvicted, "the loader's Job was suspended"),
		},
		"after it has failed": {suspendedJob("bench", failed), []corev1.Pod{loader(leftFailure(result.CauseSQL))}, verdict{
			result.OutcomeFailed, result.CauseSQL, "the loader says so", true,
		}},
	})
	v := trial.Judge(suspendedJob("bench"), []corev1.Pod{loader(phase(corev1.PodPending), beingDeleted)}, nil)
	if v.Stage != trial.StagePending || !v.Held {
		t.Errorf("its Pod had not run: verdict is %+v", v)
	}
}

// The deadline for the start of the loader begins anew when the Job is admitted.
func TestWaitingSince(t *testing.T) {
	job := jobWith(condition(batchv1.JobSuspended, "JobResumed"))
	job.CreationTimestamp = metav1.NewTime(ended)
	if got := trial.WaitingSince(job); !got.Equal(ended) {
		t.Errorf("since %s", got)
	}
	job.Status.Conditions[0].LastTransitionTime = metav1.NewTime(ended.Add(time.Minute))
	if got := trial.WaitingSince(job); !got.Equal(ended.Add(time.Minute)) {
		t.Errorf("since %s", got)
	}
	job.Status.Conditions[0].Type = batchv1.JobFailed
	if got := trial.WaitingSince(job); !got.Equal(ended) {
		t.Errorf("since %s", got)
	}
}

// Between the end of a Job's Pod and the Job's own, an attempt must not be taken for one that does not start.
func TestJudgeWhileTheJobControllerCounts(t *testing.T) {
	counting := map[string]batchv1.JobStatus{
		"counted":     {Failed: 1},
		"not counted": {UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"pod"}}},
	}
	for name, status := range counting {
		job := jobWith()
		job.Status = status
		if v := trial.Judge(job, nil, nil); v.Stage != trial.StageRunning {
			t.Errorf("%s: verdict is %+v", name, v)
		}
	}
	none := jobWith()
	none.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	if v := trial.Judge(none, nil, nil); v.Stage != trial.StagePending {
		t.Errorf("verdict is %+v", v)
	}
}
