// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Instance is what exists of a database instance.
type Instance struct {
	Number int
	// Provisioner that made it; empty is StatefulSet.
	Provisioner v1alpha1.Provisioner
	// Set is its StatefulSet, or nil.
	Set *appsv1.StatefulSet
	// MariaDB is the resource that the MariaDB operator makes the StatefulSet of, or nil.
	MariaDB *unstructured.Unstructured
	// Budget is its PodDisruptionBudget, or nil.
	Budget *policyv1.PodDisruptionBudget
	// Pod is its Pod, or nil.
	Pod *corev1.Pod
	// Claims are those of its volumes.
	Claims []*corev1.PersistentVolumeClaim
	// Others says whether its Service or its ConfigMap exists.
	Others bool
	// Foreign: a part of it is not known to be what the operator has made. It is removed, and the next instance is used.
	Foreign bool
	// Warning is the cluster's latest warning about an instance that does not start, or empty.
	Warning string
	// ClaimWarning is the cluster's latest warning about a claim that is not bound, or empty.
	ClaimWarning string
	// ServerLog is the log of a server that failed to start, if NeedsLog asked for it.
	ServerLog string
}

// Root is the object that stands for the instance: it is created last and deleted first. For an external server, which the
// operator does not create, it is the PodDisruptionBudget.
func (i *Instance) Root() metav1.Object {
	switch i.Provisioner {
	case v1alpha1.ProvisionerMariaDBOperator:
		if i.MariaDB != nil {
			return i.MariaDB
		}
	case v1alpha1.ProvisionerExternal:
		if i.Budget != nil {
			return i.Budget
		}
	default:
		if i.Set != nil {
			return i.Set
		}
	}
	return nil
}

// Going says whether an instance is being deleted, or is deleted in part.
func (i *Instance) Going() bool {
	root := i.Root()
	return root == nil || root.GetDeletionTimestamp() != nil
}

// Removable says whether an instance has objects to delete that are not being deleted yet.
func (i *Instance) Removable() bool {
	if i.Root() == nil {
		return i.Others || i.Budget != nil && i.Budget.DeletionTimestamp == nil || i.Foreign
	}
	return !i.Going() || i.Set != nil && i.Pod != nil && podutil.HeldUp(i.Set, *i.Pod)
}

// PartlyMade says whether an instance has no object that runs or holds data: not yet, or not any more.
func (i *Instance) PartlyMade() bool {
	return i.Root() == nil && i.Set == nil && i.Pod == nil && len(i.Claims) == 0
}

// Abandoned says whether what is left of an instance that is being deleted stays because of others, and loads no node: it has
// finalizers that are not Kubernetes' own, or is a Pod on a node that does not answer.
func (i *Instance) Abandoned(now time.Time) bool {
	if !i.Going() || i.Others || i.MayLoad(now) || i.Budget != nil && i.Budget.DeletionTimestamp == nil {
		return false
	}
	if i.Root() != nil && !podutil.IsKept(i.Root()) || i.Set != nil && !podutil.IsKept(i.Set) {
		return false
	}
	if i.Pod != nil && !podutil.IsKept(i.Pod) && !podutil.CutOff(i.Pod, now) {
		return false
	}
	return !slices.ContainsFunc(i.Claims, func(c *corev1.PersistentVolumeClaim) bool { return !podutil.IsKept(c) && i.Pod == nil })
}

// MayLoad says whether an instance has a server that may still put load on its node, or something that would start one.
func (i *Instance) MayLoad(now time.Time) bool {
	return i.Set != nil && podutil.MayLoad(i.Set, now) || i.MariaDB != nil && podutil.MayLoad(i.MariaDB, now) ||
		i.Pod != nil && podutil.MayLoad(i.Pod, now)
}

// Intact says whether an instance is still the server that it was for an earlier attempt, by the UID of its Pod. Of an external
// server only the loader can know.
func (i *Instance) Intact(podUID string) bool {
	if i.Provisioner == v1alpha1.ProvisionerExternal {
		return !i.Going()
	}
	return !i.Going() && i.Pod != nil && string(i.Pod.UID) == podUID && i.State().Ready && !i.restarted()
}
