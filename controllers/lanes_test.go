//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// queue creates runs of one trial in that order, and changes them.
func (c *cluster) queue(change func(*v1alpha1.BenchmarkRun), names ...string) {
	c.t.Helper()
	for _, name := range names {
		run := testutil.MakeRun(name, "").Repetitions(1)
		if change != nil {
			run = run.With(change)
		}
		c.apply(run.Obj())
	}
}

// turn reconciles some runs, whether they are there or not, and lets the cluster react. No two of them may have anything at a
// time that puts load on a node.
func (c *cluster) turn(names ...string) {
	c.t.Helper()
	for _, name := range names {
		if _, err := c.try(name); err != nil {
			c.t.Logf("to be tried again: %v", err)
		}
		if busy := c.busy(); len(busy) > 1 {
			c.t.Fatalf("at the same time: %v", busy)
		}
	}
	c.react()
}

// busy are the runs, and the comparisons whose runs share a database, that have a Job, a StatefulSet or a Pod.
func (c *cluster) busy() []string {
	c.t.Helper()
	names := sets.New[string]()
	for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &appsv1.StatefulSetList{}} {
		c.list(list)
		items, err := apimeta.ExtractList(list)
		c.must(err)
		for _, item := range items {
			names.Insert(ownerOf(item))
		}
	}
	return sets.List(names)
}

// turns are taken until a condition of a run is true.
func (c *cluster) turns(name, condition string, names ...string) *v1alpha1.BenchmarkRun {
	c.t.Helper()
	for range 100 {
		c.turn(names...)
		if run := c.get(name); apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) {
			return run
		}
	}
	c.t.Fatalf("%s was never %s: %+v", name, condition, c.get(name).Status.Conditions)
	return nil
}

// admitted is what a run says about its turn.
func (c *cluster) admitted(name string) string {
	c.t.Helper()
	a := c.condition(name, v1alpha1.ConditionAdmitted)
	return string(a.Status) + " " + a.Reason + ": " + a.Message
}

func (c *cluster) says(name, want string) {
	c.t.Helper()
	if got := c.admitted(name); got != want {
		c.t.Errorf("%s says %q, want %q", name, got, want)
	}
}

// change a run.
func (c *cluster) change(name string, change func(*v1alpha1.BenchmarkRun)) {
	c.t.Helper()
	run := c.get(name)
	change(run)
	c.must(api.Update(c.t.Context(), run))
}

// Of two runs in a lane, the second makes nothing, not even a Secret, until the first has finished and its database is gone. That
// time does not count for it.
func TestEnvtestLaneOneAfterTheOther(t *testing.T) {
	c := newCluster(t)
	c.queue(func(r *v1alpha1.BenchmarkRun) { r.Spec.DeadlineSeconds = ptr.To[int32](600) }, "first", "second")
	c.turn("first", "second")
	c.says("first", "True Admitted: the run holds lane default")
	c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
	if ready := c.condition("second", v1alpha1.ConditionReady); ready.Reason != v1alpha1.ReasonQueued {
		t.Errorf("its status is %s: %s", ready.Reason, ready.Message)
	}
	if result := c.reconcile("second"); result.RequeueAfter != 0 {
		t.Errorf("it looks again after %s, although it is woken", result.RequeueAfter)
	}
	first := c.turns("first", v1alpha1.ConditionFinished, "first", "second")
	c.clock.Step(time.Hour)
	for !strings.HasPrefix(c.admitted("second"), "True") {
		var secrets corev1.SecretList
		c.list(&secrets)
		if busy := c.busy(); slices.Contains(busy, "second") || len(secrets.Items) != 1 {
			t.Fatalf("before its turn: %v have something, there are %d Secrets", busy, len(secrets.Items))
		}
		c.turn("second", "first")
	}
	second := c.turns("second", v1alpha1.ConditionFinished, "first", "second")
	c.says("first", "False Finished: the run has ended and is releasing its lane")
	c.settle("second")
	c.nothingRuns()
	for _, run := range []*v1alpha1.BenchmarkRun{first, second} {
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) {
			t.Errorf("%s: %+v", run.Name, run.Status.Conditions)
		}
	}
	if began := second.Status.StartTime; began.Before(ptr.To(first.Status.CompletionTime.Rfc3339Copy())) || second.Status.Elapsed != "0s" {
		t.Errorf("the second began %s and took %s; the first ended %s", began, second.Status.Elapsed, first.Status.CompletionTime)
	}
}

// Lanes do not wait for each other.
func TestEnvtestTwoLanes(t *testing.T) {
	c := newCluster(t)
	c.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
	for _, name := range []string{"left", "right"} {
		c.queue(func(r *v1alpha1.BenchmarkRun) { r.Spec.Lane = name }, name)
	}
	for range 10 {
		c.reconcile("left")
		c.reconcile("right")
		c.react()
	}
	if got := c.busy(); !slices.Equal(got, []string{"left", "right"}) || c.jobs["left-t1-a1"] == 0 || c.jobs["right-t1-a1"] == 0 {
		t.Errorf("%v measure, Jobs %v", got, c.jobs)
	}
}

// However a run ends that holds a lane, the next one gets it, and not before what the first had is gone.
func TestEnvtestLaneIsLeft(t *testing.T) {
	t.Parallel()
	suspended := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	for name, leave := range map[string]func(*cluster){
		"suspended": func(c *cluster) { c.change("first", suspended) },
		"failed": func(c *cluster) {
			c.change("first", func(r *v1alpha1.BenchmarkRun) { r.Spec.DeadlineSeconds = ptr.To[int32](1) })
			c.clock.Step(time.Minute)
		},
		"deleted": func(c *cluster) { c.must(api.Delete(c.t.Context(), c.get("first"))) },
		"deleted and made again": func(c *cluster) {
			c.must(api.Delete(c.t.Context(), c.get("first")))
			c.queue(suspended, "first")
		},
		"deleted while the manager was down": func(c *cluster) {
			c.must(api.Delete(c.t.Context(), c.get("first")))
			c.reconciler = c.newReconciler()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
			c.queue(nil, "first", "second")
			for c.jobs["first-t1-a1"] == 0 {
				c.turn("first", "second")
			}
			leave(c)
			c.turn("second", "first")
			c.turn("second", "first")
			deleted := strings.HasPrefix(name, "deleted")
			if deleted {
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
				c.collectGarbageOf("first")
			}
			c.turns("second", v1alpha1.ConditionAdmitted, "first", "second")
		})
	}
}

// ownerOf an object is a run or, of a database that runs share, their comparison.
func ownerOf(item runtime.Object) string {
	labels := item.(client.Object).GetLabels()
	return cmp.Or(labels[v1alpha1.LabelRun], labels[v1alpha1.LabelComparison])
}

// collectGarbageOf a run, or a comparison, that is gone.
func (c *cluster) collectGarbageOf(name string) {
	c.t.Helper()
	for _, list := range []client.ObjectList{&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}} {
		c.list(list)
		items, err := apimeta.ExtractList(list)
		c.must(err)
		for _, item := range items {
			if o := item.(client.Object); ownerOf(item) == name {
				err := api.Delete(c.t.Context(), o, client.GracePeriodSeconds(0), client.PropagationPolicy("Background"))
				c.must(client.IgnoreNotFound(err))
			}
		}
	}
}

// older waits until what is created now is younger than a run: the API server gives ages in seconds, by its own clock.
func (c *cluster) older(name string) {
	c.t.Helper()
	created := c.get(name).CreationTimestamp
	for {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, GenerateName: "probe-"}}
		c.must(api.Create(c.t.Context(), probe, client.DryRunAll))
		if created.Before(&probe.CreationTimestamp) {
			return
		}
	}
}

// Runs have their turns in the order of their age, and each says where it stands.
func TestEnvtestLaneInOrder(t *testing.T) {
	c := newCluster(t)
	names := []string{"c", "b", "a"}
	c.queue(nil, "c")
	c.older("c")
	c.queue(nil, "b")
	c.older("b")
	c.queue(nil, "a")
	c.turn("a", "b", "c")
	c.says("a", "False Queued: in the queue of lane default; others are ahead of it")
	c.turn("a", "b", "c")
	c.says("b", "False Queued: waiting for run "+c.namespace+"/c, which holds lane default; next in the queue")
	c.says("a", "False Queued: in the queue of lane default; others are ahead of it")
	var began []string
	for range 40 {
		c.turn(names...)
		for _, name := range names {
			if strings.HasPrefix(c.admitted(name), "True") && !slices.Contains(began, name) {
				began = append(began, name)
			}
		}
		slices.Reverse(names)
	}
	if !slices.Equal(began, []string{"c", "b", "a"}) {
		t.Errorf("their turns were in the order %v", began)
	}
	for _, name := range names {
		if !apimeta.IsStatusConditionTrue(c.get(name).Status.Conditions, v1alpha1.ConditionComplete) {
			t.Errorf("%s is not complete", name)
		}
	}
}
