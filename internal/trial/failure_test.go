// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
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
		"memory comes before what the loader says": {
			failedJob, []corev1.Pod{loader(leftFailure(result.CauseSQL), outOfMemory)}, memory,
		},
		"memory comes before deletion": {failedJob, []corev1.Pod{loader(left(137, ""), outOfMemory, beingDeleted)}, memory},

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
		result.CauseAlternationBroken:   result.OutcomeInvalidated,
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
	if got := podutil.ImageID(&running, trial.Container); got != "" {
		t.Errorf("image is %q", got)
	}
	if got := podutil.ImageID(&over, trial.Container); got != "loader@sha256:1111" {
		t.Errorf("image is %q", got)
	}
}

// foreign lets a Pod be on a node that cannot execute its image.
func foreign(p *corev1.Pod) {
	p.Spec.NodeName, p.Status.ContainerStatuses[0].Image = "n", "loader:arm64"
}
