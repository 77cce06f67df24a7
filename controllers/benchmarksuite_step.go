// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// suiteStep is a decision about a suite and what it was made of.
type suiteStep struct {
	suite *v1alpha1.BenchmarkSuite
	// old is the suite as it was read.
	old      *v1alpha1.BenchmarkSuite
	plan     *lifecycle.SuitePlan
	seen     *lifecycle.SuiteObserved
	decision lifecycle.Decision
	now      time.Time
}

// step observes, decides, acts, and writes the status, as that of a run does.
func (r *BenchmarkSuiteReconciler) step(ctx context.Context, suite *v1alpha1.BenchmarkSuite) (time.Duration, error) {
	s, err := r.decide(ctx, suite, r.Client)
	if err == nil && s.decision.Irrevocable() {
		var live v1alpha1.BenchmarkSuite
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(suite), &live); err != nil {
			return 0, client.IgnoreNotFound(err)
		}
		if live.UID != suite.UID {
			return 0, errStale
		}
		s, err = r.decide(ctx, &live, r.Live)
	}
	if err == nil {
		err = r.carryOut(ctx, s)
	}
	switch {
	case isStale(err):
		return 0, err
	case err != nil && !r.inTrouble(s, err):
		return 0, err
	}
	if err := r.writeStatus(ctx, s); err != nil {
		return 0, err
	}
	status := &s.suite.Status
	return lookAgain(s.decision, status.Conditions, status.Deadline, s.now), err
}

// decide what to do with a suite that was read by the same reader. If its runs cannot be read, the step is blind.
func (r *BenchmarkSuiteReconciler) decide(
	ctx context.Context, suite *v1alpha1.BenchmarkSuite, reader client.Reader,
) (*suiteStep, error) {
	s := &suiteStep{suite: suite, old: suite.DeepCopy(), now: r.Clock.Now()}
	p, invalid := lifecycle.PlanSuite(suite)
	s.plan = p
	seen, err := r.observe(ctx, suite, p, reader)
	if err != nil {
		s.seen = &lifecycle.SuiteObserved{Blind: true}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	if invalid != nil {
		s.seen.Obstacle = lifecycle.InvalidVariant(invalid)
	}
	s.seen.Trouble, s.seen.Unwritten = r.memories.of(suite).told()
	s.next()
	return s, nil
}

// next decides, after something new was seen.
func (s *suiteStep) next() { s.decision = lifecycle.NextOfSuite(s.suite, s.plan, s.seen, s.now) }

// carryOut the decision. An obstacle becomes a new decision. What was written becomes a part of what was seen, so that the status
// tells of it at once. Checking writes nothing: the next decision follows, on live reads if it cannot be taken back.
func (r *BenchmarkSuiteReconciler) carryOut(ctx context.Context, s *suiteStep) error {
	action := s.decision.Action
	if _, remove := action.(lifecycle.RemoveDatabase); remove {
		// As with a run: its number must never be used again.
		if err := r.writeStatus(ctx, s); err != nil {
			return err
		}
		s.old = s.suite.DeepCopy()
	}
	err := r.act(ctx, s, action)
	obstacle, unwritten := new(obstacleError), new(unwrittenError)
	switch {
	case errors.As(err, &obstacle) && !errors.As(err, &unwritten):
		s.seen.Obstacle = &obstacle.failure
		s.next()
		return nil
	case err != nil:
		return fmt.Errorf("acting: %w", err)
	}
	switch action.(type) {
	case lifecycle.CheckVariants:
		return errStale
	case lifecycle.TakeLane, lifecycle.PublishSuite:
		s.next()
		s.decision.Action = lifecycle.Wait{}
	}
	return nil
}

// inTrouble notes a step that failed, and says whether the status is to tell of it: not before the same step has failed several
// times.
func (r *BenchmarkSuiteReconciler) inTrouble(s *suiteStep, err error) bool {
	m := r.memories.of(s.suite)
	m.fail(err)
	s.seen.Trouble, s.seen.Unwritten = m.told()
	if s.seen.Trouble == "" {
		return false
	}
	s.next()
	s.decision.Action = lifecycle.Wait{}
	return true
}

// writeStatus writes the status that follows from a step, and announces what changed.
func (r *BenchmarkSuiteReconciler) writeStatus(ctx context.Context, s *suiteStep) error {
	s.suite.Status = lifecycle.StatusOfSuite(s.suite, s.plan, s.seen, s.decision, s.now)
	changed := becameTrue(suiteConditions, s.old.Status.Conditions, s.suite.Status.Conditions)
	if err := r.writer(s.suite).patchStatus(ctx, s.old, changed); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
