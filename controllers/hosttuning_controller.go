// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// HostTuningReconciler tunes nodes for runs and restores them. It works for the Leases of tuned nodes, whether or not host tuning
// is allowed any more, and restores a node whose run is gone. It reads everything from the API server: a node must not be tuned
// or forgotten because a cache is behind.
type HostTuningReconciler struct {
	client.Client
	// Live reads from the API server.
	Live *Live
	// Clock for retries.
	Clock clock.PassiveClock
	// Images of the loader, which does the work in a privileged Pod.
	Images podutil.Images
	// Namespace has the Leases and the Jobs.
	Namespace string
}

// The permissions on Jobs and Leases are for one namespace, and stand in the Helm chart, with hostTuning.enabled.

// Reconcile takes a node one step further.
func (r *HostTuningReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var lease coordinationv1.Lease
	if err := r.Live.Get(ctx, req.NamespacedName, &lease); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if lease.DeletionTimestamp != nil || lease.Labels[v1alpha1.LabelTunedNode] == "" {
		return ctrl.Result{}, nil
	}
	record, err := recordOf(&lease)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	seen, err := r.observe(ctx, &lease, record)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("observing node %s: %w", record.Node, err)
	}
	d := hosttuning.Next(record, *seen, r.Clock.Now())
	switch err := r.act(ctx, &lease, record, d); {
	case isStale(err):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: d.After}, nil
}

// observe whether a node is needed, and how far the Jobs of its steps are.
func (r *HostTuningReconciler) observe(
	ctx context.Context, lease *coordinationv1.Lease, record *hosttuning.Record,
) (*hosttuning.Observed, error) {
	seen := &hosttuning.Observed{}
	var err error
	if seen.Needed, seen.Gone, err = r.holder(ctx, holderOf(lease)); err != nil {
		return nil, err
	}
	if !seen.Needed || record.Release {
		if seen.NodeGone, err = r.nodeGone(ctx, record.Node); err != nil {
			return nil, err
		}
	}
	outcomes := map[hosttuning.Step]hosttuning.Outcome{}
	for _, step := range []hosttuning.Step{hosttuning.StepRead, hosttuning.StepSet, hosttuning.StepDrop, hosttuning.StepRestore} {
		if outcomes[step], err = r.outcome(ctx, lease, hosttuning.JobName(lease, record, step)); err != nil {
			return nil, err
		}
	}
	seen.Job = func(step hosttuning.Step) hosttuning.Outcome { return outcomes[step] }
	return seen, nil
}

// holder says whether the run that has tuned a node may still need that, and whether the run is gone. Whom the manager may not
// read counts as there.
func (r *HostTuningReconciler) holder(ctx context.Context, h lifecycle.Holder) (needed, gone bool, err error) {
	var run v1alpha1.BenchmarkRun
	err = r.Live.Get(ctx, client.ObjectKey{Namespace: h.Namespace, Name: h.Name}, &run)
	switch {
	case apierrors.IsNotFound(err), err == nil && run.UID != h.UID:
		return false, true, nil
	case apierrors.IsForbidden(err):
		return true, false, nil
	case err != nil:
		return false, false, fmt.Errorf("reading %s: %w", h, err)
	}
	ended := run.DeletionTimestamp != nil || apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
	return !ended && !ptr.Deref(run.Spec.Suspend, false), false, nil
}

// nodeGone says whether a node no longer exists. An operator that may not read nodes does not know, and goes on trying.
func (r *HostTuningReconciler) nodeGone(ctx context.Context, node string) (bool, error) {
	var nodes corev1.NodeList
	err := r.Live.List(ctx, &nodes, client.MatchingFields{metav1.ObjectNameField: node})
	switch {
	case apierrors.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("looking for node %s: %w", node, err)
	}
	return len(nodes.Items) == 0, nil
}

// outcome of the Job with a name.
func (r *HostTuningReconciler) outcome(
	ctx context.Context, lease *coordinationv1.Lease, name string,
) (hosttuning.Outcome, error) {
	var job batchv1.Job
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, &job)
	switch {
	case apierrors.IsNotFound(err):
		return hosttuning.Outcome{}, nil
	case err != nil:
		return hosttuning.Outcome{}, fmt.Errorf("reading Job %s: %w", name, err)
	case !metav1.IsControlledBy(&job, lease):
		return hosttuning.Outcome{Exists: true, Ended: true, Failure: "Job " + name + " does not belong to Benchrun"}, nil
	}
	var pods corev1.PodList
	of := client.MatchingLabels{batchv1.JobNameLabel: name}
	if err := r.Live.List(ctx, &pods, client.InNamespace(r.Namespace), of); err != nil {
		return hosttuning.Outcome{}, fmt.Errorf("listing the Pods of Job %s: %w", name, err)
	}
	o := hosttuning.OutcomeOf(&job, pods.Items, "")
	if o.Ended && o.Report == nil {
		// Only an event tells of a namespace that allows no privileged Pods.
		o = hosttuning.OutcomeOf(&job, pods.Items, latestWarning(ctx, r.Live, r.Namespace, job.UID))
	}
	return o, nil
}

// act carries out a decision about a node.
func (r *HostTuningReconciler) act(
	ctx context.Context, lease *coordinationv1.Lease, record *hosttuning.Record, d hosttuning.Decision,
) error {
	switch {
	case d.Start != "":
		job := hosttuning.Job(lease, record, d.Start, r.Images)
		if err := r.Create(ctx, job, client.FieldOwner(v1alpha1.FieldOwner)); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating Job %s: %w", job.Name, err)
		}
		return errStale // look at it soon
	case d.Write != nil:
		if d.Write.Attempts > record.Attempts {
			log.FromContext(ctx).Info("A node was not restored", "node", record.Node, "holder", holderOf(lease).String(),
				"attempts", d.Write.Attempts, "problem", d.Write.Unrestored)
		}
		if err := setRecord(lease, d.Write); err != nil {
			return err
		}
		if err := r.Update(ctx, lease, client.FieldOwner(v1alpha1.FieldOwner)); err != nil {
			return fmt.Errorf("writing to Lease %s: %w", lease.Name, err)
		}
		return errStale // there is a next step
	case d.Forget:
		return forgetLease(ctx, r.Client, lease)
	}
	return nil
}

// SetupWithManager watches the Leases of tuned nodes, and the runs that hold them.
func (r *HostTuningReconciler) SetupWithManager(mgr ctrl.Manager) error {
	tuned := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetNamespace() == r.Namespace && o.GetLabels()[v1alpha1.LabelTunedNode] != ""
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("hosttuning").
		For(&coordinationv1.Lease{}, builder.WithPredicates(tuned)).
		WithOptions(controller.Options{
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.heldBy)).
		Complete(r)
}

// heldBy leads from a run to the nodes that it has tuned.
func (r *HostTuningReconciler) heldBy(ctx context.Context, run client.Object) []reconcile.Request {
	var leases coordinationv1.LeaseList
	if err := r.List(ctx, &leases, client.InNamespace(r.Namespace), tunedLabel); err != nil {
		log.FromContext(ctx).Error(err, "Looking for the nodes that a run has tuned", "run", client.ObjectKeyFromObject(run))
		return nil
	}
	var requests []reconcile.Request
	for i := range leases.Items {
		if requestFor(holderOf(&leases.Items[i])).NamespacedName == client.ObjectKeyFromObject(run) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&leases.Items[i])})
		}
	}
	return requests
}

// unsettledNodes are the records of nodes with a label that are still to be restored.
func unsettledNodes(
	ctx context.Context, reader client.Reader, namespace string, label client.MatchingLabels,
) ([]*hosttuning.Record, error) {
	var leases coordinationv1.LeaseList
	if err := reader.List(ctx, &leases, client.InNamespace(namespace), tunedLabel, label); err != nil {
		return nil, fmt.Errorf("listing the Leases of tuned nodes: %w", err)
	}
	var records []*hosttuning.Record
	for i := range leases.Items {
		record, err := recordOf(&leases.Items[i])
		if err != nil {
			return nil, err
		}
		if !record.Settled() {
			records = append(records, record)
		}
	}
	return records, nil
}
