// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// neighborsAnnotation of a Job has what else was on the database's node when the Job was created: an operator that has started
// since then knows it too. Any user with "view" of the run's namespace can read it: it is sealed.
const neighborsAnnotation = "benchrun.dev/neighbors"

// neighborhood is what else is on a node at the moment; nil if that is not known: an operator that works in one namespace may
// read neither nodes nor the Pods of others. No measurement depends on it.
func (r *BenchmarkRunReconciler) neighborhood(ctx context.Context, run *v1alpha1.BenchmarkRun, node string) *result.Neighborhood {
	if node == "" || node == result.Unknown {
		return nil
	}
	seen, err := r.look(ctx, run, node)
	if err != nil {
		if !apierrors.IsForbidden(err) {
			log.FromContext(ctx).Error(err, "Looking at the database's node", "node", node)
		}
		return nil
	}
	return seen
}

func (r *BenchmarkRunReconciler) look(
	ctx context.Context, run *v1alpha1.BenchmarkRun, node string,
) (*result.Neighborhood, error) {
	var pods metav1.PartialObjectMetadataList // what they do is nobody's business
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	live := fields.ParseSelectorOrDie("status.phase!=Succeeded,status.phase!=Failed,spec.nodeName=" + node)
	seen := &result.Neighborhood{}
	cut, err := r.Live.Some(ctx, &pods, func(object runtime.Object) bool {
		if p, is := object.(*metav1.PartialObjectMetadata); is && !belongs(p, run) {
			seen.Pods = append(seen.Pods, r.neighbor(p, run.Namespace))
		}
		return true
	}, client.MatchingFieldsSelector{Selector: live})
	if err != nil {
		return nil, err
	}
	seen.Cut = cut
	var nodes corev1.NodeList
	if err := r.Live.List(ctx, &nodes, client.MatchingFields{"metadata.name": node}); err != nil {
		return nil, err
	}
	for i := range nodes.Items {
		seen.Conditions = append(seen.Conditions, disturbing(&nodes.Items[i])...)
	}
	return seen, nil
}

// neighbor is what may be noted of a Pod: a reader of the results may be allowed to see one namespace only, so that a Pod of
// another one has no name unless the administrator says so.
func (r *BenchmarkRunReconciler) neighbor(pod *metav1.PartialObjectMetadata, namespace string) result.Neighbor {
	n := result.Neighbor{ID: string(pod.UID)}
	if pod.Namespace == namespace || r.NameOthers {
		n.Name = pod.Namespace + "/" + pod.Name
	}
	return n
}

// belongs says whether a Pod is one of the run's own. Anybody may give a Pod in another namespace its
// labels.
func belongs(pod client.Object, run *v1alpha1.BenchmarkRun) bool {
	return pod.GetNamespace() == run.Namespace && pod.GetLabels()[v1alpha1.LabelRunUID] == string(run.UID)
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

// annotateNeighbors notes on a Job that is to be created what else is on the database's node.
func annotateNeighbors(job *batchv1.Job, seen *result.Neighborhood) {
	if seen == nil {
		return
	}
	if text, err := json.Marshal(seen.Sealed(neighborsKey(job))); err == nil { // it has nothing that cannot be encoded
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, neighborsAnnotation, string(text))
	}
}

// neighborsBefore is what annotateNeighbors has noted; nil if that is nothing.
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
