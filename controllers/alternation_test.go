//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// takingTurns is a cluster with a comparison of a and b whose trials alternate: two in each of two rounds.
type takingTurns struct {
	*inLane
	// measured are the Jobs of attempts in the order in which they were made.
	measured []string
	// most is how many loaders may be there at a time, and were how many there were.
	most, were int
}

// newAlternation has trials that alternate; with newSlices, all variants measure the same trial at the same time.
func newAlternation(t *testing.T) *takingTurns {
	t.Helper()
	return newTogether(t, v1alpha1.AlternateTrials, 1)
}

func newSlices(t *testing.T) *takingTurns {
	t.Helper()
	return newTogether(t, v1alpha1.AlternateSlices, 2)
}

func newTogether(t *testing.T, alternation v1alpha1.Alternation, most int) *takingTurns {
	t.Helper()
	a := &takingTurns{inLane: newInLane(t), most: most}
	a.together = a.look
	a.comparison("s", 2, func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Alternation, s.Spec.TrialsPerRound = alternation, ptr.To[int32](2)
		s.Spec.EarlyStop.Policy = v1alpha1.EarlyStopDisabled
	})
	return a
}

// look at what is on the nodes: servers of both runs of a round, and no more loaders that have not ended than there may be.
func (a *takingTurns) look(busy []string) {
	a.t.Helper()
	for _, name := range busy {
		if round := strings.TrimSuffix(busy[0], "a"); !strings.HasPrefix(name, strings.TrimSuffix(round, "b")) {
			a.t.Errorf("two rounds at a time: %v", busy)
		}
	}
	var jobs batchv1.JobList
	a.list(&jobs)
	var loading []string
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if !slices.Contains(a.measured, job.Name) {
			a.measured = append(a.measured, job.Name)
		}
		ended := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type != batchv1.JobSuspended })
		if !ended && job.DeletionTimestamp == nil {
			loading = append(loading, job.Name)
		}
	}
	if a.were = max(a.were, len(loading)); len(loading) > a.most {
		a.t.Errorf("at the same time: %v", loading)
	}
}

// check what was measured: each trial once, and the same trials of both variants next to each other.
func (a *takingTurns) check() {
	a.t.Helper()
	c := a.comparisonNamed("s")
	if !apimeta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionComplete) {
		a.t.Fatalf("it is not Complete: %+v", c.Status.Conditions)
	}
	if len(a.jobs) != 8 || len(a.measured) != 8 {
		a.t.Fatalf("%d Jobs: %v", len(a.jobs), a.measured)
	}
	for name, made := range a.jobs {
		if made != 1 {
			a.t.Errorf("Job %s was made %d times", name, made)
		}
	}
	for pair := range 4 {
		round, trial := pair/2+1, pair%2+1
		got := slices.Sorted(slices.Values(a.measured[2*pair : 2*pair+2]))
		want := []string{fmt.Sprintf("s-r%d-a-t%d-a1", round, trial), fmt.Sprintf("s-r%d-b-t%d-a1", round, trial)}
		if !slices.Equal(got, want) {
			a.t.Errorf("pair %d is %v, want %v; all: %v", pair+1, got, want, a.measured)
		}
	}
	for range 3 {
		a.turn("s")
	}
	a.nothingRuns()
}

// runsGone deletes what is left of runs that are gone: there is no garbage collector.
func (a *takingTurns) runsGone() {
	a.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	a.list(&runs)
	there := func(uid string) bool {
		return slices.ContainsFunc(runs.Items, func(r v1alpha1.BenchmarkRun) bool { return string(r.UID) == uid })
	}
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{},
		&corev1.SecretList{}, &corev1.ConfigMapList{}, &policyv1.PodDisruptionBudgetList{},
	} {
		a.list(list)
		items, err := apimeta.ExtractList(list)
		a.must(err)
		for _, item := range items {
			o := item.(client.Object)
			if uid := o.GetLabels()[v1alpha1.LabelRunUID]; uid != "" && !there(uid) {
				err := api.Delete(a.t.Context(), o, client.GracePeriodSeconds(0), client.PropagationPolicy("Background"))
				a.must(client.IgnoreNotFound(err))
			}
		}
	}
	a.releaseClaims()
}

// The trials of two variants take turns, on servers that are up for a round, and the second run is on the nodes of the first.
func TestEnvtestAlternation(t *testing.T) {
	t.Parallel()
	a := newAlternation(t)
	a.until("s", v1alpha1.ConditionFinished, "s")
	a.check()
	second := "s-r1-b"
	if a.get("s-r1-a").Annotations[v1alpha1.AnnotationDatabaseNode] != "" {
		second = "s-r1-a"
	}
	if got := a.get(second).Annotations; got[v1alpha1.AnnotationDatabaseNode] == "" || got[v1alpha1.AnnotationLoaderNodes] == "" {
		t.Errorf("%s is bound to no nodes: %v", second, got)
	}
	if n := *a.comparisonNamed("s").Status.Rounds.Measured; n != 2 {
		t.Errorf("%d rounds are measured", n)
	}
}

// The operator is killed after one write in 23, each time after another one: every trial is measured once, in its turn.
func TestEnvtestAlternationCrash(t *testing.T) {
	t.Parallel()
	alternationCrash(t, newAlternation, 23)
}

// alternationCrash kills the operator of a comparison after one write in so many.
func alternationCrash(t *testing.T, begin func(*testing.T) *takingTurns, step int) {
	t.Helper()
	crash := func(t *testing.T, n int) int {
		t.Helper()
		a := begin(t)
		m := &mortal{dieAfter: n}
		start := func() {
			m.dead = false
			a.reconciler, a.comparisons.comparisons = a.newReconciler(), a.newComparisonReconciler()
			a.reconciler.Client, a.comparisons.comparisons.Client = m.client(), m.client()
		}
		start()
		a.before = func() {
			if m.dead {
				start()
			}
		}
		a.until("s", v1alpha1.ConditionFinished, "s")
		a.check()
		return m.writes
	}
	var writes []int
	all := crash(t, 0)
	for n := 4; n < all; n += step {
		writes = append(writes, n)
	}
	killedAfter(t, writes, func(t *testing.T, n int) { crash(t, n) })
}

// A run of a round that is deleted, or suspended by somebody, begins the round again: trials that were measured at different times
// are no pair. So does a comparison that is suspended.
func TestEnvtestAlternationInterrupted(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(*takingTurns){
		"deleted": func(a *takingTurns) { a.must(api.Delete(a.t.Context(), a.get("s-r1-a"))) },
		"suspended": func(a *takingTurns) {
			a.change("s-r1-a", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) })
		},
		"comparison suspended": func(a *takingTurns) {
			for _, suspend := range []bool{true, false} {
				s := a.comparisonNamed("s")
				s.Spec.Suspend = &suspend
				a.must(api.Update(a.t.Context(), s))
				for range 4 {
					a.turn("s")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAlternation(t)
			for len(a.measured) < 3 {
				a.turn("s")
			}
			uid := a.get("s-r1-b").UID
			a.before = a.runsGone
			interrupt(a)
			a.until("s", v1alpha1.ConditionFinished, "s")
			if a.get("s-r1-b").UID == uid {
				t.Error("the round goes on with the run of the other variant")
			}
			if c := a.comparisonNamed("s"); !apimeta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionComplete) {
				t.Errorf("it is not Complete: %+v", c.Status.Conditions)
			}
		})
	}
}
