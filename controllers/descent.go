// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// Anybody can write a label, and an owner reference. An object is an owner's if its controller references lead to the owner by
// their UIDs. An object on the way may be gone: its reference dangles then, and its name has to do. The garbage collector deletes
// what refers to an object that does not exist, so that such a reference cannot be used to stand in the way for long.

// descent knows which controllers exist.
type descent struct {
	live      *Live
	namespace string
	// exist are the UIDs of objects that were read. named are those that have the name of a controller that was not among them.
	exist sets.Set[types.UID]
	named map[controllerName]types.UID
}

type controllerName struct{ kind, name string }

// somebodys is the UID of a controller that is not to be found, and may exist.
const somebodys types.UID = "?"

func newDescent(live *Live, namespace string) *descent {
	return &descent{live: live, namespace: namespace, exist: sets.New[types.UID](), named: map[controllerName]types.UID{}}
}

// controllerKinds are the kinds that control what is made for a run.
var controllerKinds = map[string]schema.GroupVersionKind{
	"Job":             batchv1.SchemeGroupVersion.WithKind("Job"),
	"StatefulSet":     appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	"MariaDB":         database.MariaDBList().GroupVersionKind().GroupVersion().WithKind("MariaDB"),
	lifecycle.RunKind: v1alpha1.GroupVersion.WithKind(lifecycle.RunKind),
}

// ask the API server for the controller of an object, if it was not read.
func (d *descent) ask(ctx context.Context, object metav1.Object) error {
	ref := metav1.GetControllerOf(object)
	if ref == nil || d.exist.Has(ref.UID) {
		return nil
	}
	key := controllerName{ref.Kind, ref.Name}
	if _, requested := d.named[key]; requested {
		return nil
	}
	kind, known := controllerKinds[ref.Kind]
	if gv, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || !known || gv.Group != kind.Group {
		return nil //nolint:nilerr // nobody can follow this reference, the garbage collector neither
	}
	var controller metav1.PartialObjectMetadata
	controller.SetGroupVersionKind(kind)
	err := d.live.Get(ctx, client.ObjectKey{Namespace: d.namespace, Name: ref.Name}, &controller)
	switch {
	case apimeta.IsNoMatchError(err):
		d.named[key] = somebodys
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("looking for %s %s: %w", ref.Kind, ref.Name, err)
	default:
		d.named[key] = controller.UID
	}
	return nil
}

// dangles says whether an object's controller was asked for, and is gone.
func (d *descent) dangles(object metav1.Object) bool {
	ref := metav1.GetControllerOf(object)
	if ref == nil || d.exist.Has(ref.UID) {
		return false
	}
	uid, requested := d.named[controllerName{ref.Kind, ref.Name}]
	return requested && uid != somebodys && uid != ref.UID
}

// madeBy are the objects in some lists that an owner has made, directly or by what it has made. What controls an object of a
// later list stands in an earlier one, or is gone.
func madeBy(ctx context.Context, d *descent, o *ownership, lists ...client.ObjectList) ([]client.Object, error) {
	ours := sets.New(o.owner.GetUID())
	d.exist.Insert(o.owner.GetUID())
	var made []client.Object
	for _, list := range lists {
		err := apimeta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is not an object", item)
			}
			d.exist.Insert(object.GetUID())
			controller := metav1.GetControllerOf(object)
			if controller == nil {
				if o.gone && o.orphaned(object) {
					ours.Insert(object.GetUID())
					made = append(made, object)
				}
				return nil
			}
			if !ours.Has(controller.UID) && o.wanted(controller.Name) {
				if err := d.ask(ctx, object); err != nil {
					return err
				}
			}
			if ours.Has(controller.UID) || o.wanted(controller.Name) && d.dangles(object) {
				ours.Insert(object.GetUID())
				made = append(made, object)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("sorting %T: %w", list, err)
		}
	}
	return made, nil
}
