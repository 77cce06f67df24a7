// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// withMariaDBs says whether a run's database is a resource of the MariaDB operator, which this manager may read.
func (r *RunReconciler) withMariaDBs(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator && r.MariaDBOperator
}

type listed struct {
	jobs         batchv1.JobList
	pods         corev1.PodList
	configs      metav1.PartialObjectMetadataList
	statefulSets appsv1.StatefulSetList
	services     corev1.ServiceList
	claims       corev1.PersistentVolumeClaimList
	budgets      policyv1.PodDisruptionBudgetList
	mariaDBs     unstructured.UnstructuredList
	descent      *descent
}

// list reads what has the run's name in its label, by a reader, except for the kind of the MariaDB operator: it may not be
// installed, and a watch of a kind that does not exist would keep the operator from starting.
func (r *RunReconciler) list(ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader) (*listed, error) {
	named := []client.ListOption{client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRun: run.Name}}
	l := &listed{mariaDBs: *database.MariaDBList()}
	l.configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for _, list := range []client.ObjectList{&l.jobs, &l.pods, &l.configs, &l.statefulSets, &l.services, &l.claims, &l.budgets} {
		if err := reader.List(ctx, list, named...); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	if r.withMariaDBs(run) {
		if err := r.Live.List(ctx, &l.mariaDBs, named...); err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing MariaDB resources: %w", err)
		}
	}
	return l, l.ask(ctx, r.Live, run.Namespace)
}

// ask which controllers of the Pods and StatefulSets exist.
func (l *listed) ask(ctx context.Context, live *Live, namespace string) error {
	l.descent = newDescent(live, namespace)
	var made []metav1.Object
	for i := range l.mariaDBs.Items {
		l.descent.exist.Insert(l.mariaDBs.Items[i].GetUID())
	}
	for i := range l.statefulSets.Items {
		l.descent.exist.Insert(l.statefulSets.Items[i].UID)
		made = append(made, &l.statefulSets.Items[i])
	}
	for i := range l.jobs.Items {
		l.descent.exist.Insert(l.jobs.Items[i].UID)
	}
	for i := range l.pods.Items {
		made = append(made, &l.pods.Items[i])
	}
	for _, object := range made {
		// Those that a run itself controls are the run's.
		if ref := metav1.GetControllerOf(object); ref == nil || ref.Kind == lifecycle.RunKind {
			continue
		}
		if err := l.descent.ask(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

type instances struct {
	*ownership
	*descent
	provisioner v1alpha1.Provisioner
	found       map[int]*lifecycle.Instance
	// parts of each instance that the owner itself made, or may have made.
	parts map[int][]client.Object
}

// instancesOf an owner, in their order, from the objects that were listed. What stands in the way is noted by the ownership.
// Made is what the operator knows to have made, and servers what stands for the newest instances.
func instancesOf(
	o *ownership, provisioner v1alpha1.Provisioner, l *listed, m *made, servers []v1alpha1.ObjectReference,
) []lifecycle.Instance {
	i := instances{o, l.descent, provisioner, map[int]*lifecycle.Instance{}, map[int][]client.Object{}}
	i.servers(l)
	for n := range l.services.Items {
		if service := &l.services.Items[n]; i.ours(service) {
			i.other(service)
		}
	}
	for n := range l.configs.Items {
		if cm := &l.configs.Items[n]; ofDatabase(cm) && i.ours(cm) {
			i.other(cm)
		}
	}
	i.claims(l)
	for n := range l.budgets.Items {
		if budget := &l.budgets.Items[n]; i.ours(budget) {
			i.part(budget).Budget = budget
		}
	}
	var all []lifecycle.Instance
	for n, one := range i.found {
		one.Foreign = foreign(one, m, servers, i.parts[n])
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b lifecycle.Instance) int { return a.Number - b.Number })
	return all
}

// claims sorts the volume claims. One that cannot be proved to be the owner's, because the StatefulSet has made it, has its name.
func (i *instances) claims(l *listed) {
	for n := range l.claims.Items {
		claim := &l.claims.Items[n]
		if ofDataCopy(claim) {
			continue
		}
		var one *lifecycle.Instance
		if i.ours(claim) {
			one = i.part(claim)
		} else if i.owner.isLabelled(claim) && i.wanted(claim.Name) {
			one = i.of(claim)
		}
		if one != nil {
			one.Claims = append(one.Claims, claim)
		}
	}
}

// servers sorts what runs, from the objects that the owner controls to those that Kubernetes or the MariaDB operator made of
// them.
func (i *instances) servers(l *listed) {
	for n := range l.mariaDBs.Items {
		if server := &l.mariaDBs.Items[n]; i.ours(server) {
			i.of(server).MariaDB = server
		}
	}
	for n := range l.statefulSets.Items {
		if set := &l.statefulSets.Items[n]; i.madeOf(set, "MariaDB") || i.ours(set) {
			i.of(set).Set = set
		}
	}
	for n := range l.pods.Items {
		switch pod := &l.pods.Items[n]; {
		case !ofDatabase(pod):
		case i.madeOf(pod, "StatefulSet"):
			i.of(pod).Pod = pod
		case i.adopted(pod):
			i.strangers = append(i.strangers, pod.Name)
		default:
			i.sort(pod)
		}
	}
}

// adopted says whether the StatefulSet of an instance has taken over a Pod that was there before it.
func (i *instances) adopted(pod *corev1.Pod) bool {
	one := i.found[number(pod, v1alpha1.LabelInstance)]
	return one != nil && one.Set != nil && metav1.IsControlledBy(pod, one.Set) && isOlder(pod, one.Set)
}

func ofDataCopy(object client.Object) bool {
	return object.GetLabels()[v1alpha1.LabelComponent] == v1alpha1.ComponentDataCopy
}

// dataCopies says whether there are copies of an owner's data that are not being deleted yet, among claims. What stands in the
// way is noted by the ownership.
func dataCopies(o *ownership, claims []corev1.PersistentVolumeClaim) bool {
	found := false
	for n := range claims {
		claim := &claims[n]
		found = ofDataCopy(claim) && o.ours(claim) && claim.DeletionTimestamp == nil || found
	}
	return found
}

func ofDatabase(object client.Object) bool {
	return object.GetLabels()[v1alpha1.LabelComponent] == v1alpha1.ComponentDatabase
}

// madeOf says whether an object was made of an object of that kind that stands for an instance of this owner: of the very one,
// unless that is gone already.
func (i *instances) madeOf(object client.Object, kind string) bool {
	n := number(object, v1alpha1.LabelInstance)
	controller := metav1.GetControllerOf(object)
	if !i.owner.isLabelled(object) || controller == nil || controller.Kind != kind ||
		controller.Name != plan.InstanceName(i.owner.BenchmarkRun, n) {
		return false
	}
	switch one := i.found[n]; {
	case one != nil && kind == "MariaDB" && one.MariaDB != nil:
		return madeOf(object, one.MariaDB)
	case one != nil && kind != "MariaDB" && one.Set != nil:
		return madeOf(object, one.Set)
	}
	return i.dangles(object)
}

// other part of an instance that neither runs nor holds data.
func (i *instances) other(object client.Object) {
	one := i.part(object)
	one.Others = one.Others || object.GetDeletionTimestamp() == nil
}

func (i *instances) part(object client.Object) *lifecycle.Instance {
	n := number(object, v1alpha1.LabelInstance)
	i.parts[n] = append(i.parts[n], object)
	return i.of(object)
}

func (i *instances) of(object client.Object) *lifecycle.Instance {
	n := number(object, v1alpha1.LabelInstance)
	if i.found[n] == nil {
		i.found[n] = &lifecycle.Instance{Number: n, Provisioner: i.provisioner}
	}
	return i.found[n]
}

// number in a label that Benchrun wrote, or 0 if it was changed since.
func number(object client.Object, label string) int {
	n, err := strconv.Atoi(object.GetLabels()[label])
	if err != nil {
		return 0
	}
	return n
}

// removeInstance deletes the objects of a database instance that the owner controls. The MariaDB operator deletes its StatefulSet
// with the MariaDB resource, and Kubernetes the volume with that.
func (w *writer) removeInstance(ctx context.Context, provisioner v1alpha1.Provisioner, instance int) error {
	lists := []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{},
		&metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}},
		&policyv1.PodDisruptionBudgetList{},
	}
	if provisioner == v1alpha1.ProvisionerMariaDBOperator {
		lists[0] = database.MariaDBList()
	}
	for _, list := range lists {
		if err := w.removeOfInstance(ctx, instance, list); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) removeOfInstance(ctx context.Context, instance int, list client.ObjectList) error {
	return w.removeLabelled(ctx, fmt.Sprintf("objects of database instance %d", instance), list, client.MatchingLabels{
		v1alpha1.LabelComponent: v1alpha1.ComponentDatabase, v1alpha1.LabelInstance: strconv.Itoa(instance),
	})
}

// removeLabelled deletes the run's objects of one kind that have these labels. It asks the API server for them, because the cache
// may be behind.
func (w *writer) removeLabelled(ctx context.Context, what string, list client.ObjectList, labels client.MatchingLabels) error {
	labels[v1alpha1.LabelRunUID] = string(w.owner.GetUID())
	err := w.Live.List(ctx, list, client.InNamespace(w.owner.GetNamespace()), labels)
	if err != nil && !apimeta.IsNoMatchError(err) {
		return fmt.Errorf("listing the %s: %w", what, err)
	}
	return apimeta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object) // as in every list
		if !metav1.IsControlledBy(object, w.owner) {
			return nil
		}
		return w.remove(ctx, object)
	})
}
