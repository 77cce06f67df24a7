// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// comparisonStep is a step of a comparison.
type comparisonStep = step[*v1alpha1.BenchmarkComparison, *analysis.ComparisonPlan, *lifecycle.ComparisonObserved]

func (r *BenchmarkComparisonReconciler) base() *Base { return &r.Base }

func (r *BenchmarkComparisonReconciler) controller() string { return telemetry.ComparisonController }

func (r *BenchmarkComparisonReconciler) part(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison,
) (part, time.Duration, error) {
	return r.Installation.partIn(ctx, claimedComparison(comparison))
}

func (r *BenchmarkComparisonReconciler) decide(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, reader client.Reader,
) (*comparisonStep, error) {
	s := &comparisonStep{owner: comparison, old: comparison.DeepCopy(), now: r.Clock.Now()}
	p, invalid := validation.PlanComparison(comparison)
	s.plan = p
	seen, err := r.observe(ctx, comparison, p, reader)
	if err != nil {
		s.seen = &lifecycle.ComparisonObserved{Blockers: r.unobserved()}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	r.complete(&s.seen.Blockers, r.basicsOf(comparison), lifecycle.InvalidVariant(invalid),
		lifecycle.ComparisonTurnRefused(comparison, r.MaxTurn), lifecycle.ComparisonLaneRefused(comparison, r.Lanes))
	r.next(s)
	return s, nil
}

func (r *BenchmarkComparisonReconciler) actOn(comparison *v1alpha1.BenchmarkComparison) {
	comparison.Status.Installation = r.Installation.identity()
}

func (r *BenchmarkComparisonReconciler) next(s *comparisonStep) {
	s.decision = lifecycle.NextOfComparison(s.owner, s.plan, s.seen, s.now)
}

func (r *BenchmarkComparisonReconciler) basicsOf(comparison *v1alpha1.BenchmarkComparison) *basics {
	return &r.memories.of(comparison).basics
}

func (r *BenchmarkComparisonReconciler) forget(comparison client.ObjectKey) {
	r.memories.forget(comparison)
}

func (r *BenchmarkComparisonReconciler) lookAgain(s *comparisonStep) time.Duration {
	return lookAgain(s.decision, s.owner.Status.Conditions, s.owner.Status.Deadline, s.now)
}

func (r *BenchmarkComparisonReconciler) writeStatus(ctx context.Context, s *comparisonStep) error {
	s.owner.Status = lifecycle.StatusOfComparison(s.owner, s.plan, s.seen, s.decision, s.now)
	events := becameTrue(comparisonConditions, s.old.Status.Conditions, s.owner.Status.Conditions)
	events = append(events, becameRefused(s.old.Status.Refusal, s.owner.Status.Refusal, s.owner.Status.Conditions)...)
	events = append(events, roundDisturbed(&s.old.Status, &s.owner.Status)...)
	c := changes{events, telemetry.OfComparison(s.owner, &s.old.Status)}
	if err := r.writer(s.owner).patchStatus(ctx, s.old, c); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
