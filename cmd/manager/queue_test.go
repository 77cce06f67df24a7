//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
	must.Do(t, api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &run))
	return &run
}

// watchAll runs and Leases of lanes. What is returned ends that and has the name of the object for each change.
func watchAll(t *testing.T, namespace string) func() []string {
	t.Helper()
	var watches []watch.Interface
	for _, list := range []client.ObjectList{&v1alpha1.BenchmarkRunList{}, &coordinationv1.LeaseList{}} {
		must.Do(t, api.List(t.Context(), list, client.InNamespace(namespace)))
		from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
		w := must.Get(api.Watch(t.Context(), list, client.InNamespace(namespace), from))(t)
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
	must.Do(t, api.Create(t.Context(), o))
}

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
	must.Do(t, api.Create(t.Context(), run))
	return run
}

// An owner that waits is woken by what happens, within an installation and from one to another with which it shares its lanes: a
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

func suspend(t *testing.T, object client.Object) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"suspend": true}}`))
	must.Do(t, api.Patch(t.Context(), object, patch))
}

// remove an object that is there, or will be.
func remove(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, "deleting "+object.GetName(), func(ctx context.Context) bool { return api.Delete(ctx, object) == nil })
}

// Runs are reconciled at the same time, and a lane still has one holder: many that contend for a few lanes all have their turn, one
// after the other. With -race, the manager is looked at too.
func TestEnvtestRunsAtTheSameTime(t *testing.T) {
	const lanes, each = 3, 4
	namespace := makeNamespace(t)
	m := start(t, namespace, "workers", namespace)
	for i := range lanes * each {
		run := testutil.MakeRun(fmt.Sprintf("c%d", i), namespace).With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Lane = fmt.Sprintf("lane%d", i%lanes)
		}).Obj()
		run.UID = ""
		create(t, run)
	}
	for left := lanes * each; left > 0; left -= lanes {
		var holders []*v1alpha1.BenchmarkRun
		eventually(t, fmt.Sprintf("each lane has a holder, with %d that have had no turn\n%s", left, m.log), func(ctx context.Context) bool {
			var all v1alpha1.BenchmarkRunList
			if api.List(ctx, &all, client.InNamespace(namespace)) != nil {
				return false
			}
			holders = nil
			held := map[string]string{}
			for i := range all.Items {
				c := &all.Items[i]
				if !apimeta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionAdmitted) {
					continue
				}
				lane := c.Spec.Lane
				if other, taken := held[lane]; taken {
					t.Fatalf("%s and %s have %s", other, c.Name, lane)
				}
				held[lane] = c.Name
				// What is made after its run is deleted would stay: there is no garbage collector here.
				server := client.ObjectKey{Namespace: namespace, Name: c.Name + "-db1"}
				if api.Get(ctx, server, new(appsv1.StatefulSet)) == nil {
					holders = append(holders, c)
				}
			}
			return len(holders) == lanes
		})
		for _, holder := range holders {
			must.Do(t, api.Delete(t.Context(), holder))
		}
		collect(t, namespace, holders)
	}
}

// collect what deleted runs have made, as the garbage collector does, which is not here: the last of it frees their lanes.
func collect(t *testing.T, namespace string, owners []*v1alpha1.BenchmarkRun) {
	t.Helper()
	for _, owner := range owners {
		eventually(t, "what "+owner.Name+" has made is gone", func(ctx context.Context) bool {
			gone := true
			var list appsv1.StatefulSetList
			if api.List(ctx, &list, client.InNamespace(namespace)) != nil {
				return false
			}
			for i := range list.Items {
				if made := &list.Items[i]; strings.HasPrefix(made.Name, owner.Name+"-") {
					gone = false
					_ = api.Delete(ctx, made)
				}
			}
			return gone
		})
	}
}
