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

// suiteStep is a step of a suite.
type suiteStep = step[*v1alpha1.BenchmarkSuite, *analysis.SuitePlan, *lifecycle.SuiteObserved]

// step of a suite. It returns when to look again if nothing happens before.
func (r *BenchmarkSuiteReconciler) step(ctx context.Context, suite *v1alpha1.BenchmarkSuite, is part) (time.Duration, error) {
	s, err := takeStep(ctx, r, is, suite, new(v1alpha1.BenchmarkSuite), r.Client, r.Live)
	if s == nil {
		return 0, err
	}
	return lookAgain(s.decision, s.owner.Status.Conditions, s.owner.Status.Deadline, s.now), err
}

func (r *BenchmarkSuiteReconciler) decide(
	ctx context.Context, suite *v1alpha1.BenchmarkSuite, reader client.Reader,
) (*suiteStep, error) {
	s := &suiteStep{owner: suite, old: suite.DeepCopy(), now: r.Clock.Now()}
	p, invalid := validation.PlanSuite(suite)
	s.plan = p
	seen, err := r.observe(ctx, suite, p, reader)
	if err != nil {
		s.seen = &lifecycle.SuiteObserved{Hindrances: lifecycle.Hindrances{Blind: true, MaxTurn: r.MaxTurn, DefaultTTL: r.DefaultTTL}}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	if invalid != nil {
		s.seen.Obstacle = lifecycle.InvalidVariant(invalid)
	} else if long := lifecycle.SuiteTurnRefused(suite, r.MaxTurn); long != nil {
		s.seen.Obstacle = long
	}
	s.seen.MaxTurn, s.seen.DefaultTTL = r.MaxTurn, r.DefaultTTL
	s.seen.Trouble, s.seen.Unwritten = r.basicsOf(suite).told()
	r.next(s)
	return s, nil
}

func (r *BenchmarkSuiteReconciler) actOn(suite *v1alpha1.BenchmarkSuite) {
	suite.Status.Installation = r.Installation.identity()
}

func (r *BenchmarkSuiteReconciler) next(s *suiteStep) {
	s.decision = lifecycle.NextOfSuite(s.owner, s.plan, s.seen, s.now)
}

func (r *BenchmarkSuiteReconciler) basicsOf(suite *v1alpha1.BenchmarkSuite) *basics {
	return &r.memories.of(suite).basics
}

func (r *BenchmarkSuiteReconciler) forget(suite *v1alpha1.BenchmarkSuite) {
	r.memories.forget(client.ObjectKeyFromObject(suite))
}

func (r *BenchmarkSuiteReconciler) writeStatus(ctx context.Context, s *suiteStep) error {
	s.owner.Status = lifecycle.StatusOfSuite(s.owner, s.plan, s.seen, s.decision, s.now)
	events := becameTrue(suiteConditions, s.old.Status.Conditions, s.owner.Status.Conditions)
	events = append(events, becameRefused(s.old.Status.Refusal, s.owner.Status.Refusal, s.owner.Status.Conditions)...)
	c := changes{events, telemetry.OfSuite(s.owner, &s.old.Status)}
	if err := r.writer(s.owner).patchStatus(ctx, s.old, c); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
