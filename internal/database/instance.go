// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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
	// Guard is its PodDisruptionBudget, or nil.
	Guard *policyv1.PodDisruptionBudget
	// Pod is its Pod, or nil.
	Pod *corev1.Pod
	// Claim is the name of its volume claim, empty if there is none.
	Claim string
	// Others says whether its Service or its ConfigMap exists.
	Others bool
	// Trouble is the cluster's latest warning about what the instance waits for; empty if there is none.
	Trouble string
	// LastWords are what the log of a server holds that has ended without a termination message.
	LastWords string
}

// Root is the object that stands for the instance: it is created last, and what is left of an instance without it is being
// removed. An external server is in nobody's hands: its guard stands for it.
func (i *Instance) Root() metav1.Object {
	switch i.Provisioner {
	case v1alpha1.ProvisionerMariaDBOperator:
		if i.MariaDB != nil {
			return i.MariaDB
		}
	case v1alpha1.ProvisionerExternal:
		if i.Guard != nil {
			return i.Guard
		}
	default:
		if i.Set != nil {
			return i.Set
		}
	}
	return nil
}

// Going says whether an instance is being removed, or nothing but remains of it is left.
func (i *Instance) Going() bool {
	root := i.Root()
	return root == nil || root.GetDeletionTimestamp() != nil
}

// Removable says whether there is something of an instance to delete that is not being deleted already.
func (i *Instance) Removable() bool {
	if i.Root() == nil {
		return i.Others || i.Guard != nil && i.Guard.DeletionTimestamp == nil
	}
	return !i.Going()
}

// PartlyMade says whether an instance has nothing yet, or nothing any more, that runs or holds data.
func (i *Instance) PartlyMade() bool {
	return i.Root() == nil && i.Set == nil && i.Pod == nil && i.Claim == ""
}

// cutOffAfter is how long after the time that its Pod was given to end a node counts as cut off.
const cutOffAfter = 30 * time.Second

// CutOff says whether nothing is left of an instance but what a node that does not answer never gives back.
func (i *Instance) CutOff(now time.Time) bool {
	return i.Root() == nil && i.Set == nil && i.Pod != nil && i.Pod.DeletionTimestamp != nil &&
		now.After(i.Pod.DeletionTimestamp.Add(cutOffAfter))
}

// Intact says whether an instance still is the server that has served before, by the UID of its Pod. What an external server
// went through only its loader can tell.
func (i *Instance) Intact(podUID string) bool {
	if i.Provisioner == v1alpha1.ProvisionerExternal {
		return !i.Going()
	}
	return !i.Going() && i.Pod != nil && string(i.Pod.UID) == podUID && i.State().Ready && !i.restarted()
}
