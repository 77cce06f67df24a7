//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

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
			if again := c.reconcile("ours").RequeueAfter; again != 10*time.Second {
				t.Errorf("it looks again after %s, want 10 s", again)
			}
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
			if got := holderOf(other.lease()).Name; got != "ours" {
				t.Errorf("the lane is that of %s", got)
			}
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
	if got := names(c.reconciler.lanes().waitFor(t.Context(), c.lease())); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the Lease leads to %v", got)
	}
	h := c.reconciler.lanes().enqueueNext()
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
		if got := measured(tc.tell); !slices.Equal(got, tc.want) {
			t.Errorf("%s: woken are %v, want %v", what, got, tc.want)
		}
	}
}
