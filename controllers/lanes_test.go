//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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

// busy are the runs that have a Job, a StatefulSet or a Pod.
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
	must.Same(c.t, name+" says", want, c.admitted(name))
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
	must.Same(t, "although it is woken, it looks again after", time.Duration(0), c.reconcile("second").RequeueAfter)
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

// However a run ends that holds a lane, the next one gets it, and not before what the first had is gone.
func TestEnvtestLaneIsLeft(t *testing.T) {
	t.Parallel()
	suspended := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	for name, leave := range map[string]func(*cluster){
		"suspended": func(c *cluster) { c.change("first", suspended) },
		"deleted":   func(c *cluster) { c.must(api.Delete(c.t.Context(), c.get("first"))) },
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

// ownerOf an object is the run that its label names.
func ownerOf(item runtime.Object) string { return item.(client.Object).GetLabels()[v1alpha1.LabelRun] }

// collectGarbageOf a run that is gone.
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

// Two installations that watch different namespaces and share a namespace of Leases respect each other. One that waits for a run
// which it does not watch looks again from time to time. If it may read that run, it also finds that it is gone.
func TestEnvtestLaneOfAnotherInstallation(t *testing.T) {
	for name, mayRead := range map[string]bool{"it may read the other's runs": true, "it may not": false} {
		t.Run(name, func(t *testing.T) {
			other, c := newCluster(t), newCluster(t)
			c.reconciler.LaneNamespace = other.namespace
			if !mayRead {
				c.reconciler.Live = &Live{Reader: interceptor.NewClient(api, interceptor.Funcs{
					Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
						if _, run := o.(*v1alpha1.BenchmarkRun); run && key.Namespace != c.namespace {
							return apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, key.Name, nil)
						}
						return w.Get(ctx, key, o, opts...)
					},
				})}
			}
			other.queue(nil, "theirs")
			other.reconcile("theirs")
			c.queue(nil, "ours")
			must.Same(t, "it looks again after", 10*time.Second, c.reconcile("ours").RequeueAfter)
			lease := "(Lease " + other.namespace + "/default.lane.benchrun.dev)"
			c.says("ours", "False Queued: waiting for a run of another installation, which holds lane default "+lease+
				"; next in the queue")
			other.until("theirs", v1alpha1.ConditionDatabaseReady)
			c.must(api.Delete(t.Context(), other.get("theirs")))
			c.turn("ours", "ours")
			if busy := c.busy(); len(busy) != 0 {
				t.Errorf("%v has something, while the other's server is there", busy)
			}
			other.collectGarbageOf("theirs")
			if !mayRead {
				c.turn("ours", "ours")
				if c.condition("ours", v1alpha1.ConditionAdmitted).Status != metav1.ConditionFalse {
					t.Error("admitted, although nobody could know that the other is gone")
				}
				other.reconcile("theirs") // its own manager releases the lane
			}
			c.turns("ours", v1alpha1.ConditionAdmitted, "ours")
			must.Same(t, "the lane is that of", "ours", holderOf(other.lease()).Name)
		})
	}
}

// What changes in a lane leads to the run that is next, and to the name of its holder, who may be gone: not to all that wait.
func TestEnvtestLaneWakesItsQueue(t *testing.T) {
	c := newCluster(t)
	c.queue(nil, "a", "b", "c")
	c.queue(func(r *v1alpha1.BenchmarkRun) { r.Spec.Lane = "other" }, "elsewhere")
	c.turn("a", "b", "c")
	names := func(requests []reconcile.Request) []string {
		var list []string
		for _, r := range requests {
			list = append(list, r.Name)
		}
		slices.Sort(list)
		return list
	}
	must.Same(t, "the Lease leads to", []string{"a", "b"}, names(c.reconciler.waitFor(t.Context(), c.lease())))
	h := c.reconciler.enqueueNext()
	measured := func(tell func(queue)) []string {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		tell(q)
		var requests []reconcile.Request
		for q.Len() > 0 {
			r, _ := q.Get()
			requests = append(requests, r)
			q.Done(r)
		}
		return names(requests)
	}
	a, b := c.get("a"), c.get("b")
	c.change("b", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) })
	suspended := c.get("b")
	for what, tc := range map[string]struct {
		tell func(queue)
		want []string
	}{
		"a run is created": {func(q queue) { h.Create(t.Context(), event.CreateEvent{Object: b}, q) }, nil},
		"a run is deleted": {func(q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: b}, q) }, []string{"c"}},
		"a run is suspended": {func(q queue) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: b, ObjectNew: suspended}, q)
		}, []string{"c"}},
		"a trial is measured": {func(q queue) { h.Update(t.Context(), event.UpdateEvent{ObjectOld: a, ObjectNew: a}, q) }, nil},
	} {
		must.Same(t, what+": woken", tc.want, measured(tc.tell))
	}
}

// template of a Pod with those labels.
func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "any", Image: "any"}}, NodeName: "any",
		},
	}
}

// stranger makes a Pod with those labels, controlled by an object or by nothing.
func (c *cluster) stranger(name string, labels map[string]string, controller *metav1.OwnerReference) {
	c.t.Helper()
	t := template(labels)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: t.Labels}, Spec: t.Spec}
	if controller != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	c.must(api.Create(c.t.Context(), pod))
}

// Whatever labels a user gives to his own Pods, and whatever controls these: they do not hold the lane of a run, nor of a run
// that is gone. What a run has made does, until it is gone, too.
func TestEnvtestOnlyWhatARunHasMadeHoldsItsLane(t *testing.T) {
	for name, gone := range map[string]bool{"the run has finished": false, "the run is gone": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.loader = func(_ *batchv1.Job, pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }
			c.queue(nil, "first", "second")
			for c.jobs["first-t1-a1"] == 0 {
				c.turn("first", "second")
			}
			run := c.get("first")
			loader, server := plan.Labels(run, v1alpha1.ComponentLoader), plan.Labels(run, v1alpha1.ComponentDatabase)
			server[v1alpha1.LabelInstance] = "7"
			meta := func(name string, labels map[string]string) metav1.ObjectMeta {
				return metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: labels}
			}
			// These have names that the run does not need next. Without labels, no list of the run's objects has them.
			job := &batchv1.Job{ObjectMeta: meta("first-t9-a1", nil), Spec: batchv1.JobSpec{Template: template(loader)}}
			job.Spec.Suspend = ptr.To(true)
			set := &appsv1.StatefulSet{ObjectMeta: meta("first-db7", nil), Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: server}, Template: template(server),
			}}
			set.Spec.Template.Spec.RestartPolicy, set.Spec.Template.Spec.NodeName = corev1.RestartPolicyAlways, ""
			c.must(api.Create(t.Context(), job))
			c.must(api.Create(t.Context(), set))
			forged := func(apiVersion, kind, name string) *metav1.OwnerReference {
				return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "forged", Controller: ptr.To(true)}
			}
			c.stranger("alone", loader, nil)
			c.stranger("of-a-job", loader, metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job")))
			c.stranger("of-a-set", server, metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet")))
			c.stranger("of-another-kind", loader, forged("example.com/v1", "Job", "first-t3-a1"))
			if gone {
				c.must(api.Delete(t.Context(), run))
				c.tryAll("first", "second")
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
				for _, name := range []string{"first-t1-a1", "first-db1"} {
					c.must(api.Delete(t.Context(), c.owned(name), client.PropagationPolicy(metav1.DeletePropagationBackground)))
				}
				c.tryAll("first", "second") // the Pods are still there, and what controlled them is not
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
			} else {
				c.change("first", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) })
				c.tryAll("first", "first", "first", "second")
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
			}
			var pods corev1.PodList
			c.list(&pods)
			for i := range pods.Items {
				if ref := metav1.GetControllerOf(&pods.Items[i]); ref != nil && (ref.Name == "first-t1-a1" || ref.Name == "first-db1") {
					c.must(api.Delete(t.Context(), &pods.Items[i], client.GracePeriodSeconds(0)))
				}
			}
			for range 3 {
				c.tryAll("first", "second")
			}
			if got := c.condition("second", v1alpha1.ConditionAdmitted); got.Status != metav1.ConditionTrue {
				t.Errorf("the next run is not admitted: %s", got.Message)
			}
		})
	}
}

// A Lease that a user deletes is taken back by the run that measures. If another has it meanwhile, that run gives way.
func TestEnvtestLeaseDeletedByHand(t *testing.T) {
	for name, other := range map[string]bool{"taken back": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
			c.queue(nil, "zebra")
			for c.jobs["zebra-t1-a1"] == 0 {
				c.turn("zebra")
			}
			c.queue(nil, "ape")
			var job, still batchv1.Job
			c.must(c.exists(&job, "zebra-t1-a1"))
			lease := c.lease()
			c.must(api.Delete(t.Context(), lease))
			if !other {
				c.turn("ape", "zebra", "ape")
				c.says("zebra", "True Admitted: the run holds lane default")
				c.turn("ape", "zebra")
				if err := c.exists(&still, "zebra-t1-a1"); err != nil || still.UID != job.UID || still.DeletionTimestamp != nil {
					t.Errorf("what measured was disturbed: %v", err)
				}
				return
			}
			lease.ResourceVersion, lease.UID = "", ""
			lease.Spec.HolderIdentity = ptr.To("BenchmarkRun/" + c.namespace + "/ape/" + string(c.get("ape").UID))
			c.must(api.Create(t.Context(), lease))
			for range 5 {
				must.Get(c.try("zebra"))(t)
				c.react()
			}
			c.says("zebra", "False Queued: waiting for run "+c.namespace+"/ape, which holds lane default; next in the queue")
			if busy := c.busy(); len(busy) != 0 {
				t.Errorf("%v have something", busy)
			}
		})
	}
}

// lease of the lane that is held.
func (c *cluster) lease() *coordinationv1.Lease {
	c.t.Helper()
	var leases coordinationv1.LeaseList
	if c.list(&leases); len(leases.Items) != 1 {
		c.t.Fatalf("%d Leases, want one", len(leases.Items))
	}
	return &leases.Items[0]
}

// The manager is killed after each write of a Lease, and after the next one, while two runs share a lane, and another goes on:
// both are measured, never at the same time, and the lane is free at the end. What else is written, another test kills it after.
func TestEnvtestCrashAfterEveryWriteOfALease(t *testing.T) {
	t.Parallel()
	leases := crashInLane(t, 0)
	if len(leases) != 4 {
		t.Fatalf("two runs take and leave their lane by %d writes", len(leases))
	}
	var writes []int
	for _, n := range leases {
		writes = append(writes, n, n+1)
	}
	killedAfter(t, writes, func(t *testing.T, n int) { crashInLane(t, n) })
}

func crashInLane(t *testing.T, n int) []int {
	t.Helper()
	c := newCluster(t)
	m := &mortal{dieAfter: n}
	c.reconciler.Client = m.client()
	c.queue(nil, "first", "second")
	for left := 2; left > 0; {
		c.turn("first", "second")
		m.dead = false
		if m.writes > 200 {
			t.Fatalf("killed after write %d: it does not end", n)
		}
		if apimeta.IsStatusConditionTrue(c.get("second").Status.Conditions, v1alpha1.ConditionFinished) && len(c.busy()) == 0 {
			left--
		}
	}
	for _, name := range []string{"first", "second"} {
		if got := c.get(name).Status; got.Progress != "1/1" || !apimeta.IsStatusConditionTrue(got.Conditions, v1alpha1.ConditionComplete) {
			t.Errorf("killed after write %d: %s has measured %s: %+v", n, name, got.Progress, got.Conditions)
		}
	}
	c.nothingRuns()
	return m.leases
}
