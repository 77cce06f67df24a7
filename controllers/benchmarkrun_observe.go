// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

type observer struct {
	*ownership
	run  *v1alpha1.BenchmarkRun
	seen lifecycle.Observed
	// kept are the names of the ConfigMaps with the run's records and results, and attempts how many have a record among them.
	kept     sets.Set[string]
	attempts int
}

// observe reads everything that a decision depends on, by a reader: the cache, or the API server itself.
func (r *RunReconciler) observe(
	ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader,
) (*lifecycle.Observed, error) {
	own, err := r.list(ctx, run, reader)
	if err != nil {
		return nil, err
	}
	o := &observer{ownership: &ownership{owner: owner{run}}, run: run, kept: sets.New[string]()}
	m := r.memories.of(run)
	o.seen.Made = m.over(run.Status.MadeObjects)
	o.seen.Instances = instancesOf(o.ownership, run.Spec.Database.Provisioner, own, &m.made, o.seen.Made.Servers)
	o.seen.DataCopies = dataCopies(o.ownership, own.claims.Items)
	o.jobs(own)
	r.readDeliveries(run, o.seen.Attempts)
	o.configMaps(own.configs.Items)
	o.seen.Predecessor, o.seen.Strangers = o.predecessor, o.strangers
	if o.seen.Lane, err = r.observeLane(ctx, lifecycle.ContenderOf(run), reader); err != nil {
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
		o.seen.Orphaned, err = r.loads(ctx, reader, lifecycle.HolderOf(run), r.withMariaDBs(run), true)
		return &o.seen, err
	}
	o.seen.Images = lifecycle.ImagesOf(run.Status.Images, r.Images)
	for _, read := range []func(context.Context, *observer) error{r.readResults, r.retained, r.variables} {
		if err := read(ctx, o); err != nil {
			return nil, err
		}
	}
	o.seen.Checked, o.seen.Compared, o.seen.Variables = m.checked, m.compared, m.variables
	o.seen.Judge(run)
	r.readWarnings(ctx, run.Namespace, &o.seen)
	return &o.seen, nil
}

// readResults adds the records of a run that is under way. Of a finished run only the names of its ConfigMaps are looked at.
func (r *RunReconciler) readResults(ctx context.Context, o *observer) error {
	if o.run.Status.Results.ConfigMap != "" {
		o.seen.Results = &o.run.Status.Results
	}
	if apimeta.IsStatusConditionTrue(o.run.Status.Conditions, v1alpha1.ConditionFinished) {
		r.memories.of(o.run).chain = chain{}
		o.seen.Missing = o.missing()
		return nil
	}
	c, err := r.readChain(ctx, o.run)
	switch changed, is := errors.AsType[*clusterfiles.ChangedError](err); {
	case is:
		o.seen.Terminal, o.seen.Unreadable = recordsChanged(changed.Error()), true
		return nil
	case err != nil:
		return err
	}
	if o.seen.Terminal, err = r.lostRecord(ctx, o.run, c, o.kept); err != nil {
		return err
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
		a.Instances = trial.InstancesOf(o.run, job, a.Instance)
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
func (r *RunReconciler) readDeliveries(run *v1alpha1.BenchmarkRun, attempts []lifecycle.Attempt) {
	for i := range attempts {
		a := &attempts[i]
		if loader := trial.Delivers(a.Job, a.Pods); loader != nil && !trial.StartsPrograms(run) {
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
	earlier := o.run.Status.Results.FromRun // whose results these are, if they are not the run's own
	for i := range configs {
		cm := &configs[i]
		if ofDatabase(cm) {
			continue
		}
		retained := o.owner.retains() && (o.owner.isLabelled(cm) || earlier != "" && cm.Labels[v1alpha1.LabelRunUID] == earlier)
		component := cm.Labels[v1alpha1.LabelComponent]
		if (o.ours(cm) || retained) && (component == v1alpha1.ComponentAttempt || component == v1alpha1.ComponentResults) {
			o.kept.Insert(cm.Name)
			if plan.AttemptName(o.run, number(cm, v1alpha1.LabelTrial), number(cm, v1alpha1.LabelAttempt)) == cm.Name {
				o.attempts++
			}
		}
	}
}

// neighborsAnnotation of a Job has what else was on the database's node when the Job was created: an operator that has started
// since then knows it too. Any user with "view" of the run's namespace can read it: it is sealed.
const neighborsAnnotation = "benchrun.dev/neighbors"

// neighborhood is what else is on a node at the moment; nil if that is not known: an operator that works in one namespace may
// read neither nodes nor the Pods of others. No measurement depends on it.
func (r *RunReconciler) neighborhood(ctx context.Context, run *v1alpha1.BenchmarkRun, node string) *result.Neighborhood {
	if node == "" || node == result.Unknown {
		return nil
	}
	var pods metav1.PartialObjectMetadataList // what they do is nobody's business
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	live := fields.ParseSelectorOrDie("status.phase!=Succeeded,status.phase!=Failed,spec.nodeName=" + node)
	seen := &result.Neighborhood{}
	cut, err := r.Live.Some(ctx, &pods, func(object runtime.Object) bool {
		p, is := object.(*metav1.PartialObjectMetadata)
		if is && (p.Namespace != run.Namespace || p.Labels[v1alpha1.LabelRunUID] != string(run.UID)) {
			n := result.Neighbor{ID: string(p.UID)}
			// A reader of the results may be allowed to see one namespace only, so that a Pod of another one has no name unless the
			// administrator says so.
			if p.Namespace == run.Namespace || r.NameOthers {
				n.Name = p.Namespace + "/" + p.Name
			}
			seen.Pods = append(seen.Pods, n)
		}
		return true
	}, client.MatchingFieldsSelector{Selector: live})
	var nodes corev1.NodeList
	if err == nil {
		err = r.Live.List(ctx, &nodes, client.MatchingFields{"metadata.name": node})
	}
	if err != nil {
		if !apierrors.IsForbidden(err) {
			log.FromContext(ctx).Error(err, "Looking at the database's node", "node", node)
		}
		return nil
	}
	seen.Cut = cut
	for i := range nodes.Items {
		seen.Conditions = append(seen.Conditions, disturbing(&nodes.Items[i])...)
	}
	return seen
}

// pressures are conditions that are true when something is wrong. Others, which add-ons set, may mean anything.
var pressures = []corev1.NodeConditionType{
	corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable,
}

// disturbing are the conditions of a node that Kubernetes itself sets and that disturb a measurement.
func disturbing(node *corev1.Node) []string {
	var list []string
	for _, c := range node.Status.Conditions {
		switch {
		case c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue:
			list = append(list, "NotReady")
		case slices.Contains(pressures, c.Type) && c.Status == corev1.ConditionTrue:
			list = append(list, string(c.Type))
		}
	}
	slices.Sort(list)
	return list
}

func annotateNeighbors(job *batchv1.Job, seen *result.Neighborhood) {
	if seen == nil {
		return
	}
	if text, err := json.Marshal(seen.Sealed(neighborsKey(job))); err == nil { // it has nothing that cannot be encoded
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, neighborsAnnotation, string(text))
	}
}

func neighborsBefore(job *batchv1.Job) *result.Neighborhood {
	text, noted := job.Annotations[neighborsAnnotation]
	seen := &result.Neighborhood{}
	if !noted || json.Unmarshal([]byte(text), seen) != nil {
		return nil
	}
	seen.Key = neighborsKey(job)
	return seen
}

// neighborsKey seals what is noted on a Job. It is another one for each attempt, so that a Pod cannot be followed from one to
// the next. It need not be secret: the UIDs that are sealed with it cannot be guessed.
func neighborsKey(job *batchv1.Job) string { return job.Labels[v1alpha1.LabelRunUID] + "/" + job.Name }
