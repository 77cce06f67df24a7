// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// step is a decision and what it was made of.
type step struct {
	run *v1alpha1.BenchmarkRun
	// old is the run as it was read.
	old      *v1alpha1.BenchmarkRun
	plan     *plan.Plan
	seen     *lifecycle.Observed
	decision lifecycle.Decision
	now      time.Time
}

// step observes, decides, acts, and writes the status. It returns when to look again if nothing happens before.
func (r *BenchmarkRunReconciler) step(ctx context.Context, run *v1alpha1.BenchmarkRun) (time.Duration, error) {
	s, err := r.decide(ctx, run, r.Client)
	if err == nil && s.decision.Irrevocable() {
		var live v1alpha1.BenchmarkRun
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), &live); err != nil {
			return 0, client.IgnoreNotFound(err)
		}
		if live.UID != run.UID {
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
	return lookAgain(s.decision, s.run.Status.Conditions, s.run.Status.Deadline, s.now), err
}

// lookAgain is when to look at an owner again if nothing happens before: at its deadline at the latest.
func lookAgain(d lifecycle.Decision, conditions []metav1.Condition, deadline *metav1.Time, now time.Time) time.Duration {
	finished := apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionFinished)
	if finished || deadline == nil || d.Pauses() {
		return d.After
	}
	left := max(firstRetry, deadline.Sub(now))
	if d.After == 0 {
		return left
	}
	return min(d.After, left)
}

// decide what to do with a run that was read by the same reader. If its objects cannot be read, the step is blind.
func (r *BenchmarkRunReconciler) decide(ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader) (*step, error) {
	s := &step{run: run, old: run.DeepCopy(), now: r.Clock.Now()}
	p, invalid := lifecycle.Plan(run)
	s.plan = p
	seen, err := r.observe(ctx, run, reader)
	if err != nil {
		s.seen = &lifecycle.Observed{Blind: true}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	if invalid != nil {
		s.seen.Obstacle = lifecycle.Invalid(invalid)
	} else if refused := lifecycle.HostTuningRefused(run, r.HostTuningAllowed); refused != nil {
		s.seen.Obstacle = refused
	}
	s.seen.Trouble, s.seen.Unwritten = r.memories.of(run).told()
	s.next()
	return s, nil
}

// next decides, after something new was seen.
func (s *step) next() { s.decision = lifecycle.Next(s.run, s.plan, s.seen, s.now) }

// carryOut the decision. An obstacle becomes a new decision. What was written becomes a part of what was seen, so that the status
// tells of it at once.
func (r *BenchmarkRunReconciler) carryOut(ctx context.Context, s *step) error {
	action := s.decision.Action
	if _, remove := action.(lifecycle.RemoveDatabase); remove {
		// The number of an instance that is removed must never be used again, whatever happens next.
		if err := r.writeStatus(ctx, s); err != nil {
			return err
		}
		s.old = s.run.DeepCopy()
	}
	err := r.act(ctx, s, action)
	obstacle, unwritten := new(obstacleError), new(unwrittenError)
	switch {
	case errors.As(err, &obstacle) && !errors.As(err, &unwritten):
		s.seen.Obstacle = &obstacle.failure
		s.next()
	case err != nil:
		return fmt.Errorf("acting: %w", err)
	default:
		switch action.(type) {
		case lifecycle.TakeLane, lifecycle.RecordAttempt, lifecycle.Publish:
			s.next()
			s.decision.Action = lifecycle.Wait{}
		}
	}
	return nil
}

// inTrouble notes a step that failed, and says whether the status is to tell of it: not before the same step has failed several
// times.
func (r *BenchmarkRunReconciler) inTrouble(s *step, err error) bool {
	m := r.memories.of(s.run)
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
func (r *BenchmarkRunReconciler) writeStatus(ctx context.Context, s *step) error {
	s.run.Status = lifecycle.Status(s.run, s.plan, s.seen, s.decision, s.now)
	err := r.writer(s.run).patchStatus(ctx, s.old, announcements(&s.old.Status, &s.run.Status, s.seen))
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
