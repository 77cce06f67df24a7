// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// enqueueLine leads from a run that comes into the queue of its lane, or leaves it, to all runs in that queue: each of them
// says at which position it is. What else changes about a run does not concern the others.
func (r *BenchmarkRunReconciler) enqueueLine() handler.EventHandler {
	enqueue := func(ctx context.Context, object client.Object, q queue) {
		if run, ok := object.(*v1alpha1.BenchmarkRun); ok {
			for _, request := range r.line(ctx, run.Spec.Lane) {
				q.Add(request)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if waits(e.Object) {
				enqueue(ctx, e.Object, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if waits(e.ObjectOld) != waits(e.ObjectNew) {
				enqueue(ctx, e.ObjectNew, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			if waits(e.Object) {
				enqueue(ctx, e.Object, q)
			}
		},
	}
}

// waitFor leads from the Lease of a lane to the run that holds it and to all runs in the lane's queue. The holder may have gone
// while the manager was down, and nothing else would lead to its name.
func (r *BenchmarkRunReconciler) waitFor(ctx context.Context, object client.Object) []reconcile.Request {
	requests := r.line(ctx, object.GetLabels()[v1alpha1.LabelLane])
	if lease, ok := object.(*coordinationv1.Lease); ok && !r.foreign(holderOf(lease)) {
		requests = append(requests, requestFor(holderOf(lease)))
	}
	return requests
}

// line has the runs in the queue of a lane, in any order.
func (r *BenchmarkRunReconciler) line(ctx context.Context, lane string) []reconcile.Request {
	var runs v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &runs, client.InNamespace(r.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the runs of a lane", "lane", lane)
		return nil
	}
	var requests []reconcile.Request
	for i := range runs.Items {
		if run := &runs.Items[i]; run.Spec.Lane == lane && waits(run) {
			requests = append(requests, requestFor(lifecycle.HolderOf(run)))
		}
	}
	return requests
}

// waits says whether a run is in the queue of its lane.
func waits(object client.Object) bool {
	run, ok := object.(*v1alpha1.BenchmarkRun)
	return ok && lifecycle.Wants(run) && !lifecycle.Admitted(run)
}

func requestFor(h lifecycle.Holder) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: h.Namespace, Name: h.Name}}
}
