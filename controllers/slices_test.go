//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// All variants measure the same trial at the same time, and the observer of the first run of the round gives the turns of all.
func TestEnvtestSlices(t *testing.T) {
	t.Parallel()
	a := newSlices(t)
	var turns []*result.Turns
	a.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		turns = append(turns, a.configOf(job).Turns)
		a.succeed(job, pod)
	}
	a.until("s", v1alpha1.ConditionFinished, "s")
	a.check()
	if a.were != 2 {
		t.Errorf("%d loaders at most were there at a time, want both", a.were)
	}
	for i := 0; i < len(turns); i += 2 {
		first, second := turns[i], turns[i+1]
		if first == nil || second == nil || first.Host != second.Host || first.Place+second.Place != 1 || first.Seed != second.Seed {
			t.Errorf("pair %d: %+v and %+v", i/2+1, first, second)
		}
	}
}

// The operator is killed after one write in 31: every trial is measured once, next to that of the other variant.
func TestEnvtestSlicesCrash(t *testing.T) {
	t.Parallel()
	alternationCrash(t, newSlices, 31)
}

// If the attempt of one variant is invalidated, the round begins again with new runs of both. If that happens too often, the
// comparison fails, and says why.
func TestEnvtestSlicesDisturbed(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"once": 1, "always": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newSlices(t)
			a.before = a.runsGone
			disturbed, runs := 0, map[string]bool{}
			a.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				runs[pod.Labels[v1alpha1.LabelRunUID]] = true
				if disturbed < times && strings.HasPrefix(job.Name, "s-r1-b-t2") {
					disturbed++
					a.failWith(result.CauseAlternationBroken, "the other one has gone")(job, pod)
					return
				}
				a.succeed(job, pod)
			}
			a.until("s", v1alpha1.ConditionFinished, "s")
			conditions := a.comparisonNamed("s").Status.Conditions
			limit := int(v1alpha1.DefaultMaxInvalid)
			if times == 1 {
				a.eventSays("the round was disturbed and begins again: run s-r1-b: trial 2 was invalidated: AlternationBroken")
				if !apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete) || len(runs) != 6 {
					t.Errorf("%d runs, want 6; conditions %+v", len(runs), conditions)
				}
				return
			}
			failed := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionFailed)
			if failed.Reason != v1alpha1.ReasonTooManyInvalid || !strings.Contains(failed.Message, "the other one has gone") {
				t.Errorf("it ended with %+v", failed)
			}
			if disturbed != limit+1 {
				t.Errorf("the round was disturbed %d times, want %d", disturbed, limit+1)
			}
		})
	}
}
