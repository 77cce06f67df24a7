//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// says waits until a run is admitted, or is not and says so in these words.
func says(t *testing.T, m *manager, namespace, name, want string) {
	t.Helper()
	eventually(t, name+" says "+want+"\n"+m.log.String(), func(ctx context.Context) bool {
		var run v1alpha1.BenchmarkRun
		if err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &run); err != nil {
			return false
		}
		c := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionAdmitted)
		return c != nil && (c.Status == metav1.ConditionTrue && want == "" || c.Status == metav1.ConditionFalse && c.Message == want)
	})
}

func runIn(t *testing.T, namespace, name string) *v1alpha1.BenchmarkRun {
	t.Helper()
	run := testutil.MakeRun(name, namespace).Obj()
	run.UID = ""
	if err := api.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

// Whoever waits is woken by what happens, within an installation and from one to another with which it shares its lanes: a
// manager does not look at its own runs from time to time.
func TestEnvtestManagersShareALane(t *testing.T) {
	home, one, two := makeNamespace(t), makeNamespace(t), makeNamespace(t)
	ours, theirs := start(t, home, "first", one), start(t, home, "second", two)
	first := runIn(t, one, "first")
	says(t, ours, one, "first", "")
	next := runIn(t, one, "next")
	says(t, ours, one, "next", "waiting for run "+one+"/first, which holds lane default; next in the queue")
	last := runIn(t, one, "the-last")
	waiting := "waiting for run " + one
	says(t, ours, one, "next", waiting+"/first, which holds lane default; next in the queue")
	says(t, ours, one, "the-last", "in the queue of lane default; others are ahead of it")
	suspend(t, first)
	says(t, ours, one, "next", "")
	says(t, ours, one, "the-last", waiting+"/next, which holds lane default; next in the queue")

	// The holder is deleted. There is no garbage collector here: what it has is deleted by hand, and the last of it wakes the next.
	server := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: one, Name: "next-db1"}}
	eventually(t, "next has its server", func(ctx context.Context) bool {
		return api.Get(ctx, client.ObjectKeyFromObject(server), server) == nil
	})
	remove(t, next)
	remove(t, server)
	says(t, ours, one, "the-last", "")
	runIn(t, two, "elsewhere")
	says(t, theirs, two, "elsewhere", "waiting for a run of another installation, which holds lane default (Lease "+home+
		"/default.lane.benchrun.dev); next in the queue")
	suspend(t, last)
	says(t, theirs, two, "elsewhere", "")
}

// Comparisons and runs wake each other.
func TestEnvtestComparisonsAndRunsShareALane(t *testing.T) {
	namespace := makeNamespace(t)
	m := start(t, namespace, "comparisons", namespace)
	comparison := testutil.MakeComparison("compare", namespace, "a", "b").Obj()
	comparison.UID = ""
	if err := api.Create(t.Context(), comparison); err != nil {
		t.Fatal(err)
	}
	admitted := func() {
		t.Helper()
		eventually(t, "the comparison has its lane\n"+m.log.String(), func(ctx context.Context) bool {
			var now v1alpha1.BenchmarkComparison
			err := api.Get(ctx, client.ObjectKeyFromObject(comparison), &now)
			return err == nil && apimeta.IsStatusConditionTrue(now.Status.Conditions, v1alpha1.ConditionAdmitted)
		})
	}
	admitted()
	says(t, m, namespace, "compare-r1-b", "")
	run := runIn(t, namespace, "run")
	says(t, m, namespace, "run", "waiting for comparison "+namespace+"/compare, which holds lane default; next in the queue")
	suspend(t, comparison)
	says(t, m, namespace, "run", "")
	resumed := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"suspend": false}}`))
	if err := api.Patch(t.Context(), comparison, resumed); err != nil {
		t.Fatal(err)
	}
	suspend(t, run)
	admitted()
	says(t, m, namespace, "compare-r1-b", "")
}

func suspend(t *testing.T, object client.Object) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"suspend": true}}`))
	if err := api.Patch(t.Context(), object, patch); err != nil {
		t.Fatal(err)
	}
}

// remove an object that is there, or will be.
func remove(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, "deleting "+object.GetName(), func(ctx context.Context) bool { return api.Delete(ctx, object) == nil })
}
