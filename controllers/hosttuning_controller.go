// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

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
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// HostTuningReconciler tunes nodes for runs and restores them. It works for the Leases of tuned nodes, whether or not host tuning
// is allowed any more, and restores a node whose run is gone. It reads everything from the API server: a node must not be tuned
// or forgotten because a cache is behind.
type HostTuningReconciler struct {
	client.Client
	Live   *Live
	Clock  clock.PassiveClock
	Images podutil.Images
	// Namespace has the Leases and the Jobs. The permissions on these stand in the Helm chart, with hostTuning.namespaces.
	Namespace string
}

// SetupWithManager watches the Leases of tuned nodes.
func (r *HostTuningReconciler) SetupWithManager(mgr ctrl.Manager) error {
	tuned := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetNamespace() == r.Namespace && o.GetLabels()[v1alpha1.LabelTunedNode] != ""
	})
	return ctrl.NewControllerManagedBy(mgr).Named("hosttuning").For(&coordinationv1.Lease{}, builder.WithPredicates(tuned)).
		WithOptions(controller.Options{
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Complete(r)
}

// idleTime is the time after which a tuned node is looked at again, whose run may be gone.
const idleTime = 5 * time.Second

// Reconcile takes a node one step further.
func (r *HostTuningReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var lease coordinationv1.Lease
	if err := r.Live.Get(ctx, req.NamespacedName, &lease); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	record, err := hosttuning.Decode(lease.Annotations[v1alpha1.AnnotationHostTuning])
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(fmt.Errorf("reading Lease %s: %w", lease.Name, err))
	}
	job := hosttuning.Job(&lease, record, r.Images)
	seen, err := r.observe(ctx, &lease, record, job.Name)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("observing node %s: %w", record.Node, err)
	}
	after := time.Second
	if record.State == hosttuning.Tuned {
		after = idleTime
	}
	switch d := hosttuning.Next(*record, *seen, r.Clock.Now()); {
	case d.Start:
		err = r.Create(ctx, job, client.FieldOwner(v1alpha1.FieldOwner))
	case d.Write != nil:
		log.FromContext(ctx).Info("Host", "node", record.Node, "state", d.Write.State, "problem", d.Write.Failure+d.Write.Message)
		err, after = writeRecord(ctx, r.Client, &lease, d.Write), staleRetry
	case d.Forget: // as it was read; its Jobs are deleted with it
		err = r.Delete(ctx, &lease, client.PropagationPolicy(metav1.DeletePropagationBackground),
			client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion})
	}
	if err != nil && !isStale(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
		return ctrl.Result{}, fmt.Errorf("tuning node %s: %w", record.Node, err)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// observe whether a node is there and needed, and how far its Job is. What the manager may not read counts as there and needed.
func (r *HostTuningReconciler) observe(
	ctx context.Context, lease *coordinationv1.Lease, record *hosttuning.Record, name string,
) (*hosttuning.Observed, error) {
	seen := &hosttuning.Observed{Needed: true}
	var run v1alpha1.BenchmarkRun
	holder := holderOf(lease)
	switch err := r.Live.Get(ctx, client.ObjectKey{Namespace: holder.Namespace, Name: holder.Name}, &run); {
	case apierrors.IsNotFound(err), err == nil && run.UID != holder.UID:
		seen.Needed, seen.Noted = false, true
	case err == nil:
		seen.Needed = run.DeletionTimestamp == nil && !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
		seen.Noted = slices.ContainsFunc(run.Status.HostTuning, func(h v1alpha1.HostTuningStatus) bool {
			return h.Node == record.Node && ptr.Deref(h.Restored, false)
		})
	case !apierrors.IsForbidden(err):
		return nil, fmt.Errorf("reading %s: %w", holder, err)
	}
	var nodes corev1.NodeList
	err := r.Live.List(ctx, &nodes, client.MatchingFields{metav1.ObjectNameField: record.Node})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("looking for the node: %w", err)
	}
	seen.NodeGone = err == nil && len(nodes.Items) == 0
	seen.Job, err = r.outcome(ctx, lease, name)
	return seen, err
}

func (r *HostTuningReconciler) outcome(
	ctx context.Context, lease *coordinationv1.Lease, name string,
) (o hosttuning.Outcome, err error) {
	var job batchv1.Job
	var pods corev1.PodList
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, &job); err != nil {
		return o, client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(&job, lease) {
		return hosttuning.Outcome{Exists: true, Ended: true, Failure: "Job " + name + " does not belong to Benchrun"}, nil
	}
	mine := client.MatchingLabels{batchv1.JobNameLabel: name}
	if err := r.Live.List(ctx, &pods, client.InNamespace(r.Namespace), mine); err != nil {
		return o, err
	}
	// Only an event tells of a namespace that allows no privileged Pods.
	return hosttuning.OutcomeOf(&job, pods.Items, func() string { return latestWarning(ctx, r.Live, r.Namespace, job.UID) }), nil
}

func tunedNodes(
	ctx context.Context, reader client.Reader, namespace string, labels client.MatchingLabels,
) ([]lifecycle.TunedNode, error) {
	var leases coordinationv1.LeaseList
	tuned := client.HasLabels{v1alpha1.LabelTunedNode}
	if err := reader.List(ctx, &leases, client.InNamespace(namespace), tuned, labels); err != nil {
		return nil, fmt.Errorf("listing the Leases of tuned nodes: %w", err)
	}
	var nodes []lifecycle.TunedNode
	for i := range leases.Items {
		lease := &leases.Items[i]
		record, err := hosttuning.Decode(lease.Annotations[v1alpha1.AnnotationHostTuning])
		if err != nil {
			return nil, fmt.Errorf("reading Lease %s: %w", lease.Name, err)
		}
		nodes = append(nodes, lifecycle.TunedNode{Holder: holderOf(lease), Record: record, Lease: lease})
	}
	return nodes, nil
}

// tuneHost creates the Lease of a node. Another owner may have been faster: then the error is errStale.
func (r *RunReconciler) tuneHost(ctx context.Context, run *v1alpha1.BenchmarkRun, a lifecycle.TuneHost) error {
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.HostNamespace, Name: hosttuning.LeaseName(a.Node), Labels: plan.Labels(run, v1alpha1.ComponentHostTuning),
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(lifecycle.HolderOf(run).Identity())},
	}
	metav1.SetMetaDataLabel(&lease.ObjectMeta, v1alpha1.LabelTunedNode, "true")
	if err := setRecord(lease, ptr.To(hosttuning.New(a.Tuning, a.Node, a.Disk))); err != nil {
		return err
	}
	err := r.writer(run).createUnchecked(ctx, lease, false)
	if apierrors.IsAlreadyExists(err) {
		return errStale
	}
	return err
}

// writeRecord writes the record of a node to its Lease, unless that was written to since it was read.
func writeRecord(ctx context.Context, c client.Client, lease *coordinationv1.Lease, record *hosttuning.Record) error {
	if err := setRecord(lease, record); err != nil {
		return err
	}
	if err := c.Update(ctx, lease, client.FieldOwner(v1alpha1.FieldOwner)); err != nil {
		return fmt.Errorf("writing to Lease %s: %w", lease.Name, err)
	}
	return nil
}

func setRecord(lease *coordinationv1.Lease, record *hosttuning.Record) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding the record of node %s: %w", record.Node, err)
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationHostTuning, string(text))
	return nil
}
