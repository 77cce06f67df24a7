// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// abandoned asks the API server whether a holder is gone, or has finished, and nothing is left of it that may put load on a
// node. A holder that is suspended may be resumed at any moment: only its own manager knows.
func (l *lanes) abandoned(ctx context.Context, holder lifecycle.Holder) (bool, error) {
	var (
		gone  bool
		err   error
		label = v1alpha1.LabelRunUID
	)
	switch holder.Kind {
	case lifecycle.RunKind:
		var run v1alpha1.BenchmarkRun
		gone, err = l.ended(ctx, holder, &run, &run.Status.Conditions)
	case lifecycle.SuiteKind:
		var suite v1alpha1.BenchmarkSuite
		gone, err = l.ended(ctx, holder, &suite, &suite.Status.Conditions)
		if gone && err == nil {
			gone, err = l.withoutRuns(ctx, holder)
		}
		label = v1alpha1.LabelSuiteUID
	}
	if err != nil || !gone {
		return false, err
	}
	remains, err := l.remains(ctx, l.live, holder.Namespace, client.MatchingLabels{label: string(holder.UID)}, true)
	if err != nil {
		return false, fmt.Errorf("looking for what %s has left: %w", holder, err)
	}
	return !remains.Disturb(nil, l.clock.Now()), nil
}

// ended says whether a holder is gone, or has finished. It reads it into an object, to which the conditions belong.
func (l *lanes) ended(
	ctx context.Context, holder lifecycle.Holder, object client.Object, conditions *[]metav1.Condition,
) (bool, error) {
	err := l.live.Get(ctx, client.ObjectKey{Namespace: holder.Namespace, Name: holder.Name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("reading %s: %w", holder, err)
	}
	return object.GetUID() != holder.UID || apimeta.IsStatusConditionTrue(*conditions, v1alpha1.ConditionFinished), nil
}

// withoutRuns says whether no run is left that a suite holds its lane for. Those of a suite that is gone will be deleted.
func (l *lanes) withoutRuns(ctx context.Context, suite lifecycle.Holder) (bool, error) {
	var runs v1alpha1.BenchmarkRunList
	of := client.MatchingLabels{v1alpha1.LabelSuiteUID: string(suite.UID)}
	if err := l.live.List(ctx, &runs, client.InNamespace(suite.Namespace), of); err != nil {
		return false, fmt.Errorf("looking for runs of %s: %w", suite, err)
	}
	for i := range runs.Items {
		member := lifecycle.MemberOf(&runs.Items[i])
		if member != nil && *member == suite && lifecycle.Wants(&runs.Items[i]) {
			return false, nil
		}
	}
	return true, nil
}

// remains are the objects with a label that put load on nodes, or may. MariaDB resources are always read from the API server.
func (l *lanes) remains(
	ctx context.Context, reader client.Reader, namespace string, label client.MatchingLabels, withMariaDBs bool,
) (*lifecycle.Remains, error) {
	var (
		pods     corev1.PodList
		jobs     batchv1.JobList
		sets     appsv1.StatefulSetList
		mariaDBs = database.MariaDBList()
	)
	for _, list := range []client.ObjectList{&pods, &jobs, &sets} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), label); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	if withMariaDBs {
		if err := l.live.List(ctx, mariaDBs, client.InNamespace(namespace), label); err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing MariaDB resources: %w", err)
		}
	}
	nodes, err := unsettledNodes(ctx, reader, l.hosts, label)
	if err != nil {
		return nil, err
	}
	r := &lifecycle.Remains{Pods: pods.Items, Jobs: jobs.Items, Tuned: nodes}
	for _, list := range []client.ObjectList{&sets, mariaDBs} {
		err := apimeta.EachListItem(list, func(item runtime.Object) error {
			object, err := apimeta.Accessor(item)
			if err == nil && object.GetDeletionTimestamp() == nil {
				r.Servers = append(r.Servers, lifecycle.OwnerOf(object))
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("sorting %T: %w", list, err)
		}
	}
	return r, nil
}
