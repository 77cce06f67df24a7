// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

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

// ReadObjects has all runs and comparisons as the cache has them: they must not be changed.
func ReadObjects(ctx context.Context, cache client.Reader, scope Scope) (telemetry.Objects, error) {
	runs, comparisons, err := scope.owners(ctx, cache)
	return telemetry.Objects{Runs: runs, Comparisons: comparisons}, err
}
