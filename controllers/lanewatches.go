// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// enqueueNext keeps the queues of lanes, and leads from a run that leaves one to who is next there now. Who comes into it, and
// what else changes, does not concern the others: a departure costs the same however many wait.
func (r *BenchmarkRunReconciler) enqueueNext() handler.EventHandler {
	change := func(ctx context.Context, before, now lifecycle.Contender, q queue) {
		waited := waits(before)
		before.Wants = false
		r.queues.tell(before)
		r.queues.tell(now)
		if !waited || waits(now) {
			return
		}
		for _, request := range r.nextInLane(ctx, now.Lane) {
			q.Add(request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) { r.queues.tell(contender(e.Object)) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			change(ctx, contender(e.ObjectOld), contender(e.ObjectNew), q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			one := contender(e.Object)
			change(ctx, one, lifecycle.Contender{Lane: one.Lane}, q)
		},
	}
}

// waitFor leads from the Lease of a lane to its holder, and to who is next in the lane's queue. The holder may have gone while
// the manager was down, and nothing else would lead to its name.
func (r *BenchmarkRunReconciler) waitFor(ctx context.Context, object client.Object) []reconcile.Request {
	requests := r.nextInLane(ctx, object.GetLabels()[v1alpha1.LabelLane])
	lease, ok := object.(*coordinationv1.Lease)
	if !ok || r.foreign(holderOf(lease)) {
		return requests
	}
	return append(requests, requestFor(holderOf(lease)))
}

func (r *BenchmarkRunReconciler) nextInLane(ctx context.Context, lane string) []reconcile.Request {
	all, err := r.contenders(ctx, lane, r.Client)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Looking for the queue of a lane", "lane", lane)
		return nil
	}
	all = slices.DeleteFunc(all, func(c lifecycle.Contender) bool { return c.Lane != lane || !waits(c) })
	if len(all) == 0 {
		return nil
	}
	return []reconcile.Request{requestFor(lifecycle.NextInLine(all[0], all, nil))}
}

// waits says whether a contender is in the queue of its lane.
func waits(c lifecycle.Contender) bool { return c.Wants && !c.Admitted }

// contender that an object is: a run. Others want nothing.
func contender(object client.Object) lifecycle.Contender {
	if run, is := object.(*v1alpha1.BenchmarkRun); is {
		return lifecycle.ContenderOf(run)
	}
	return lifecycle.Contender{}
}

func requestFor(h lifecycle.Holder) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: h.Namespace, Name: h.Name}}
}

// abandoned asks the API server whether a holder is gone, or has finished, and nothing is left of it that may put load on a
// node. A holder that is suspended may be resumed at any moment: only its own manager knows.
func (r *BenchmarkRunReconciler) abandoned(ctx context.Context, holder lifecycle.Holder) (bool, error) {
	if holder.Kind != lifecycle.RunKind {
		return false, nil // a later version's
	}
	var run v1alpha1.BenchmarkRun
	err := r.Live.Get(ctx, requestFor(holder).NamespacedName, &run)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading %s: %w", holder, err)
	}
	gone := err != nil || run.UID != holder.UID
	if !gone && !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return false, nil
	}
	loads, err := r.loads(ctx, r.Live, holder, true, gone)
	if err != nil {
		return false, fmt.Errorf("looking for what %s has left: %w", holder, err)
	}
	return !loads, nil
}

// loads says whether something of a holder puts load on a node, or may: what its UID leads to, by controller references. Its
// label only selects that. Of a holder that is gone or being deleted, what was orphaned counts, too. MariaDB resources
// are always read from the API server.
func (r *BenchmarkRunReconciler) loads(
	ctx context.Context, reader client.Reader, holder lifecycle.Holder, withMariaDBs, gone bool,
) (bool, error) {
	meta := metav1.ObjectMeta{Namespace: holder.Namespace, Name: holder.Name, UID: holder.UID}
	label := client.MatchingLabels{v1alpha1.LabelRunUID: string(holder.UID)}
	var (
		pods     corev1.PodList
		jobs     batchv1.JobList
		sets     appsv1.StatefulSetList
		mariaDBs = database.MariaDBList()
	)
	// What is made of another object is read before that, so that it is not taken for one whose controller is gone.
	for _, list := range []client.ObjectList{&pods, &jobs, &sets} {
		if err := reader.List(ctx, list, client.InNamespace(holder.Namespace), label); err != nil {
			return false, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	if withMariaDBs {
		if err := r.Live.List(ctx, mariaDBs, client.InNamespace(holder.Namespace), label); err != nil && !apimeta.IsNoMatchError(err) {
			return false, fmt.Errorf("listing MariaDB resources: %w", err)
		}
	}
	nodes, err := tunedNodes(ctx, reader, r.HostNamespace, label)
	if err != nil {
		return false, err
	}
	by := &ownership{owner: owner{&v1alpha1.BenchmarkRun{ObjectMeta: meta}}, gone: gone}
	made, err := madeBy(ctx, newDescent(r.Live, holder.Namespace), by, mariaDBs, &sets, &jobs, &pods)
	if err != nil {
		return false, err
	}
	now := r.Clock.Now()
	return slices.ContainsFunc(nodes, func(n lifecycle.TunedNode) bool { return !n.Settled() }) ||
		slices.ContainsFunc(made, func(one client.Object) bool { return podutil.MayLoad(one, now) }), nil
}
