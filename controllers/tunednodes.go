// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// tunedLabel selects the Leases of tuned nodes.
var tunedLabel = client.MatchingLabels{v1alpha1.LabelTunedNode: v1alpha1.LabelTunedNodeValue}

// recordOf the Lease of a tuned node.
func recordOf(lease *coordinationv1.Lease) (*hosttuning.Record, error) {
	record, err := hosttuning.Decode(lease.Annotations[v1alpha1.AnnotationHostTuning])
	if err != nil {
		return nil, fmt.Errorf("reading Lease %s: %w", lease.Name, err)
	}
	return record, nil
}

// setRecord of the Lease of a tuned node.
func setRecord(lease *coordinationv1.Lease, record *hosttuning.Record) error {
	text, err := record.Encode()
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationHostTuning, text)
	return nil
}

// tunedNodes are all nodes that are tuned at the moment, if the run requests that. They are read from the API server: of a Lease
// that the cache does not have yet, a run would say that it was deleted.
func (r *BenchmarkRunReconciler) tunedNodes(ctx context.Context, run *v1alpha1.BenchmarkRun) ([]lifecycle.TunedNode, error) {
	if run.Spec.Database.HostTuning == nil {
		return nil, nil
	}
	var leases coordinationv1.LeaseList
	if err := r.Live.List(ctx, &leases, client.InNamespace(r.HostNamespace), tunedLabel); err != nil {
		return nil, fmt.Errorf("listing the Leases of tuned nodes: %w", err)
	}
	var nodes []lifecycle.TunedNode
	for i := range leases.Items {
		record, err := recordOf(&leases.Items[i])
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, lifecycle.TunedNode{Holder: holderOf(&leases.Items[i]), Record: record})
	}
	return nodes, nil
}

// tuneHost creates the Lease of a node. Another owner may have been faster: then the error is errStale.
func (r *BenchmarkRunReconciler) tuneHost(ctx context.Context, run *v1alpha1.BenchmarkRun, a lifecycle.TuneHost) error {
	labels := plan.Labels(run, v1alpha1.ComponentHostTuning)
	labels[v1alpha1.LabelTunedNode] = v1alpha1.LabelTunedNodeValue
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.HostNamespace, Name: hosttuning.LeaseName(a.Node), Labels: labels},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(lifecycle.HolderOf(run).Identity()), AcquireTime: ptr.To(metav1.NewMicroTime(r.Clock.Now())),
		},
	}
	if err := setRecord(lease, ptr.To(hosttuning.New(run.Spec.Database.HostTuning, a.Node, a.Disk))); err != nil {
		return err
	}
	err := r.writer(run).createUnchecked(ctx, lease, false)
	if apierrors.IsAlreadyExists(err) {
		return errStale
	}
	return err
}

// changeHost changes the record of a node that the run has tuned, as the API server has it.
func (r *BenchmarkRunReconciler) changeHost(
	ctx context.Context, run *v1alpha1.BenchmarkRun, node string, change func(*hosttuning.Record),
) error {
	lease, record, err := r.leaseOfNode(ctx, run, node)
	if err != nil {
		return err
	}
	change(record)
	if err := setRecord(lease, record); err != nil {
		return err
	}
	if err := r.Update(ctx, lease, client.FieldOwner(v1alpha1.FieldOwner)); err != nil {
		return fmt.Errorf("writing to Lease %s: %w", lease.Name, err)
	}
	return nil
}

// forgetHost deletes the Lease of a node that the run has tuned, if it still says that the node is restored.
func (r *BenchmarkRunReconciler) forgetHost(ctx context.Context, run *v1alpha1.BenchmarkRun, node string) error {
	lease, record, err := r.leaseOfNode(ctx, run, node)
	switch {
	case err != nil:
		return err
	case !record.Restored:
		return errStale
	}
	return forgetLease(ctx, r.Client, lease)
}

// leaseOfNode is the Lease of a node that the run has tuned. The error is errStale if there is none.
func (r *BenchmarkRunReconciler) leaseOfNode(
	ctx context.Context, run *v1alpha1.BenchmarkRun, node string,
) (*coordinationv1.Lease, *hosttuning.Record, error) {
	var lease coordinationv1.Lease
	key := client.ObjectKey{Namespace: r.HostNamespace, Name: hosttuning.LeaseName(node)}
	err := r.Live.Get(ctx, key, &lease)
	switch {
	case apierrors.IsNotFound(err), err == nil && holderOf(&lease) != lifecycle.HolderOf(run):
		return nil, nil, errStale
	case err != nil:
		return nil, nil, fmt.Errorf("reading Lease %s: %w", key, err)
	}
	record, err := recordOf(&lease)
	return &lease, record, err
}

// forgetLease deletes the Lease of a node, as it was read. Its Jobs are deleted with it.
func forgetLease(ctx context.Context, c client.Client, lease *coordinationv1.Lease) error {
	err := c.Delete(ctx, lease, client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting Lease %s: %w", lease.Name, err)
	}
	return nil
}
