//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// inLane is a cluster in which comparisons and runs share a lane, and are carried out by their own reconcilers.
type inLane struct {
	*comparisons
	// began are those that measure, or have measured, in their order: comparisons and runs that stand alone.
	began []string
	// before is called before each reconcile.
	before func()
	// together looks at the runs that have something that puts load on a node, if several may have; nil if one may.
	together func(busy []string)
}

func newInLane(t *testing.T) *inLane {
	t.Helper()
	l := &inLane{comparisons: newComparisons(t), before: func() {}}
	l.end = nil
	return l
}

// comparison of two variants, and so many rounds, that measures one point.
func (l *inLane) comparison(name string, rounds int32, change func(*v1alpha1.BenchmarkComparison)) {
	l.t.Helper()
	made := testutil.MakeComparison(name, "", "a", "b").Rounds(rounds)
	if change != nil {
		made = made.With(change)
	}
	l.applyComparison(made.Obj())
}

// turn reconciles comparisons, whether they are there or not, then every run that has something to do, or the lane; and lets the
// cluster react. No two runs may have anything at a time that puts load on a node.
func (l *inLane) turn(comparisons ...string) {
	l.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	l.list(&runs)
	working := append(l.watch(), l.holders()...)
	for _, name := range comparisons {
		l.before()
		if _, err := l.reconcileNamed(name); err != nil {
			l.t.Logf("comparison %s is to be tried again: %v", name, err)
		}
	}
	for _, run := range runs.Items {
		finished := apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
		if finished && !slices.Contains(working, run.Name) {
			continue
		}
		l.before()
		if _, err := l.try(run.Name); err != nil {
			l.t.Logf("run %s is to be tried again: %v", run.Name, err)
		}
		l.watch()
	}
	l.react()
}

// holders are the names of those that hold a lane.
func (l *inLane) holders() []string {
	l.t.Helper()
	var leases coordinationv1.LeaseList
	l.list(&leases)
	var names []string
	for i := range leases.Items {
		names = append(names, holderOf(&leases.Items[i]).Name)
	}
	return names
}

// watch who measures: they are busy.
func (l *inLane) watch() []string {
	l.t.Helper()
	busy := l.busy()
	if l.together != nil {
		l.together(busy)
	} else if len(busy) > 1 {
		// A run, and the database that it shares.
		if comparison, _, ofComparison := strings.Cut(busy[1], "-r"); len(busy) > 2 || !ofComparison || busy[0] != comparison {
			l.t.Fatalf("at the same time: %v", busy)
		}
	}
	for _, name := range busy {
		name, _, _ = strings.Cut(name, "-r")
		if !slices.Contains(l.began, name) {
			l.began = append(l.began, name)
		} else if l.began[len(l.began)-1] != name {
			l.t.Fatalf("%s measures again after %v", name, l.began)
		}
	}
	return busy
}

// conditionsOf a comparison or a run, whichever there is.
func (l *inLane) conditionsOf(name string) []metav1.Condition {
	l.t.Helper()
	key := client.ObjectKey{Namespace: l.namespace, Name: name}
	var comparison v1alpha1.BenchmarkComparison
	if api.Get(l.t.Context(), key, &comparison) == nil {
		return comparison.Status.Conditions
	}
	return l.get(name).Status.Conditions
}

// until takes turns until a condition of a comparison or a run is true.
func (l *inLane) until(name, condition string, names ...string) {
	l.t.Helper()
	for range 300 {
		if apimeta.IsStatusConditionTrue(l.conditionsOf(name), condition) {
			return
		}
		l.turn(names...)
	}
	l.t.Fatalf("%s was never %s: %+v", name, condition, l.conditionsOf(name))
}

func (l *inLane) waits(name, want string) {
	l.t.Helper()
	c := apimeta.FindStatusCondition(l.conditionsOf(name), v1alpha1.ConditionAdmitted)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonQueued || c.Message != want {
		l.t.Errorf("%s says %+v, want %q", name, c, want)
	}
}
