// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

type runStep struct {
	run *v1alpha1.BenchmarkRun
	// old is the run as it was read.
	old      *v1alpha1.BenchmarkRun
	plan     *plan.Plan
	seen     *lifecycle.Observed
	decision lifecycle.Decision
	now      time.Time
}

// takeStep observes, decides, acts, and writes the status. What cannot be taken back is decided again on live reads, with the
// run read anew. Nothing is decided about a run that is older than what was decided about before. A claimant only
// claims it, so that no other installation has begun as well.
func (r *BenchmarkRunReconciler) takeStep(ctx context.Context, is part, run *v1alpha1.BenchmarkRun) (*runStep, error) {
	m := r.memories.of(run)
	if m.isAbove(run) {
		return nil, r.behind(ctx, run)
	}
	s, err := r.decide(ctx, run, r.Client)
	if is == claimant {
		m.reach(run)
		return nil, r.claimRun(ctx, s, err == nil)
	}
	if err == nil && s.decision.Irrevocable() {
		fresh := new(v1alpha1.BenchmarkRun)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), fresh); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		if fresh.UID != run.UID {
			return nil, errStale
		}
		s, err = r.decide(ctx, fresh, r.Live)
	}
	m.reach(s.run)
	if err == nil {
		err = r.carryOut(ctx, s)
	}
	if isStale(err) || err != nil && !r.reportsRetries(s, err) {
		return nil, err
	}
	if err := r.writeStatus(ctx, s); err != nil {
		return nil, err
	}
	return s, err
}

// claimRun claims a run that was read by the cache: the write leads to the next step, which acts. If there is nothing to be done
// yet, the status says so at once; otherwise it would tell of what has not begun.
func (r *BenchmarkRunReconciler) claimRun(ctx context.Context, s *runStep, decided bool) error {
	s.run.Status.Installation = r.Installation.identity()
	if _, waits := s.decision.Action.(lifecycle.Wait); decided && waits && !s.decision.Irrevocable() {
		return r.writeStatus(ctx, s)
	}
	if err := r.writer(s.run).patchStatus(ctx, s.old, changes{}); err != nil {
		return fmt.Errorf("writing status.installation: %w", err)
	}
	r.memories.of(s.run).reach(s.run)
	return nil
}

// behind is errStale: the cache has an older version of the run than the operator has seen. If the API server has none that is
// newer, it was restored from a backup, and what is remembered did not happen.
func (r *BenchmarkRunReconciler) behind(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	fresh := new(v1alpha1.BenchmarkRun)
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if r.memories.of(run).isAbove(fresh) {
		r.forget(client.ObjectKeyFromObject(run))
	}
	return errStale
}

// carryOut the decision. A terminal error becomes a new decision, and so does an object that is refused. What was written becomes
// a part of what was seen, so that the status reports it at once. Checking writes nothing: the next decision follows, on live
// reads if it cannot be taken back.
func (r *BenchmarkRunReconciler) carryOut(ctx context.Context, s *runStep) error {
	action := s.decision.Action
	if _, remove := action.(lifecycle.RemoveDatabase); remove {
		// The number of an instance that is removed must never be used again, whatever happens next.
		if err := r.writeAhead(ctx, s); err != nil {
			return err
		}
	}
	retries := &r.memories.of(s.run).retries
	if refused := retries.refusedLately(action, s.now); refused != nil {
		s.seen.Refused = refused
		r.next(s)
		return nil
	}
	err := r.act(ctx, s, action)
	terminal, refused, unwritten := new(terminalError), new(refusedError), new(unwrittenError)
	switch {
	case errors.As(err, &unwritten):
		return fmt.Errorf("acting: %w", err)
	case errors.As(err, &terminal):
		s.seen.Terminal = &terminal.failure
		r.next(s)
		return nil
	case errors.As(err, &refused):
		if a, ok := action.(lifecycle.ProvideDatabase); ok {
			refused.Instance = a.Instance
		}
		s.seen.Refused = &refused.Refusal
		r.next(s)
		retries.refusal, retries.refused, retries.again = &refused.Refusal, reflect.TypeOf(action), s.now.Add(s.decision.After)
		return nil
	case err != nil:
		return fmt.Errorf("acting: %w", err)
	}
	switch action.(type) {
	case lifecycle.CheckVariants:
		return errStale
	case lifecycle.TakeLane, lifecycle.RecordAttempt, lifecycle.Publish:
		r.next(s)
		s.decision.Action = lifecycle.Wait{}
	}
	return nil
}

// reportsRetries notes a step that failed, and says whether the status reports it: not before the same step has failed several
// times.
func (r *BenchmarkRunReconciler) reportsRetries(s *runStep, err error) bool {
	retries, blockers := &r.memories.of(s.run).retries, &s.seen.Blockers
	retries.failures, retries.last = retries.failures+1, err
	blockers.RetryError, blockers.Unwritten = retries.reported()
	if blockers.RetryError == "" {
		return false
	}
	r.next(s)
	s.decision.Action = lifecycle.Wait{}
	return true
}

// lookAgain is when to look at the run again if nothing happens before: at its deadline at the latest.
func (s *runStep) lookAgain() time.Duration {
	d, deadline := s.decision, s.run.Status.Deadline
	if apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionFinished) || deadline == nil || d.Pauses() {
		return d.After
	}
	return lifecycle.Sooner(d.After, max(firstRetry, deadline.Sub(s.now)))
}
