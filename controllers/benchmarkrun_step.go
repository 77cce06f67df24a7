// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// runStep is a step of a run.
type runStep = step[*v1alpha1.BenchmarkRun, *plan.Plan, *lifecycle.Observed]

func (r *BenchmarkRunReconciler) base() *Base { return &r.Base }

func (r *BenchmarkRunReconciler) controller() string { return telemetry.RunController }

func (r *BenchmarkRunReconciler) part(ctx context.Context, run *v1alpha1.BenchmarkRun) (part, time.Duration, error) {
	return r.Installation.partInRun(ctx, r.Client, run)
}

func (r *BenchmarkRunReconciler) decide(ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader) (*runStep, error) {
	s := &runStep{owner: run, old: run.DeepCopy(), now: r.Clock.Now()}
	p, invalid := validation.PlanRun(run)
	s.plan = p
	seen, err := r.observe(ctx, run, reader)
	if err != nil {
		s.seen = &lifecycle.Observed{Blockers: r.unobserved()}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	r.complete(&s.seen.Blockers, r.basicsOf(run), lifecycle.Invalid(invalid),
		lifecycle.HostTuningRefused(run, r.HostTuningAllowed && r.HostTuningScope.Includes(run.Namespace)),
		lifecycle.MariaDBOperatorRefused(run, !r.NoMariaDBOperator), lifecycle.LoaderRefused(run, r.Images),
		lifecycle.RunTurnRefused(run, r.MaxTurn), lifecycle.RunLaneRefused(run, r.Lanes))
	r.next(s)
	return s, nil
}

func (r *BenchmarkRunReconciler) actOn(run *v1alpha1.BenchmarkRun) {
	run.Status.Installation = r.Installation.identity()
}

func (r *BenchmarkRunReconciler) next(s *runStep) {
	s.decision = lifecycle.Next(s.owner, s.plan, s.seen, s.now)
}

func (r *BenchmarkRunReconciler) basicsOf(run *v1alpha1.BenchmarkRun) *basics {
	return &r.memories.of(run).basics
}

func (r *BenchmarkRunReconciler) forget(run client.ObjectKey) {
	r.memories.forget(run)
	r.followers.delivered(run, nil)
}

func (r *BenchmarkRunReconciler) lookAgain(s *runStep) time.Duration {
	return lookAgain(s.decision, s.owner.Status.Conditions, s.owner.Status.Deadline, s.now)
}

func (r *BenchmarkRunReconciler) writeStatus(ctx context.Context, s *runStep) error {
	s.owner.Status = lifecycle.Status(s.owner, s.plan, s.seen, s.decision, s.now)
	c := changes{
		announcements(&s.old.Status, &s.owner.Status, s.seen), telemetry.OfRun(s.owner, &s.old.Status, s.seen.Records),
	}
	if err := r.writer(s.owner).patchStatus(ctx, s.old, c); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
