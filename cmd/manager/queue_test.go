//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// mostWrites is how many writes a departure from the queue of a lane may cost, however long the queue is.
const mostWrites = 5

func TestEnvtestDepartureFromALongQueue(t *testing.T) { departures(t, 100) }

// departures lets the holder of a lane leave it while so many runs wait, and one of these leave the queue. It counts what is
// written besides the status of those who come and go, and returns how long a manager takes that finds all of them when it
// starts.
func departures(t *testing.T, waiting int) (took time.Duration, writes int) {
	t.Helper()
	namespace := makeNamespace(t)
	name := func(i int) string { return fmt.Sprintf("run-%04d", i) }
	for i := range waiting + 1 {
		runIn(t, namespace, name(i))
	}
	began := time.Now()
	m := start(t, namespace, "queue", namespace)
	is := func(i int, condition, reason string) func(context.Context) bool {
		return func(ctx context.Context) bool {
			var run v1alpha1.BenchmarkRun
			err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name(i)}, &run)
			c := apimeta.FindStatusCondition(run.Status.Conditions, condition)
			return err == nil && c != nil && c.Reason == reason
		}
	}
	// The first status of each run is written, by a client that is limited to some writes per second.
	within(t, 5*time.Minute, "all have their place\n"+m.log.String(), func(ctx context.Context) bool {
		var runs v1alpha1.BenchmarkRunList
		if err := api.List(ctx, &runs, client.InNamespace(namespace)); err != nil {
			return false
		}
		for i := range runs.Items {
			if apimeta.FindStatusCondition(runs.Items[i].Status.Conditions, v1alpha1.ConditionAdmitted) == nil {
				return false
			}
		}
		return true
	})
	took = time.Since(began)
	says(t, m, namespace, name(1), "waiting for run "+namespace+"/"+name(0)+", which holds lane default; next in the queue")

	changes := watchAll(t, namespace)
	suspend(t, runNamed(t, namespace, name(0)))
	says(t, m, namespace, name(1), "")
	says(t, m, namespace, name(2), "waiting for run "+namespace+"/"+name(1)+", which holds lane default; next in the queue")
	suspend(t, runNamed(t, namespace, name(waiting/2)))
	eventually(t, "one has left the queue", is(waiting/2, v1alpha1.ConditionSuspended, v1alpha1.ReasonSuspended))
	suspend(t, runNamed(t, namespace, name(waiting))) // whoever was woken before has had his turn when this one has
	eventually(t, "the last has left the queue", is(waiting, v1alpha1.ConditionSuspended, v1alpha1.ReasonSuspended))
	own := map[string]bool{name(0): true, name(1): true, name(waiting / 2): true, name(waiting): true}
	for _, changed := range changes() {
		if !own[changed] {
			writes++
		}
	}
	if writes > mostWrites {
		t.Errorf("%d writes for two departures from a queue of %d, want at most %d", writes, waiting, mostWrites)
	}
	return took, writes
}

func runNamed(t *testing.T, namespace, name string) *v1alpha1.BenchmarkRun {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &run); err != nil {
		t.Fatal(err)
	}
	return &run
}

// watchAll runs and Leases of lanes. What is returned ends that and has the name of the object for each change.
func watchAll(t *testing.T, namespace string) func() []string {
	t.Helper()
	var watches []watch.Interface
	for _, list := range []client.ObjectList{&v1alpha1.BenchmarkRunList{}, &coordinationv1.LeaseList{}} {
		if err := api.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
		w, err := api.Watch(t.Context(), list, client.InNamespace(namespace), from)
		if err != nil {
			t.Fatal(err)
		}
		watches = append(watches, w)
	}
	return func() []string {
		// The last change of each kind is that of this object: when it has come, all others have.
		const marker = "marker"
		runIn(t, namespace, marker)
		create(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: marker}})
		var names []string
		for _, w := range watches {
			for event := range w.ResultChan() {
				object := event.Object.(client.Object)
				if object.GetName() == marker {
					break
				}
				// Leader election renews a Lease of its own.
				if _, lease := object.(*coordinationv1.Lease); !lease || object.GetLabels()[v1alpha1.LabelLane] != "" {
					names = append(names, object.GetName())
				}
			}
			w.Stop()
		}
		return names
	}
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := api.Create(t.Context(), o); err != nil {
		t.Error(err)
	}
}
