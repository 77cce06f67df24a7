// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// A lane is held by the owner that has created its Lease, until that is deleted. That Lease has no time of expiry: a manager
// that is down measures nothing new, but what it has started may still run.

// leaseOf is the name of a lane's Lease. No Lease of leader election ends so.
func (r *RunReconciler) leaseOf(lane string) client.ObjectKey {
	return client.ObjectKey{Namespace: r.LaneNamespace, Name: lane + ".lane.benchrun.dev"}
}

// foreign says whether another installation works for a holder.
func (r *RunReconciler) foreign(holder lifecycle.Holder) bool {
	return holder.Kind != lifecycle.RunKind || len(r.Scope) > 0 && !slices.Contains(r.Scope, holder.Namespace)
}

func holderOf(lease *coordinationv1.Lease) lifecycle.Holder {
	return lifecycle.ParseHolder(ptr.Deref(lease.Spec.HolderIdentity, ""))
}

// observe who holds a lane and, if one wants it that does not hold it, who waits for it.
func (r *RunReconciler) observeLane(ctx context.Context, one lifecycle.Contender, reader client.Reader) (lifecycle.Lane, error) {
	key := r.leaseOf(one.Lane)
	lane := lifecycle.Lane{Lease: key.String(), Anonymous: !r.NameOthers}
	var lease coordinationv1.Lease
	err := reader.Get(ctx, key, &lease)
	switch {
	case err == nil:
		lane.Holder = ptr.To(holderOf(&lease))
	case !apierrors.IsNotFound(err):
		return lane, fmt.Errorf("reading Lease %s: %w", key, err)
	}
	if !one.Wants || lane.Holder != nil && *lane.Holder == one.Holder {
		return lane, nil
	}
	all, err := r.contenders(ctx, one.Lane, reader)
	if err != nil {
		return lane, err
	}
	lane.Next = lifecycle.NextInLine(one, all, lane.Holder)
	if lane.Holder == nil || !r.foreign(*lane.Holder) {
		return lane, nil
	}
	lane.Foreign = true
	if lane.Next != one.Holder {
		return lane, nil // the next one looks after it
	}
	lane.Abandoned, err = r.abandoned(ctx, *lane.Holder)
	if err != nil && !apierrors.IsForbidden(err) {
		return lane, err
	}
	return lane, nil // whose holder may not be looked at counts as held
}

func (r *RunReconciler) contenders(ctx context.Context, lane string, reader client.Reader) ([]lifecycle.Contender, error) {
	if r.queues != nil && reader == client.Reader(r.Client) {
		return r.queues.of(lane), nil
	}
	runs, err := r.Scope.Runs(ctx, reader)
	if err != nil {
		return nil, fmt.Errorf("reading the queue of a lane: %w", err)
	}
	all := make([]lifecycle.Contender, 0, len(runs))
	for i := range runs {
		all = append(all, lifecycle.ContenderOf(&runs[i]))
	}
	return all, nil
}

// releaseAbandoned releases the lanes of holders which had a name and are gone. It is called for every name of which something
// changes, so that the last Pod of such a holder leads here. uid is that of the object which has the name now, or empty.
func (r *RunReconciler) releaseAbandoned(ctx context.Context, name client.ObjectKey, uid types.UID) (ctrl.Result, error) {
	var leases coordinationv1.LeaseList
	if err := r.List(ctx, &leases, client.InNamespace(r.LaneNamespace), client.HasLabels{v1alpha1.LabelLane}); err != nil {
		return ctrl.Result{}, fmt.Errorf("listing the Leases of lanes: %w", err)
	}
	var result ctrl.Result
	for i := range leases.Items {
		lease := &leases.Items[i]
		holder := holderOf(lease)
		if requestFor(holder).NamespacedName != name || holder.Kind != lifecycle.RunKind || holder.UID == uid {
			continue
		}
		abandoned, err := r.abandoned(ctx, holder)
		if err != nil {
			return ctrl.Result{}, err
		}
		if !abandoned {
			result.RequeueAfter = 5 * time.Second // a node that does not answer is not watched
			continue
		}
		if err := r.releaseLane(ctx, lease.Labels[v1alpha1.LabelLane], holder); err != nil {
			return ctrl.Result{}, err
		}
	}
	return result, nil
}

// takeLane creates the Lease of a lane. Another run may have been faster: then the error is errStale.
func (r *RunReconciler) takeLane(ctx context.Context, s *runStep) error {
	holder, lane := lifecycle.HolderOf(s.run), s.run.Spec.Lane
	key := r.leaseOf(lane)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{
			"app.kubernetes.io/name": "benchrun", "app.kubernetes.io/managed-by": "benchrun", v1alpha1.LabelLane: lane,
		}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(holder.Identity()), AcquireTime: ptr.To(metav1.NewMicroTime(r.Clock.Now())),
		},
	}
	switch err := r.writer(s.run).createUnchecked(ctx, lease, false); {
	case apierrors.IsAlreadyExists(err):
		return errStale
	case err != nil:
		return err
	}
	s.seen.Lane.Holder, s.seen.Lane.Next = &holder, lifecycle.Holder{}
	return nil
}

// releaseLane deletes the Lease of a lane if it is still that of the holder, as the API server has it.
func (r *RunReconciler) releaseLane(ctx context.Context, lane string, holder lifecycle.Holder) error {
	var lease coordinationv1.Lease
	key := r.leaseOf(lane)
	if err := r.Live.Get(ctx, key, &lease); err != nil {
		return client.IgnoreNotFound(err)
	}
	if holderOf(&lease) != holder {
		return nil
	}
	same := client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}
	if err := r.Delete(ctx, &lease, same); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("releasing Lease %s: %w", key, err)
	}
	return nil
}

// laneQueues are the runs that want a lane, as the watches of one controller tell of them. To list all of them
// for each one that waits would cost the square of their number. An owner that is woken because another has left finds that in
// it: it is told first. A nil one keeps nothing.
type laneQueues struct {
	mutex sync.Mutex
	lanes map[string]map[client.ObjectKey]lifecycle.Contender
}

// tell of a contender as it is now. The lane of a run never changes while its name is the same.
func (q *laneQueues) tell(one lifecycle.Contender) {
	if q == nil {
		return
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	name := requestFor(one.Holder).NamespacedName
	if !one.Wants {
		delete(q.lanes[one.Lane], name)
		if len(q.lanes[one.Lane]) == 0 {
			delete(q.lanes, one.Lane)
		}
		return
	}
	if q.lanes == nil {
		q.lanes = map[string]map[client.ObjectKey]lifecycle.Contender{}
	}
	if q.lanes[one.Lane] == nil {
		q.lanes[one.Lane] = map[client.ObjectKey]lifecycle.Contender{}
	}
	q.lanes[one.Lane][name] = one
}

// of a lane: all that want it, in no order.
func (q *laneQueues) of(lane string) []lifecycle.Contender {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return slices.AppendSeq(make([]lifecycle.Contender, 0, len(q.lanes[lane])), maps.Values(q.lanes[lane]))
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// enqueueNext keeps the queues of lanes, and leads from a run that leaves one to who is next there now. Who comes into it, and
// what else changes, does not concern the others: a departure costs the same however many wait.
func (r *RunReconciler) enqueueNext() handler.EventHandler {
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
func (r *RunReconciler) waitFor(ctx context.Context, object client.Object) []reconcile.Request {
	requests := r.nextInLane(ctx, object.GetLabels()[v1alpha1.LabelLane])
	lease, ok := object.(*coordinationv1.Lease)
	if !ok || r.foreign(holderOf(lease)) {
		return requests
	}
	return append(requests, requestFor(holderOf(lease)))
}

func (r *RunReconciler) nextInLane(ctx context.Context, lane string) []reconcile.Request {
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

func waits(c lifecycle.Contender) bool { return c.Wants && !c.Admitted }

func contender(run client.Object) lifecycle.Contender {
	return lifecycle.ContenderOf(run.(*v1alpha1.BenchmarkRun))
}

func requestFor(h lifecycle.Holder) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: h.Namespace, Name: h.Name}}
}
