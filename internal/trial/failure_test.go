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
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

func TestJudgeFailure(t *testing.T) {
	const evicted = "EvictionByEvictionAPI: Eviction API: evicting"
	overDeadlineWith := func(words string) verdict {
		const message = "the attempt took longer than trials.deadlineSeconds allows (600 s)"
		return verdict{Outcome: result.OutcomeFailed, Cause: result.CauseDeadlineExceeded, Message: message + words}
	}
	overDeadline := overDeadlineWith("")
	saysSo := func(outcome result.Outcome, reason result.Cause) verdict {
		return verdict{outcome, reason, "the loader says so", true}
	}
	memory := invalid(result.CauseOutOfMemory, "the loader ran out of memory and was killed: raise loader.resources.limits.memory")
	deadline := condition(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded)
	interrupted := leftFailure(result.CauseInterrupted)
	checkJudgements(t, map[string]judgement{
		"deadline":                 {jobWith(deadline), []corev1.Pod{loader(interrupted)}, overDeadlineWith(": the loader says so")},
		"deadline, without a word": {jobWith(deadline), []corev1.Pod{loader(left(137, ""))}, overDeadline},
		"deadline, Job has failed meanwhile": {
			jobWith(deadline, condition(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)),
			[]corev1.Pod{loader(phase(corev1.PodRunning), beingDeleted)},
			overDeadline,
		},
		"deadline, Job has failed": {jobWith(condition(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)), nil, overDeadline},
		"deadline comes first": {
			jobWith(deadline), []corev1.Pod{loader(leftFailure(result.CauseSQL), disrupted(corev1.ConditionTrue), outOfMemory)}, overDeadline,
		},
		"failure comes before success": {
			jobWith(condition(batchv1.JobSuccessCriteriaMet, ""), condition(batchv1.JobFailed, "")),
			[]corev1.Pod{loader(leftFailure(result.CauseCheckFailed))},
			saysSo(result.OutcomeInvalidated, result.CauseCheckFailed),
		},
		"no Pod": {failedJob, nil, invalid(result.CausePodDeleted, "the loader's Pod was deleted")},

		"evicted and gone": {
			evictedJob, nil, invalid(result.CauseEvicted, "Pod ns/x has condition DisruptionTarget matching FailJob rule at index 0"),
		},
		"evicted and gone, and another is being deleted": {
			evictedJob,
			[]corev1.Pod{loader(interrupted, beingDeleted)},
			invalid(result.CauseEvicted, "Pod ns/x has condition DisruptionTarget matching FailJob rule at index 0"),
		},
		"evicted": {failedJob, []corev1.Pod{loader(interrupted, disrupted(corev1.ConditionTrue))}, invalid(result.CauseEvicted, evicted)},
		"evicted comes before what a new attempt would meet again": {
			failedJob, []corev1.Pod{loader(leftFailure(result.CauseSQL), disrupted(corev1.ConditionTrue))}, invalid(result.CauseEvicted, evicted),
		},
		"evicted comes before memory": {
			failedJob, []corev1.Pod{loader(left(137, ""), outOfMemory, disrupted(corev1.ConditionTrue))}, invalid(result.CauseEvicted, evicted),
		},
		"evicted comes before deletion": {
			failedJob, []corev1.Pod{loader(interrupted, disrupted(corev1.ConditionTrue), beingDeleted)}, invalid(result.CauseEvicted, evicted),
		},
		"evicted before it ran": {
			failedJob, []corev1.Pod{loader(phase(corev1.PodPending), disrupted(corev1.ConditionTrue))}, invalid(result.CauseEvicted, evicted),
		},
		"another Pod was evicted": {
			failedJob, []corev1.Pod{loader(interrupted), loader(disrupted(corev1.ConditionTrue))}, invalid(result.CauseEvicted, evicted),
		},
		"not evicted": {
			failedJob, []corev1.Pod{loader(interrupted, disrupted(corev1.ConditionFalse))}, saysSo(result.OutcomeInvalidated, result.CauseInterrupted),
		},

		"a loader for another processor": {
			failedJob,
			[]corev1.Pod{loader(left(255, "exec /loader: exec format error\n"), foreign)},
			verdict{Outcome: result.OutcomeFailed, Cause: result.CauseNotStarted, Message: "node n cannot execute image loader:arm64 of container loader: " +
				"it is for another processor (exec format error)"},
		},
		"a loader of another release": {
			failedJob,
			[]corev1.Pod{loader(left(1, `benchrun-summary-v1 {"version":7}`))},
			verdict{Outcome: result.OutcomeFailed, Cause: result.CauseLoaderVersion, Message: "the loader is from another release: " +
				"the summary has another version: it has version 7, this program reads 1"},
		},
		"a loader of a later release": {
			failedJob,
			[]corev1.Pod{loader(left(1, `benchrun-summary-v2 {}`))},
			verdict{Outcome: result.OutcomeFailed, Cause: result.CauseLoaderVersion, Message: "the loader is from another release: " +
				"the summary has another version: format 2, this program reads format 1"},
		},
		"memory": {failedJob, []corev1.Pod{loader(left(137, ""), outOfMemory)}, memory},
		"memory comes before what the loader says": {failedJob, []corev1.Pod{loader(leftFailure(result.CauseSQL), outOfMemory)}, memory},
		"memory comes before deletion":             {failedJob, []corev1.Pod{loader(left(137, ""), outOfMemory, beingDeleted)}, memory},

		"deleted": {failedJob, []corev1.Pod{loader(interrupted, beingDeleted)}, invalid(result.CausePodDeleted, "the loader's Pod was deleted")},
		"deleted comes before what the loader says": {
			failedJob, []corev1.Pod{loader(leftFailure(result.CauseSQL), beingDeleted)}, invalid(result.CausePodDeleted, "the loader's Pod was deleted"),
		},

		"silent": {failedJob, []corev1.Pod{loader(left(2, ""))}, invalid(result.CauseSilent, "the loader ended with exit code 2 and left no result")},
		"silent, garbage": {
			failedJob, []corev1.Pod{loader(left(2, "panic: oh"))}, invalid(result.CauseSilent, "the loader ended with exit code 2 and left no result"),
		},
		"silent, the kubelet knows why": {
			failedJob,
			[]corev1.Pod{loader(func(p *corev1.Pod) { p.Status.Message = "Pod was rejected: no memory" })},
			invalid(result.CauseSilent, "the loader's Pod ended: Pod was rejected: no memory"),
		},
		"silent, nobody knows why": {
			failedJob, []corev1.Pod{loader(phase(corev1.PodFailed))}, invalid(result.CauseSilent, "the loader's Pod ended and left no result"),
		},
		"a result, and a bad end": {
			failedJob, []corev1.Pod{loader(left(1, message("pod", "")))}, invalid(result.CauseSilent, "the loader left a result but did not exit with code 0"),
		},
	})
}

// What the loader itself says decides whether a new attempt makes sense.
func TestJudgeLoaderReasons(t *testing.T) {
	reasons := map[result.Cause]result.Outcome{
		result.CauseConfiguration:       result.OutcomeFailed,
		result.CauseConnect:             result.OutcomeFailed,
		result.CauseSettingNotEffective: result.OutcomeFailed,
		result.CauseSQL:                 result.OutcomeFailed,
		result.CauseSchemaTaken:         result.OutcomeFailed,
		result.CauseToolFailed:          result.OutcomeFailed,
		result.CauseBarrierTimeout:      result.OutcomeFailed,
		result.CauseInternal:            result.OutcomeFailed,
		result.CauseConnectionLost:      result.OutcomeInvalidated,
		result.CauseCheckFailed:         result.OutcomeInvalidated,
		result.CauseVariablesChanged:    result.OutcomeInvalidated,
		result.CauseServerRestarted:     result.OutcomeInvalidated,
		result.CauseInterrupted:         result.OutcomeInvalidated,
		result.CauseStartedTwice:        result.OutcomeInvalidated,
		result.CauseStartedLate:         result.OutcomeInvalidated,
		"OfALaterRelease":               result.OutcomeInvalidated,
	}
	cases := map[string]judgement{}
	for reason, outcome := range reasons {
		cases[string(reason)] = judgement{
			failedJob, []corev1.Pod{loader(leftFailure(reason))}, verdict{outcome, reason, "the loader says so", true},
		}
	}
	checkJudgements(t, cases)
}

func TestVerdictNamesThePod(t *testing.T) {
	evicted := loader(disrupted(corev1.ConditionTrue))
	evicted.Name = "evicted"
	v := trial.Judge(failedJob, []corev1.Pod{loader(left(1, "")), evicted}, nil)
	if v.Pod == nil || v.Pod.Name != "evicted" {
		t.Errorf("Pod is %v", v.Pod)
	}
}

func TestFactsOfTheLoadersPod(t *testing.T) {
	running, over := loader(phase(corev1.PodRunning)), loader(left(0, ""))
	if got := trial.EndOf(&running); !got.IsZero() {
		t.Errorf("a running loader ended at %s", got)
	}
	if got := trial.EndOf(&over); !got.Equal(ended) {
		t.Errorf("the loader ended at %s, want %s", got, ended)
	}
	must.Same(t, "image", "", podutil.ImageID(&running, trial.Container))
	must.Same(t, "image", "loader@sha256:1111", podutil.ImageID(&over, trial.Container))
}

// foreign lets a Pod be on a node that cannot execute its image.
func foreign(p *corev1.Pod) {
	p.Spec.NodeName, p.Status.ContainerStatuses[0].Image = "n", "loader:arm64"
}

// sidecars are what a policy may add to a loader's Pod, and the state in which it is.
var sidecars = map[string]podChange{
	"a container that runs": beside(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.PodRunning),
	"a container that has no image": beside(
		corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}, corev1.PodPending),
	"a container without a state": beside(corev1.ContainerState{}, corev1.PodRunning),
	"a native sidecar that runs": func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "agent", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		p.Status.Phase = corev1.PodRunning
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{
			{Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	},
}

func beside(state corev1.ContainerState, phase corev1.PodPhase) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: trial.Container}, {Name: "agent"}}
		p.Status.Phase = phase
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "agent", State: state})
	}
}

// The end of the loader decides, whatever lives on beside it: a Job that does not end is not waited for.
func TestSidecarDoesNotHoldTheEnd(t *testing.T) {
	for name, sidecar := range sidecars {
		t.Run(name, func(t *testing.T) {
			checkJudgements(t, map[string]judgement{
				"failed": {
					jobWith(),
					[]corev1.Pod{loader(leftFailure(result.CauseToolFailed), sidecar)},
					verdict{result.OutcomeFailed, result.CauseToolFailed, "the loader says so", true},
				},
				"out of memory": {
					jobWith(),
					[]corev1.Pod{loader(left(137, ""), outOfMemory, sidecar)},
					invalid(result.CauseOutOfMemory, "the loader ran out of memory and was killed: raise loader.resources.limits.memory"),
				},
				"succeeded": {
					jobWith(),
					[]corev1.Pod{loader(left(0, message("pod", "")), sidecar)},
					verdict{Outcome: result.OutcomeAccepted, HasSummary: true},
				},
				"one of three failed": {
					jobOfThree(),
					[]corev1.Pod{
						loader(of(0), left(1, message("pod-0", result.CauseToolFailed)), sidecar), loader(of(1), phase(corev1.PodRunning)),
					},
					verdict{result.OutcomeFailed, result.CauseToolFailed, "Pod 0: the loader says so", true},
				},
			})
		})
	}
}

// A loader measures although another container of its Pod waits, and has delivered when its document is whole.
func TestSidecarDoesNotHoldTheBeginning(t *testing.T) {
	running := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: trial.Container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	}
	for name, sidecar := range sidecars {
		pods := []corev1.Pod{loader(running, sidecar)}
		must.Same(t, name+": stage", trial.StageRunning, trial.Judge(jobWith(), pods, nil).Stage)
		if trial.Delivers(jobWith(), pods) == nil {
			t.Errorf("%s: its log is not followed", name)
		}
	}
}

// A Job may fail because of a container that is not the loader's, or because of one that lived on after the loader's end.
func TestSidecarThatFailsTheJob(t *testing.T) {
	failedBeside := beside(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}, corev1.PodFailed)
	overDeadline := func(after time.Duration) *batchv1.Job {
		c := condition(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
		c.LastTransitionTime = metav1.NewTime(ended.Add(after))
		return jobWith(c)
	}
	interrupted := verdict{
		result.OutcomeFailed, result.CauseDeadlineExceeded,
		"the attempt took longer than trials.deadlineSeconds allows (600 s): the loader says so", false,
	}
	checkJudgements(t, map[string]judgement{
		"the sidecar failed, the loader did not": {
			failedJob,
			[]corev1.Pod{loader(left(0, message("pod", "")), failedBeside)},
			verdict{Outcome: result.OutcomeAccepted, HasSummary: true},
		},
		"the loader failed long before the deadline": {
			overDeadline(time.Hour),
			[]corev1.Pod{loader(leftFailure(result.CauseToolFailed), sidecars["a container that runs"])},
			verdict{result.OutcomeFailed, result.CauseToolFailed, "the loader says so", true},
		},
		"the loader was told to stop": {
			overDeadline(-time.Second),
			[]corev1.Pod{loader(leftFailure(result.CauseInterrupted), sidecars["a container that runs"])},
			interrupted,
		},
	})
}

// ForeignContainers are those that run beside the loader, not those that have prepared its Pod.
func TestForeignContainers(t *testing.T) {
	pod := loader(beside(corev1.ContainerState{}, corev1.PodRunning))
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "install"}, {Name: "mesh", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
	}
	must.Same(t, "foreign containers", []string{"mesh", "agent"}, trial.ForeignContainers(&pod))
}

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
		"by a person":        {suspendedJob(""), []corev1.Pod{interrupted}, invalid(result.CauseEvicted, "the loader's Job was suspended")},
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
		must.Same(t, name+": stage", trial.StageRunning, trial.Judge(job, nil, nil).Stage)
	}
	none := jobWith()
	none.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	must.Same(t, "stage", trial.StagePending, trial.Judge(none, nil, nil).Stage)
}
