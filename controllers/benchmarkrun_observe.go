// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// observer sorts the objects of a run from the lists that were read.
type observer struct {
	ownership
	run       *v1alpha1.BenchmarkRun
	seen      lifecycle.Observed
	instances map[int]*lifecycle.Instance
	// kept are the names of the ConfigMaps with the run's records and results, and attempts how many have a record among them.
	kept     sets.Set[string]
	attempts int
}

// observe reads everything that a decision depends on, by a reader: the cache, or the API server itself.
func (r *BenchmarkRunReconciler) observe(
	ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader,
) (*lifecycle.Observed, error) {
	var (
		jobs         batchv1.JobList
		pods         corev1.PodList
		configs      metav1.PartialObjectMetadataList
		statefulSets appsv1.StatefulSetList
		services     corev1.ServiceList
		claims       corev1.PersistentVolumeClaimList
		budgets      policyv1.PodDisruptionBudgetList
		mariaDBs     = database.MariaDBList()
	)
	configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	owner := runOwner(run)
	lists := []client.ObjectList{&jobs, &pods, &configs, &statefulSets, &services, &claims, &budgets}
	if run.Spec.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator {
		lists = append(lists, mariaDBs)
	}
	var err error
	for _, list := range lists {
		err = r.reader(list, reader).List(ctx, list, client.InNamespace(run.Namespace), owner.byName())
		if err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	o := &observer{
		ownership: ownership{owner: owner}, run: run, instances: map[int]*lifecycle.Instance{}, kept: sets.New[string](),
	}
	o.databases(mariaDBs.Items, statefulSets.Items, services.Items, claims.Items, pods.Items)
	o.budgets(budgets.Items)
	o.jobs(jobs.Items, pods.Items)
	o.configMaps(configs.Items)
	for _, i := range o.instances {
		o.seen.Instances = append(o.seen.Instances, *i)
	}
	slices.SortFunc(o.seen.Instances, func(a, b lifecycle.Instance) int { return a.Number - b.Number })
	o.seen.Predecessor, o.seen.Obstacle = o.predecessor, o.obstacle
	if o.seen.Lane, err = r.lanes().observe(ctx, lifecycle.ContenderOf(run), reader); err != nil {
		return nil, err
	}
	if o.seen.Earlier, err = r.earlier(ctx, run); err != nil {
		return nil, err
	}
	if err := r.readResults(ctx, o); err != nil {
		return nil, err
	}
	o.seen.Judge(&run.Spec)
	r.readWarnings(ctx, run.Namespace, &o.seen)
	return &o.seen, nil
}

// readResults adds the records of a run that is under way. Of a finished run only the names of its ConfigMaps are looked at.
func (r *BenchmarkRunReconciler) readResults(ctx context.Context, o *observer) error {
	if o.run.Status.Results.ConfigMap != "" {
		o.seen.Results = &o.run.Status.Results
	}
	if apimeta.IsStatusConditionTrue(o.run.Status.Conditions, v1alpha1.ConditionFinished) {
		r.memories.of(o.run).chain = chain{}
		o.seen.Missing = o.missing()
		return nil
	}
	c, err := r.readChain(ctx, o.run)
	changed := new(changedError)
	switch {
	case errors.As(err, &changed):
		o.seen.Obstacle, o.seen.Unreadable = recordsChanged(changed.message), true
		return nil
	case err != nil:
		return err
	}
	lost, err := r.lostRecord(ctx, o.run, c, o.kept)
	if err != nil {
		return err
	}
	if lost != nil {
		o.seen.Obstacle = lost
	}
	o.seen.Records, o.seen.Newest = c.records, c.newest()
	return nil
}

// missing says which ConfigMaps of a finished run are gone, or is empty.
func (o *observer) missing() string {
	status := &o.run.Status
	if name := status.Results.ConfigMap; name != "" && !o.kept.Has(name) {
		return "ConfigMap " + name + " with the results was deleted"
	}
	recorded := ptr.Deref(status.Trials.Measured, 0) + ptr.Deref(status.Trials.Invalidated, 0) + ptr.Deref(status.Trials.Failed, 0)
	if gone := int(recorded) - o.attempts; gone > 0 {
		return fmt.Sprintf("ConfigMaps with records of attempts were deleted: %d of %d", gone, recorded)
	}
	return ""
}

// reader reads a list by the usual reader, except for the kind of the MariaDB operator: it may not be installed, and a watch of a
// kind that does not exist would keep the operator from starting.
func (r *BenchmarkRunReconciler) reader(list client.ObjectList, usual client.Reader) client.Reader {
	if _, ok := list.(*unstructured.UnstructuredList); ok {
		return r.Live
	}
	return usual
}

// databases sorts what belongs to database instances, from the objects that the run controls to those that Kubernetes or the
// MariaDB operator made of them.
func (o *observer) databases(
	mariaDBs []unstructured.Unstructured, statefulSets []appsv1.StatefulSet, services []corev1.Service,
	claims []corev1.PersistentVolumeClaim, pods []corev1.Pod,
) {
	for i := range mariaDBs {
		if o.ours(&mariaDBs[i]) {
			o.instance(&mariaDBs[i]).MariaDB = &mariaDBs[i]
		}
	}
	for i := range statefulSets {
		if o.madeOf(&statefulSets[i], "MariaDB") || o.ours(&statefulSets[i]) {
			o.instance(&statefulSets[i]).Set = &statefulSets[i]
		}
	}
	for i := range services {
		if o.ours(&services[i]) {
			o.instance(&services[i]).Others = true
		}
	}
	for i := range claims {
		if o.ours(&claims[i]) || o.owner.isLabelled(&claims[i]) && o.wanted(claims[i].Name) {
			o.instance(&claims[i]).Claim = claims[i].Name
		}
	}
	for i := range pods {
		if pods[i].Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentDatabase && o.madeOf(&pods[i], "StatefulSet") {
			o.instance(&pods[i]).Pod = &pods[i]
		} else {
			o.sort(&pods[i])
		}
	}
}

// madeOf says whether an object was made of an object of that kind that stands for an instance of this run: of the very one,
// unless that is gone already.
func (o *observer) madeOf(object client.Object, kind string) bool {
	n := number(object, v1alpha1.LabelInstance)
	controller := metav1.GetControllerOf(object)
	if !o.owner.isLabelled(object) || controller == nil {
		return false
	}
	if controller.Kind != kind || controller.Name != plan.InstanceName(o.run, n) {
		return false
	}
	switch i := o.instances[n]; {
	case i == nil:
		return true
	case kind == "MariaDB":
		return i.MariaDB == nil || i.MariaDB.GetUID() == controller.UID
	default:
		return i.Set == nil || i.Set.UID == controller.UID
	}
}

func (o *observer) budgets(budgets []policyv1.PodDisruptionBudget) {
	for i := range budgets {
		if o.ours(&budgets[i]) {
			o.instance(&budgets[i]).Budget = &budgets[i]
		}
	}
}

// instance is the database instance that an object belongs to, according to its label.
func (o *observer) instance(object client.Object) *lifecycle.Instance {
	n := number(object, v1alpha1.LabelInstance)
	if o.instances[n] == nil {
		o.instances[n] = &lifecycle.Instance{Number: n, Provisioner: o.run.Spec.Database.Provisioner}
	}
	return o.instances[n]
}

func (o *observer) jobs(jobs []batchv1.Job, pods []corev1.Pod) {
	for i := range jobs {
		job := &jobs[i]
		if !o.ours(job) {
			continue
		}
		a := lifecycle.Attempt{
			Trial: number(job, v1alpha1.LabelTrial), Number: number(job, v1alpha1.LabelAttempt),
			Instance: number(job, v1alpha1.LabelInstance), Job: job,
		}
		for _, pod := range pods {
			if metav1.IsControlledBy(&pod, job) {
				a.Pods = append(a.Pods, pod)
			}
		}
		o.seen.Attempts = append(o.seen.Attempts, a)
	}
	for _, pod := range pods {
		if o.lingers(&pod, jobs) {
			o.seen.Lingering = append(o.seen.Lingering, pod)
		}
	}
}

// lingers says whether a Pod is one of a loader whose Job is gone.
func (o *observer) lingers(pod *corev1.Pod, jobs []batchv1.Job) bool {
	controller := metav1.GetControllerOf(pod)
	if !o.owner.isLabelled(pod) || controller == nil || controller.Kind != "Job" || !o.wanted(controller.Name) {
		return false
	}
	return !slices.ContainsFunc(jobs, func(job batchv1.Job) bool { return job.UID == controller.UID })
}

// configMaps sorts ConfigMaps by their metadata. Whether one holds a record, only the chain of records says.
func (o *observer) configMaps(configs []metav1.PartialObjectMetadata) {
	retained := o.run.Spec.Results.Retention == v1alpha1.RetentionRetain
	for i := range configs {
		cm := &configs[i]
		ours := o.ours(cm)
		component := cm.Labels[v1alpha1.LabelComponent]
		switch {
		case component == v1alpha1.ComponentDatabase && ours:
			o.instance(cm).Others = true
		case component != v1alpha1.ComponentAttempt && component != v1alpha1.ComponentResults:
		case ours || retained && o.owner.isLabelled(cm):
			o.kept.Insert(cm.Name)
			if plan.AttemptName(o.run, number(cm, v1alpha1.LabelTrial), number(cm, v1alpha1.LabelAttempt)) == cm.Name {
				o.attempts++
			}
		}
	}
}

// number in a label that Benchrun wrote, or 0 if somebody has changed it.
func number(object client.Object, label string) int {
	n, err := strconv.Atoi(object.GetLabels()[label])
	if err != nil {
		return 0
	}
	return n
}
