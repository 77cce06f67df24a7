// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Two questions are asked about every object that an owner may have made: whether it is the owner's, which this file answers,
// and whether it may still load a node, which podutil.MayLoad answers. Anybody can write a label and an owner reference, so
// neither proves anything. What proves it is a UID: that of the answer to a create request, which the operator remembers and
// writes to the status; for what others make of that (Pods, the StatefulSet of a MariaDB resource), the UID of its controller.
// Between the request and the status, a Job is known by its token. What is left of an instance that was made in part is removed,
// and its number is not used again.

// madeOf says whether an object was made of its controller: it has the controller's UID, and is not older. What is older was
// adopted.
func madeOf(object, controller metav1.Object) bool {
	return metav1.IsControlledBy(object, controller) && !isOlder(object, controller)
}

func isOlder(object, controller metav1.Object) bool {
	at, since := object.GetCreationTimestamp(), controller.GetCreationTimestamp()
	return !at.IsZero() && at.Before(&since)
}

// orphaned says whether an object looks like one of an owner that was deleted and has left its objects (kubectl delete
// --cascade=orphan): nothing controls it, and nothing proves any more whose it was. It is not touched; as long as it may load a
// node, the lane of the owner is kept. A Pod alone is none, because what made it would be orphaned with it, and neither is a Job
// without a token: the API server gives a Job without labels those of its Pods.
func (o *ownership) orphaned(object client.Object) bool {
	switch object.(type) {
	case *corev1.Pod:
		return false
	case *batchv1.Job:
		if object.GetAnnotations()[tokenAnnotation] == "" {
			return false
		}
	}
	return metav1.GetControllerOf(object) == nil && o.owner.isLabelled(object) && o.wanted(object.GetName())
}

// made is what this process has made for a run. Until the status that says so is written, it alone knows.
type made struct {
	// token of the next Job; empty if this process has chosen none yet.
	token string
	// parts are the UIDs of the objects of database instances.
	parts sets.Set[types.UID]
	// attempt was made while the status named another one, and servers and copies of data while it named others.
	attempt, servers, copies creations
}

// creations are objects that were made, and those that the status named then. They count until the status names later ones: this
// operator may fail to write them, and another one may have gone on meanwhile.
type creations struct{ made, after []v1alpha1.ObjectReference }

func (n creations) over(status []v1alpha1.ObjectReference) []v1alpha1.ObjectReference {
	if len(n.made) > 0 && slices.Equal(n.after, status) {
		return n.made
	}
	return status
}

// over what the status names.
func (m *made) over(status v1alpha1.MadeObjects) v1alpha1.MadeObjects {
	status.Attempt = m.attempt.over([]v1alpha1.ObjectReference{status.Attempt})[0]
	status.Servers, status.DataCopies = m.servers.over(status.Servers), m.copies.over(status.DataCopies)
	if m.token != "" {
		status.TokenDigests = withDigest(status.TokenDigests, m.token)
	}
	return status
}

func referenceTo(object client.Object) v1alpha1.ObjectReference {
	return v1alpha1.ObjectReference{Name: object.GetName(), UID: string(object.GetUID())}
}

// foreign says whether an instance of the run has a part that is not known to be the operator's: made by a third party, or made
// in part by an operator that was killed. The object that stands for an instance is made last: by it, all others are known.
func foreign(i *lifecycle.Instance, m *made, servers []v1alpha1.ObjectReference, parts []client.Object) bool {
	if root := i.Root(); root != nil {
		return !slices.ContainsFunc(servers, func(s v1alpha1.ObjectReference) bool { return s.UID == string(root.GetUID()) })
	}
	return slices.ContainsFunc(parts, func(part client.Object) bool {
		return part.GetDeletionTimestamp() == nil && !m.parts.Has(part.GetUID())
	})
}

// An object is an owner's if its controller references lead to the owner by their UIDs. An object on the way may be gone: its
// reference dangles then, and its name has to do. The garbage collector deletes what refers to an object that does not exist, so
// that such a reference cannot be used to stand in the way for long.

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
			object := item.(client.Object) // as in every list
			d.exist.Insert(object.GetUID())
			controller := metav1.GetControllerOf(object)
			is := controller == nil && o.gone && o.orphaned(object)
			if controller != nil {
				is = ours.Has(controller.UID)
				if !is && o.wanted(controller.Name) {
					if err := d.ask(ctx, object); err != nil {
						return err
					}
					is = d.dangles(object)
				}
			}
			if is {
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

// abandoned asks the API server whether a holder is gone, or has finished, and nothing is left of it that may put load on a
// node. A holder that is suspended may be resumed at any moment: only its own manager knows.
func (r *RunReconciler) abandoned(ctx context.Context, holder lifecycle.Holder) (bool, error) {
	if holder.Kind != lifecycle.RunKind {
		return false, nil // a later version's
	}
	var run v1alpha1.BenchmarkRun
	err := r.Live.Get(ctx, requestFor(holder).NamespacedName, &run)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading %s: %w", holder, err)
	}
	gone := err != nil || run.UID != holder.UID
	if !gone && !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return false, nil
	}
	loads, err := r.loads(ctx, r.Live, holder, r.MariaDBOperator, gone)
	if err != nil {
		return false, fmt.Errorf("looking for what %s has left: %w", holder, err)
	}
	return !loads, nil
}

// loads says whether something of a holder puts load on a node, or may: what its UID leads to, by controller references. Its
// label only selects that. Of a holder that is gone or being deleted, what was orphaned counts, too. MariaDB resources
// are always read from the API server.
func (r *RunReconciler) loads(
	ctx context.Context, reader client.Reader, holder lifecycle.Holder, withMariaDBs, gone bool,
) (bool, error) {
	meta := metav1.ObjectMeta{Namespace: holder.Namespace, Name: holder.Name, UID: holder.UID}
	label := client.MatchingLabels{v1alpha1.LabelRunUID: string(holder.UID)}
	var (
		pods     corev1.PodList
		jobs     batchv1.JobList
		sets     appsv1.StatefulSetList
		mariaDBs = database.MariaDBList()
	)
	// What is made of another object is read before that, so that it is not taken for one whose controller is gone.
	for _, list := range []client.ObjectList{&pods, &jobs, &sets} {
		if err := reader.List(ctx, list, client.InNamespace(holder.Namespace), label); err != nil {
			return false, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	if withMariaDBs {
		if err := r.Live.List(ctx, mariaDBs, client.InNamespace(holder.Namespace), label); err != nil && !apimeta.IsNoMatchError(err) {
			return false, fmt.Errorf("listing MariaDB resources: %w", err)
		}
	}
	nodes, err := tunedNodes(ctx, reader, r.HostNamespace, label)
	if err != nil {
		return false, err
	}
	by := &ownership{owner: owner{&v1alpha1.BenchmarkRun{ObjectMeta: meta}}, gone: gone}
	made, err := madeBy(ctx, newDescent(r.Live, holder.Namespace), by, mariaDBs, &sets, &jobs, &pods)
	if err != nil {
		return false, err
	}
	now := r.Clock.Now()
	return slices.ContainsFunc(nodes, func(n lifecycle.TunedNode) bool { return !n.Settled() }) ||
		slices.ContainsFunc(made, func(one client.Object) bool { return podutil.MayLoad(one, now) }), nil
}
