// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

// changes from one status to the next: the events to be sent, and the transitions to be counted and logged.
type changes struct {
	announcements []announcement
	transitions   []telemetry.Transition
}

// tell what changed: events, metrics and log.
func (w *writer) tell(ctx context.Context, c changes) {
	for _, a := range c.announcements {
		w.recorder.Eventf(w.owner.Object, nil, a.kind, a.reason, a.action, "%s", a.message)
	}
	w.metrics.Count(c.transitions)
	for i := range c.transitions {
		log.FromContext(ctx).Info("Transition", c.transitions[i].KeysAndValues()...)
	}
}

// tellHeadline keeps the answer of a run that has become complete.
func (r *BenchmarkRunReconciler) tellHeadline(s *runStep) {
	complete := v1alpha1.ConditionComplete
	before, now := s.old.Status.Conditions, s.owner.Status.Conditions
	if !apimeta.IsStatusConditionTrue(now, complete) || apimeta.IsStatusConditionTrue(before, complete) {
		return
	}
	r.Metrics.Headline(s.owner, func() []stats.Point {
		return analysis.Points(s.owner, s.plan, s.seen.Records)
	})
}

// ReadObjects has all runs and comparisons as the cache has them: they must not be changed.
func ReadObjects(ctx context.Context, cache client.Reader, scope Scope) (telemetry.Objects, error) {
	runs, comparisons, err := scope.owners(ctx, cache)
	return telemetry.Objects{Runs: runs, Comparisons: comparisons}, err
}
