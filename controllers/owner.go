// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// owner is the object that a reconciler works for. Each object that belongs to it has two labels: the owner's name, by which it
// is listed and watched, and the owner's UID, because an owner that was deleted and created again is another one.
type owner struct {
	client.Object
	// noun is what messages call the owner.
	noun string
	// nameLabel and uidLabel are the keys of the two labels.
	nameLabel, uidLabel string
}

func runOwner(run *v1alpha1.BenchmarkRun) owner {
	return owner{Object: run, noun: "run", nameLabel: v1alpha1.LabelRun, uidLabel: v1alpha1.LabelRunUID}
}

// byName selects the objects that have the owner's name.
func (o owner) byName() client.MatchingLabels { return client.MatchingLabels{o.nameLabel: o.GetName()} }

// isLabelled says whether an object has the owner's UID.
func (o owner) isLabelled(object client.Object) bool {
	return object.GetLabels()[o.uidLabel] == string(o.GetUID())
}

// owns says whether an object that exists is the one that the owner wants to create: with or without an owner reference.
func (o owner) owns(object client.Object, referenced bool) bool {
	return o.isLabelled(object) && (!referenced || metav1.IsControlledBy(object, o.Object))
}

// taken is the obstacle that an object of somebody else has a name that the owner needs.
func (o owner) taken(kind, name string) error {
	return &obstacleError{lifecycle.Failure{
		Reason: v1alpha1.ReasonNameTaken,
		Message: fmt.Sprintf("%s %s exists and is not this %s's: delete it, or use another name for the %s",
			kind, name, o.noun, o.noun),
	}}
}

// ownership sorts observed objects that have the owner's name: into its own, those of an earlier owner of the same name that are
// being deleted, and those that are kept.
type ownership struct {
	owner owner
	// predecessor has the names of the objects that are being deleted, in order.
	predecessor []string
	// obstacle is the first object that is kept.
	obstacle *lifecycle.Failure
}

// ours says whether an object belongs to this very owner, and notes it otherwise. An object that has an owner reference is
// deleted with the earlier owner.
func (o *ownership) ours(object client.Object) bool {
	switch {
	case o.owner.isLabelled(object):
		return true
	case object.GetDeletionTimestamp() != nil || len(object.GetOwnerReferences()) > 0:
		o.predecessor = append(o.predecessor, object.GetName())
		slices.Sort(o.predecessor)
	case o.obstacle == nil:
		o.obstacle = &lifecycle.Failure{
			Reason: v1alpha1.ReasonNameTaken,
			Message: fmt.Sprintf("%s is kept from an earlier %s of this name: delete it, or use another name for the %s",
				object.GetName(), o.owner.noun, o.owner.noun),
		}
	}
	return false
}

// enqueueOwner leads from an object to the owner whose name it has in a label.
func enqueueOwner(nameLabel string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		name := object.GetLabels()[nameLabel]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
	})
}
