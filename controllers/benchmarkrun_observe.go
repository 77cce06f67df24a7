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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// observer sorts the objects of a run from the lists that were read.
type observer struct {
	ownership
	run       *v1alpha1.BenchmarkRun
	seen      lifecycle.Observed
	instances map[int]*lifecycle.Instance
}

// observe reads everything that a decision depends on.
func (r *BenchmarkRunReconciler) observe(ctx context.Context, run *v1alpha1.BenchmarkRun) (*lifecycle.Observed, error) {
	var (
		jobs     batchv1.JobList
		pods     corev1.PodList
		configs  corev1.ConfigMapList
		sets     appsv1.StatefulSetList
		services corev1.ServiceList
		claims   corev1.PersistentVolumeClaimList
		budgets  policyv1.PodDisruptionBudgetList
		mariaDBs = database.MariaDBList()
	)
	owner := runOwner(run)
	lists := []client.ObjectList{&jobs, &pods, &configs, &sets, &services, &claims, &budgets}
	if run.Spec.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator {
		lists = append(lists, mariaDBs)
	}
	for _, list := range lists {
		err := r.reader(list).List(ctx, list, client.InNamespace(run.Namespace), owner.byName())
		if err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	o := &observer{ownership: ownership{owner: owner}, run: run, instances: map[int]*lifecycle.Instance{}}
	o.databases(sets.Items, services.Items, claims.Items, pods.Items)
	o.budgets(budgets.Items, mariaDBs.Items)
	o.attempts(jobs.Items, pods.Items)
	if err := o.configMaps(configs.Items); err != nil {
		return nil, err
	}
	for _, i := range o.instances {
		o.seen.Instances = append(o.seen.Instances, *i)
	}
	slices.SortFunc(o.seen.Instances, func(a, b lifecycle.Instance) int { return a.Number - b.Number })
	o.seen.Predecessor, o.seen.Obstacle = o.predecessor, o.obstacle
	o.seen.Judge(run.Spec.Database.Provisioner)
	r.readWarnings(ctx, run.Namespace, &o.seen)
	return &o.seen, nil
}

// reader is the cache, except for the kind of the MariaDB operator: it may not be installed, and a watch of a kind that does not
// exist would keep the operator from starting.
func (r *BenchmarkRunReconciler) reader(list client.ObjectList) client.Reader {
	if _, ok := list.(*unstructured.UnstructuredList); ok {
		return r.Live
	}
	return r.Client
}

func (o *observer) databases(
	sets []appsv1.StatefulSet, services []corev1.Service, claims []corev1.PersistentVolumeClaim, pods []corev1.Pod,
) {
	for i := range sets {
		if o.ours(&sets[i]) {
			o.instance(&sets[i]).Set = &sets[i]
		}
	}
	for i := range services {
		if o.ours(&services[i]) {
			o.instance(&services[i]).Others = true
		}
	}
	for i := range claims {
		if o.ours(&claims[i]) {
			o.instance(&claims[i]).Claim = claims[i].Name
		}
	}
	for i := range pods {
		if pods[i].Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentDatabase && o.ours(&pods[i]) {
			o.instance(&pods[i]).Pod = &pods[i]
		}
	}
}

func (o *observer) budgets(budgets []policyv1.PodDisruptionBudget, mariaDBs []unstructured.Unstructured) {
	for i := range budgets {
		if o.ours(&budgets[i]) {
			o.instance(&budgets[i]).Budget = &budgets[i]
		}
	}
	for i := range mariaDBs {
		if o.ours(&mariaDBs[i]) {
			o.instance(&mariaDBs[i]).MariaDB = &mariaDBs[i]
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

func (o *observer) attempts(jobs []batchv1.Job, pods []corev1.Pod) {
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
			if pod.Labels[batchv1.JobNameLabel] == job.Name && pod.Labels[batchv1.ControllerUidLabel] == string(job.UID) {
				a.Pods = append(a.Pods, pod)
			}
		}
		o.seen.Attempts = append(o.seen.Attempts, a)
	}
}

func (o *observer) configMaps(configs []corev1.ConfigMap) error {
	for i := range configs {
		cm := &configs[i]
		if !o.ours(cm) {
			continue
		}
		switch cm.Labels[v1alpha1.LabelComponent] {
		case v1alpha1.ComponentDatabase:
			o.instance(cm).Others = true
		case v1alpha1.ComponentAttempt:
			data, found := cm.Data[result.RecordKey]
			if !found {
				continue // another part of a large document
			}
			record, err := result.DecodeRecord(data)
			if err != nil {
				return fmt.Errorf("reading ConfigMap %s: %w", cm.Name, err)
			}
			o.seen.Records = append(o.seen.Records, record)
		case v1alpha1.ComponentResults:
			if cm.Name == plan.ResultsName(o.run) {
				o.seen.Results = &lifecycle.Published{ConfigMap: cm.Name, Digest: cm.Annotations[digestAnnotation]}
			}
		}
	}
	slices.SortFunc(o.seen.Records, func(a, b *result.Record) int {
		if c := a.Recorded.Compare(b.Recorded); c != 0 {
			return c
		}
		return (a.Trial-b.Trial)*1000 + a.Attempt - b.Attempt
	})
	return nil
}

// number in a label that Benchrun wrote, or 0 if somebody has changed it.
func number(object client.Object, label string) int {
	n, err := strconv.Atoi(object.GetLabels()[label])
	if err != nil {
		return 0
	}
	return n
}
