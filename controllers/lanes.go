// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// A lane is held by whoever has created its Lease, until it is deleted. That Lease has no time of expiry: a manager that is down
// measures nothing new, but what it has started may still run.

// leaseOf is the name of a lane's Lease. No Lease of leader election ends so.
func (r *BenchmarkRunReconciler) leaseOf(lane string) client.ObjectKey {
	return client.ObjectKey{Namespace: r.LaneNamespace, Name: lane + ".lane.benchrun.dev"}
}

// foreign says whether another installation works for a holder.
func (r *BenchmarkRunReconciler) foreign(holder lifecycle.Holder) bool {
	return holder.Kind != lifecycle.RunKind || r.Namespace != "" && holder.Namespace != r.Namespace
}

// holderOf a lane's Lease.
func holderOf(lease *coordinationv1.Lease) lifecycle.Holder {
	return lifecycle.ParseHolder(ptr.Deref(lease.Spec.HolderIdentity, ""))
}

// observeLane reads who holds a run's lane and, unless it is the run itself, who waits for it.
func (r *BenchmarkRunReconciler) observeLane(
	ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader,
) (lifecycle.Lane, error) {
	key := r.leaseOf(run.Spec.Lane)
	lane := lifecycle.Lane{Lease: key.String()}
	var lease coordinationv1.Lease
	err := reader.Get(ctx, key, &lease)
	switch {
	case err == nil:
		lane.Holder = ptr.To(holderOf(&lease))
	case !apierrors.IsNotFound(err):
		return lane, fmt.Errorf("reading Lease %s: %w", key, err)
	}
	if !lifecycle.Wants(run) || lane.Holder != nil && *lane.Holder == lifecycle.HolderOf(run) {
		return lane, nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := reader.List(ctx, &runs, client.InNamespace(r.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return lane, fmt.Errorf("listing the runs of lane %s: %w", run.Spec.Lane, err)
	}
	lane.Line = lifecycle.Line(run, runs.Items, lane.Holder)
	if lane.Holder == nil || !r.foreign(*lane.Holder) {
		return lane, nil
	}
	lane.Foreign = true
	lane.Abandoned, err = r.abandoned(ctx, *lane.Holder)
	if err != nil && !apierrors.IsForbidden(err) {
		return lane, err
	}
	return lane, nil // whose holder may not be looked at counts as held
}

// abandoned asks the API server whether a holder is gone, or has finished, and nothing is left of it that may put load on a
// node. A holder that is suspended may be resumed at any moment: only its own manager knows.
func (r *BenchmarkRunReconciler) abandoned(ctx context.Context, holder lifecycle.Holder) (bool, error) {
	if holder.Kind != lifecycle.RunKind {
		return false, nil
	}
	var run v1alpha1.BenchmarkRun
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: holder.Namespace, Name: holder.Name}, &run)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("reading %s: %w", holder, err)
	case err == nil && run.UID == holder.UID && !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished):
		return false, nil
	}
	var pods corev1.PodList
	ofHolder := []client.ListOption{
		client.InNamespace(holder.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(holder.UID)},
	}
	for _, list := range []client.ObjectList{&pods, &batchv1.JobList{}, &appsv1.StatefulSetList{}, database.MariaDBList()} {
		if err := r.Live.List(ctx, list, ofHolder...); err != nil && !apimeta.IsNoMatchError(err) {
			return false, fmt.Errorf("looking for what %s has left: %w", holder, err)
		}
		if list != client.ObjectList(&pods) && apimeta.LenList(list) > 0 {
			return false, nil
		}
	}
	for i := range pods.Items {
		if podutil.Works(&pods.Items[i], r.Clock.Now()) {
			return false, nil
		}
	}
	return true, nil
}

// releaseAbandoned releases the lanes that runs hold which had a name and are gone. It is called for every name of which
// something changes, so that the last Pod of such a run leads here. uid is that of the run which has the name now, or empty.
func (r *BenchmarkRunReconciler) releaseAbandoned(
	ctx context.Context, name client.ObjectKey, uid types.UID,
) (ctrl.Result, error) {
	var leases coordinationv1.LeaseList
	err := r.List(ctx, &leases, client.InNamespace(r.LaneNamespace), client.HasLabels{v1alpha1.LabelLane})
	if err != nil {
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

// takeLane creates the Lease of a run's lane, and adds it to what was seen. Somebody else may have been faster.
func (r *BenchmarkRunReconciler) takeLane(ctx context.Context, s *step) error {
	key, holder := r.leaseOf(s.run.Spec.Lane), lifecycle.HolderOf(s.run)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{
			"app.kubernetes.io/name": "benchrun", "app.kubernetes.io/managed-by": "benchrun", v1alpha1.LabelLane: s.run.Spec.Lane,
		}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(holder.Identity()), AcquireTime: ptr.To(metav1.NewMicroTime(r.Clock.Now())),
		},
	}
	err := r.writer(s.run).createBlindly(ctx, lease, false)
	switch {
	case apierrors.IsAlreadyExists(err):
		return errStale
	case err != nil:
		return err
	}
	s.seen.Lane.Holder, s.seen.Lane.Line = &holder, nil
	return nil
}

// releaseLane deletes the Lease of a lane if it is still that of the holder, as the API server has it.
func (r *BenchmarkRunReconciler) releaseLane(ctx context.Context, lane string, holder lifecycle.Holder) error {
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
