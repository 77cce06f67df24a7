// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// observer sorts the objects of a run from the lists that were read.
type observer struct {
	*ownership
	run  *v1alpha1.BenchmarkRun
	seen lifecycle.Observed
	// kept are the names of the ConfigMaps with the run's records and results, and attempts how many have a record among them.
	kept     sets.Set[string]
	attempts int
}

// observe reads everything that a decision depends on, by a reader: the cache, or the API server itself.
func (r *BenchmarkRunReconciler) observe(
	ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader,
) (*lifecycle.Observed, error) {
	own, err := listOf(ctx, reader, r.Live, run.Namespace, runOwner(run).byName(), r.withMariaDBs(run))
	if err != nil {
		return nil, err
	}
	o := &observer{ownership: &ownership{owner: runOwner(run)}, run: run, kept: sets.New[string]()}
	m := r.memories.of(run)
	o.seen.Made = m.over(run.Status.MadeObjects)
	o.seen.Instances = instancesOf(o.ownership, run.Spec.Database.Provisioner, own, &m.made, o.seen.Made.Servers)
	o.seen.DataCopies = dataCopies(o.ownership, own.claims.Items)
	o.jobs(own)
	r.readDeliveries(run, o.seen.Attempts)
	o.configMaps(own.configs.Items)
	o.seen.Predecessor, o.seen.Strangers = o.predecessor, o.strangers
	if o.seen.Lane, err = r.lanes().observe(ctx, lifecycle.ContenderOf(run), reader); err != nil {
		return nil, err
	}
	if lifecycle.TunesHost(run) {
		// From the API server: of a Lease that the cache does not have yet, a run would say that it was deleted.
		if o.seen.TunedNodes, err = tunedNodes(ctx, r.Live, r.HostNamespace, nil); err != nil {
			return nil, err
		}
	}
	if run.DeletionTimestamp != nil {
		// What it has recorded is no longer of interest, and may be deleted already. Its objects may have lost their references.
		o.seen.Orphaned, err = r.lanes().loads(ctx, reader, lifecycle.HolderOf(run), r.withMariaDBs(run), true)
		return &o.seen, err
	}
	o.seen.Images = lifecycle.ImagesOf(run.Status.Images, r.Images)
	if err := r.readResults(ctx, o); err != nil {
		return nil, err
	}
	if err := r.retained(ctx, o); err != nil {
		return nil, err
	}
	if err := r.variables(ctx, run, o.seen.Records); err != nil {
		return nil, err
	}
	o.seen.Checked, o.seen.Compared, o.seen.Variables = m.checked, m.compared, m.variables
	o.seen.Judge(run)
	r.readWarnings(ctx, m, run.Namespace, &o.seen)
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
		o.seen.Terminal, o.seen.Unreadable = recordsChanged(changed.message), true
		return nil
	case err != nil:
		return err
	}
	lost, err := r.lostRecord(ctx, o.run, c, o.kept)
	if err != nil {
		return err
	}
	if lost != nil {
		o.seen.Terminal = lost
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

func (o *observer) jobs(own *listed) {
	jobs, pods := own.jobs.Items, own.pods.Items
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
			if madeOf(&pod, job) {
				a.Pods = append(a.Pods, pod)
			}
		}
		if string(job.UID) == o.seen.Made.Attempt.UID {
			o.seen.Attempts = append(o.seen.Attempts, a)
		} else {
			o.seen.Unclaimed = append(o.seen.Unclaimed, a)
		}
	}
	for _, pod := range pods {
		if !ofDatabase(&pod) {
			o.sort(&pod)
		}
		if o.lingers(&pod, own.descent) {
			o.seen.Lingering = append(o.seen.Lingering, pod)
		}
	}
}

// readDeliveries adds what loaders that run have delivered. A loader that starts programs delivers when it has ended.
func (r *BenchmarkRunReconciler) readDeliveries(run *v1alpha1.BenchmarkRun, attempts []lifecycle.Attempt) {
	var loader *corev1.Pod
	for i := range attempts {
		a := &attempts[i]
		if loader = trial.Delivers(a.Job, a.Pods); loader != nil && !trial.StartsPrograms(run) {
			a.Delivery = r.followers.delivered(client.ObjectKeyFromObject(run), loader)
			return
		}
	}
	r.followers.delivered(client.ObjectKeyFromObject(run), nil)
}

// lingers says whether a Pod is one of a loader whose Job is gone.
func (o *observer) lingers(pod *corev1.Pod, descent *descent) bool {
	controller := metav1.GetControllerOf(pod)
	return o.owner.isLabelled(pod) && controller != nil && controller.Kind == "Job" && o.wanted(controller.Name) &&
		descent.dangles(pod)
}

// configMaps sorts ConfigMaps by their metadata. Whether one holds a record, only the chain of records says.
func (o *observer) configMaps(configs []metav1.PartialObjectMetadata) {
	retained := o.run.Spec.Results.Retention == v1alpha1.RetentionRetain
	earlier := o.run.Status.Results.FromRun // whose results these are, if they are not the run's own
	for i := range configs {
		cm := &configs[i]
		if ofDatabase(cm) {
			continue
		}
		ours := o.ours(cm)
		component := cm.Labels[v1alpha1.LabelComponent]
		switch {
		case component != v1alpha1.ComponentAttempt && component != v1alpha1.ComponentResults:
		case ours || retained && (o.owner.isLabelled(cm) || earlier != "" && cm.Labels[v1alpha1.LabelRunUID] == earlier):
			o.kept.Insert(cm.Name)
			if plan.AttemptName(o.run, number(cm, v1alpha1.LabelTrial), number(cm, v1alpha1.LabelAttempt)) == cm.Name {
				o.attempts++
			}
		}
	}
}
