// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// owner is the run that the reconciler works for. Each object that belongs to it has two labels: the owner's name, by which it
// is listed and watched, and the owner's UID, because an owner that was deleted and created again is another one.
type owner struct{ *v1alpha1.BenchmarkRun }

// isLabelled says whether an object has the owner's UID in its label. Anybody can write a label: it sorts objects, it proves
// nothing.
func (o owner) isLabelled(object client.Object) bool {
	return object.GetLabels()[v1alpha1.LabelRunUID] == string(o.GetUID())
}

// retains says whether the owner's records and results stay when it is deleted.
func (o owner) retains() bool { return o.Spec.Results.Retention == v1alpha1.RetentionRetain }

// owns says whether a ConfigMap with records or results is the owner's: it is controlled by the owner or, if it is to stay when
// the owner is deleted, has its UID.
func (o owner) owns(cm *corev1.ConfigMap) bool {
	if o.retains() {
		return o.isLabelled(cm)
	}
	return madeOf(cm, o)
}

// taken is the terminal error that an object of another owner has a name that the owner needs.
func (o owner) taken(kind, name string) error {
	return terminal(v1alpha1.ReasonNameTaken,
		fmt.Sprintf("%s %s exists and does not belong to this run: delete it, or use another name for the run", kind, name))
}

// ownership sorts observed objects that have the owner's name in their label: into its own, those of an earlier owner of the same
// name that are being deleted, and those that stay and have a name that the owner may need. All others are not ours, whatever
// their labels say.
type ownership struct {
	owner owner
	gone  bool
	// predecessor are the objects that are being deleted, and strangers the names of those that stay, both in order.
	predecessor lifecycle.Predecessor
	strangers   []string
}

func (o *ownership) ours(object client.Object) bool {
	if madeOf(object, o.owner) {
		return true
	}
	o.sort(object)
	return false
}

func (o *ownership) sort(object client.Object) {
	switch {
	case o.owner.isLabelled(object), !o.wanted(object.GetName()):
	case o.goes(object):
		o.predecessor.Remains = append(o.predecessor.Remains, object.GetName())
		slices.Sort(o.predecessor.Remains)
		if object.GetDeletionTimestamp() == nil && o.owner.succeeds(object) {
			o.predecessor.Orphan = object
		}
	default:
		o.strangers = append(o.strangers, object.GetName())
		slices.Sort(o.strangers)
	}
}

// ofRun are ends of names that Benchrun gives: of the instances, attempts, results and copied data of a run, and of the Pods,
// claims and further ConfigMaps of these.
var ofRun = regexp.MustCompile(`^-(db[0-9]+|t[0-9]+-a[0-9]+|results|data)(-|$)`)

func (o *ownership) wanted(name string) bool {
	for _, prefix := range []string{"", "data-", "storage-"} {
		if rest, found := strings.CutPrefix(name, prefix+o.owner.GetName()); found && ofRun.MatchString(rest) {
			return true
		}
	}
	return false
}

// goes says whether an object will be gone soon: it is being deleted, or what controls it is an earlier owner or was one's.
func (o *ownership) goes(object client.Object) bool {
	controller := metav1.GetControllerOf(object)
	return object.GetDeletionTimestamp() != nil || controller != nil && o.wanted(controller.Name) || o.owner.succeeds(object)
}

// succeeds says whether what controls an object is an earlier owner of the same name: that one is gone, as this one has its name.
func (o owner) succeeds(object client.Object) bool {
	controller := metav1.GetControllerOf(object)
	return controller != nil && controller.Kind == lifecycle.RunKind && controller.APIVersion == v1alpha1.GroupVersion.String() &&
		controller.Name == o.GetName() && controller.UID != o.GetUID()
}

// enqueueOwner leads from an object to the run whose name it has in a label.
func enqueueOwner() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		name := object.GetLabels()[v1alpha1.LabelRun]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: name}}}
	})
}
