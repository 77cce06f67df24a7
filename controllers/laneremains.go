// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// abandoned asks the API server whether a holder is gone, or has finished, and nothing is left of it that may put load on a
// node. A holder that is suspended may be resumed at any moment: only its own manager knows.
func (l *lanes) abandoned(ctx context.Context, holder lifecycle.Holder) (bool, error) {
	var (
		ended, gone bool
		err         error
	)
	switch holder.Kind {
	case lifecycle.RunKind:
		var run v1alpha1.BenchmarkRun
		ended, gone, err = l.ended(ctx, holder, &run, &run.Status.Conditions)
	case lifecycle.ComparisonKind:
		var comparison v1alpha1.BenchmarkComparison
		ended, gone, err = l.ended(ctx, holder, &comparison, &comparison.Status.Conditions)
		if ended && err == nil {
			ended, err = l.withoutRuns(ctx, holder)
		}
	}
	if err != nil || !ended {
		return false, err
	}
	remains, err := l.remains(ctx, l.live, holder, true, gone)
	if err != nil {
		return false, fmt.Errorf("looking for what %s has left: %w", holder, err)
	}
	return !remains.Disturb(nil, l.clock.Now()), nil
}

// ended says whether a holder is gone, or has finished, and whether it is gone. It reads it into an object, to which the
// conditions belong.
func (l *lanes) ended(
	ctx context.Context, holder lifecycle.Holder, object client.Object, conditions *[]metav1.Condition,
) (ended, gone bool, err error) {
	err = l.live.Get(ctx, client.ObjectKey{Namespace: holder.Namespace, Name: holder.Name}, object)
	if client.IgnoreNotFound(err) != nil {
		return false, false, fmt.Errorf("reading %s: %w", holder, err)
	}
	gone = err != nil || object.GetUID() != holder.UID
	return gone || apimeta.IsStatusConditionTrue(*conditions, v1alpha1.ConditionFinished), gone, nil
}

// withoutRuns says whether no run is left that a comparison holds its lane for: one that was admitted. Those of a comparison that
// is gone will be deleted.
func (l *lanes) withoutRuns(ctx context.Context, comparison lifecycle.Holder) (bool, error) {
	var runs v1alpha1.BenchmarkRunList
	of := client.MatchingLabels{v1alpha1.LabelComparisonUID: string(comparison.UID)}
	if err := l.live.List(ctx, &runs, client.InNamespace(comparison.Namespace), of); err != nil {
		return false, fmt.Errorf("looking for runs of %s: %w", comparison, err)
	}
	for i := range runs.Items {
		member := lifecycle.MemberOf(&runs.Items[i])
		measures := lifecycle.Wants(&runs.Items[i]) && lifecycle.Admitted(runs.Items[i].Status.Conditions)
		if member != nil && *member == comparison && measures {
			return false, nil
		}
	}
	return true, nil
}

// remains are the objects of a holder that put load on nodes, or may: those that its UID leads to, by controller references. Its
// label only selects them. Of a holder that is gone, what was orphaned counts, too. MariaDB resources are always read from the
// API server.
func (l *lanes) remains(
	ctx context.Context, reader client.Reader, holder lifecycle.Holder, withMariaDBs, gone bool,
) (*lifecycle.Remains, error) {
	o := ownerOfHolder(holder)
	label := client.MatchingLabels{o.uidLabel: string(holder.UID)}
	var (
		runs     v1alpha1.BenchmarkRunList
		pods     corev1.PodList
		jobs     batchv1.JobList
		sets     appsv1.StatefulSetList
		mariaDBs = database.MariaDBList()
	)
	// What is made of another object is read before that, so that it is not taken for one whose controller is gone.
	for _, list := range []client.ObjectList{&pods, &jobs, &sets, &runs} {
		if err := reader.List(ctx, list, client.InNamespace(holder.Namespace), label); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	if withMariaDBs {
		if err := l.live.List(ctx, mariaDBs, client.InNamespace(holder.Namespace), label); err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing MariaDB resources: %w", err)
		}
	}
	nodes, err := unsettledNodes(ctx, reader, l.hosts, label)
	if err != nil {
		return nil, err
	}
	by := &ownership{owner: o, gone: gone}
	made, err := madeBy(ctx, newDescent(l.live, holder.Namespace), by, &runs, mariaDBs, &sets, &jobs, &pods)
	if err != nil {
		return nil, err
	}
	r := &lifecycle.Remains{Tuned: nodes}
	for _, object := range made {
		switch one := object.(type) {
		case *v1alpha1.BenchmarkRun:
		case *corev1.Pod:
			r.Pods = append(r.Pods, *one)
		case *batchv1.Job:
			r.Jobs = append(r.Jobs, *one)
		default:
			if object.GetDeletionTimestamp() == nil {
				r.Servers = append(r.Servers, lifecycle.OwnerOf(object))
			}
		}
	}
	return r, nil
}

// ownerOfHolder is a holder of a lane, which may be gone, as the owner of what it has made.
func ownerOfHolder(holder lifecycle.Holder) owner {
	meta := metav1.ObjectMeta{Namespace: holder.Namespace, Name: holder.Name, UID: holder.UID}
	if holder.Kind == lifecycle.ComparisonKind {
		return comparisonOwner(&v1alpha1.BenchmarkComparison{ObjectMeta: meta})
	}
	return runOwner(&v1alpha1.BenchmarkRun{ObjectMeta: meta})
}
