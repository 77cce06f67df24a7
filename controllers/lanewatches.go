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
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// enqueueNext keeps the queues of lanes, and leads from a run or a comparison that leaves one to who is next there now. Who comes
// into it, and what else changes, does not concern the others: a departure costs the same however many wait.
func (l *lanes) enqueueNext() handler.EventHandler {
	leave := func(ctx context.Context, one lifecycle.Contender, q queue) {
		for _, request := range l.next(ctx, one.Lane) {
			q.Add(request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) { l.queues.tell(contender(e.Object)) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, now := contender(e.ObjectOld), contender(e.ObjectNew)
			l.queues.gone(before)
			l.queues.tell(now)
			if waits(before) && !waits(now) {
				leave(ctx, now, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			one := contender(e.Object)
			l.queues.gone(one)
			if waits(one) {
				leave(ctx, one, q)
			}
		},
	}
}

// waitFor leads from the Lease of a lane to its holder, to who is next in the lane's queue, and to the runs of the comparison
// that holds the lane. The holder may have gone while the manager was down, and nothing else would lead to its name.
func (l *lanes) waitFor(ctx context.Context, object client.Object) []reconcile.Request {
	requests := l.next(ctx, object.GetLabels()[v1alpha1.LabelLane])
	lease, ok := object.(*coordinationv1.Lease)
	if !ok || l.foreign(holderOf(lease)) {
		return requests
	}
	holder := holderOf(lease)
	if holder.Kind == l.kind {
		requests = append(requests, requestFor(holder))
	}
	return append(requests, l.members(ctx, holder)...)
}

// next is who is next in the queue of a lane, if it is of the kind.
func (l *lanes) next(ctx context.Context, lane string) []reconcile.Request {
	all, err := l.contenders(ctx, lane, l.Client)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Looking for the queue of a lane", "lane", lane)
		return nil
	}
	all = slices.DeleteFunc(all, func(c lifecycle.Contender) bool { return c.Lane != lane || !waits(c) })
	if len(all) == 0 {
		return nil
	}
	next := lifecycle.NextInLine(all[0], all, nil)
	if next.Kind != l.kind {
		return nil
	}
	return []reconcile.Request{requestFor(next)}
}

// enqueueCurrent leads from a comparison to those of its current runs that are new, or may measure more than before.
func enqueueCurrent() handler.EventHandler {
	return handler.Funcs{UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
		before, was := e.ObjectOld.(*v1alpha1.BenchmarkRun)
		now, is := e.ObjectNew.(*v1alpha1.BenchmarkRun)
		if !was || !is {
			return
		}
		for _, run := range now.Status.CurrentRuns {
			same := func(b v1alpha1.CurrentRun) bool { return b.UID == run.UID && ptr.Equal(b.Trials, run.Trials) }
			if !slices.ContainsFunc(before.Status.CurrentRuns, same) {
				q.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: now.Namespace, Name: run.Name}})
			}
		}
	}}
}

// members are the runs of a comparison that are not admitted, if the kind is that of runs.
func (l *lanes) members(ctx context.Context, comparison lifecycle.Holder) []reconcile.Request {
	if l.kind != lifecycle.RunKind || comparison.Kind != lifecycle.ComparisonKind {
		return nil
	}
	var runs v1alpha1.BenchmarkRunList
	of := client.MatchingLabels{v1alpha1.LabelComparisonUID: string(comparison.UID)}
	if err := l.List(ctx, &runs, client.InNamespace(comparison.Namespace), of); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Looking for the runs of a comparison that has its lane", "comparison", comparison.String())
		return nil
	}
	var requests []reconcile.Request
	for i := range runs.Items {
		run := &runs.Items[i]
		if lifecycle.Wants(run) && !lifecycle.Admitted(run.Status.Conditions) {
			requests = append(requests, requestFor(lifecycle.HolderOf(run)))
		}
	}
	return requests
}

// waits says whether a contender is in the queue of its lane.
func waits(c lifecycle.Contender) bool { return c.Wants && !c.Admitted }

// contender that an object is: a run or a comparison. Others want nothing.
func contender(object client.Object) lifecycle.Contender {
	switch o := object.(type) {
	case *v1alpha1.BenchmarkRun:
		return lifecycle.ContenderOf(o)
	case *v1alpha1.BenchmarkRun:
		return lifecycle.ContenderOfComparison(o)
	}
	return lifecycle.Contender{}
}

// enqueueComparison leads from an object of a comparison's run that is gone to the comparison, which may wait for that to give
// its lane to the next, or to measure its next run; and from one of the database that its runs share when it is made: the
// comparison may have ended.
func enqueueComparison() handler.EventHandler {
	enqueue := func(object client.Object, q queue) {
		if comparison := object.GetLabels()[v1alpha1.LabelComparison]; comparison != "" {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: comparison}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if e.Object.GetLabels()[v1alpha1.LabelRun] == "" {
				enqueue(e.Object, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { enqueue(e.Object, q) },
	}
}

func requestFor(h lifecycle.Holder) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: h.Namespace, Name: h.Name}}
}

// abandoned asks the API server whether a holder is gone, or has finished, and nothing is left of it that may put load on a
// node. A holder that is suspended may be resumed at any moment: only its own manager knows.
func (l *lanes) abandoned(ctx context.Context, holder lifecycle.Holder) (bool, error) {
	var (
		ended, gone bool
		err         error
	)
	switch holder.Kind {
	case lifecycle.RunKind:
		var run v1alpha1.BenchmarkRun
		ended, gone, err = l.ended(ctx, holder, &run, &run.Status.Conditions)
	case lifecycle.ComparisonKind:
		var comparison v1alpha1.BenchmarkRun
		ended, gone, err = l.ended(ctx, holder, &comparison, &comparison.Status.Conditions)
		if ended && err == nil {
			ended, err = l.withoutRuns(ctx, holder)
		}
	}
	if err != nil || !ended {
		return false, err
	}
	remains, err := l.remains(ctx, l.live, holder, true, gone)
	if err != nil {
		return false, fmt.Errorf("looking for what %s has left: %w", holder, err)
	}
	return !remains.Disturb(nil, l.clock.Now()), nil
}

// ended says whether a holder is gone, or has finished, and whether it is gone. It reads it into an object, to which the
// conditions belong.
func (l *lanes) ended(
	ctx context.Context, holder lifecycle.Holder, object client.Object, conditions *[]metav1.Condition,
) (ended, gone bool, err error) {
	err = l.live.Get(ctx, client.ObjectKey{Namespace: holder.Namespace, Name: holder.Name}, object)
	if client.IgnoreNotFound(err) != nil {
		return false, false, fmt.Errorf("reading %s: %w", holder, err)
	}
	gone = err != nil || object.GetUID() != holder.UID
	return gone || apimeta.IsStatusConditionTrue(*conditions, v1alpha1.ConditionFinished), gone, nil
}

// withoutRuns says whether no run is left that a comparison holds its lane for: one that was admitted. Those of a comparison that
// is gone will be deleted.
func (l *lanes) withoutRuns(ctx context.Context, comparison lifecycle.Holder) (bool, error) {
	var runs v1alpha1.BenchmarkRunList
	of := client.MatchingLabels{v1alpha1.LabelComparisonUID: string(comparison.UID)}
	if err := l.live.List(ctx, &runs, client.InNamespace(comparison.Namespace), of); err != nil {
		return false, fmt.Errorf("looking for runs of %s: %w", comparison, err)
	}
	for i := range runs.Items {
		member := lifecycle.MemberOf(&runs.Items[i])
		measures := lifecycle.Wants(&runs.Items[i]) && lifecycle.Admitted(runs.Items[i].Status.Conditions)
		if member != nil && *member == comparison && measures {
			return false, nil
		}
	}
	return true, nil
}

// remains are the objects of a holder that put load on nodes, or may: those that its UID leads to, by controller references. Its
// label only selects them. Of a holder that is gone or being deleted, what was orphaned counts, too. MariaDB resources
// are always read from the API server.
func (l *lanes) remains(
	ctx context.Context, reader client.Reader, holder lifecycle.Holder, withMariaDBs, gone bool,
) (*lifecycle.Remains, error) {
	o := ownerOfHolder(holder)
	label := client.MatchingLabels{o.uidLabel: string(holder.UID)}
	var (
		runs     v1alpha1.BenchmarkRunList
		pods     corev1.PodList
		jobs     batchv1.JobList
		sets     appsv1.StatefulSetList
		mariaDBs = database.MariaDBList()
	)
	// What is made of another object is read before that, so that it is not taken for one whose controller is gone.
	for _, list := range []client.ObjectList{&pods, &jobs, &sets, &runs} {
		if err := reader.List(ctx, list, client.InNamespace(holder.Namespace), label); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	if withMariaDBs {
		if err := l.live.List(ctx, mariaDBs, client.InNamespace(holder.Namespace), label); err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing MariaDB resources: %w", err)
		}
	}
	nodes, err := tunedNodes(ctx, reader, l.hosts, label)
	if err != nil {
		return nil, err
	}
	by := &ownership{owner: o, gone: gone}
	made, err := madeBy(ctx, newDescent(l.live, holder.Namespace), by, &runs, mariaDBs, &sets, &jobs, &pods)
	if err != nil {
		return nil, err
	}
	r := &lifecycle.Remains{Tuned: nodes}
	for _, object := range made {
		switch one := object.(type) {
		case *v1alpha1.BenchmarkRun:
		case *corev1.Pod:
			r.Pods = append(r.Pods, *one)
		case *batchv1.Job:
			r.Jobs = append(r.Jobs, *one)
		default:
			if object.GetDeletionTimestamp() == nil {
				r.Servers = append(r.Servers, lifecycle.OwnerOf(object))
			}
		}
	}
	return r, nil
}

// ownerOfHolder is a holder of a lane, which may be gone, as the owner of what it has made.
func ownerOfHolder(holder lifecycle.Holder) owner {
	meta := metav1.ObjectMeta{Namespace: holder.Namespace, Name: holder.Name, UID: holder.UID}
	if holder.Kind == lifecycle.ComparisonKind {
		return comparisonOwner(&v1alpha1.BenchmarkRun{ObjectMeta: meta})
	}
	return runOwner(&v1alpha1.BenchmarkRun{ObjectMeta: meta})
}
