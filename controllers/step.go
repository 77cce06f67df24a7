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
)

// step is a decision about an owner, a run, and what it was made of: its plan P, and what was seen, S.
type step[O client.Object, P any, S seen] struct {
	owner O
	// old is the owner as it was read.
	old      O
	plan     P
	seen     S
	decision lifecycle.Decision
	now      time.Time
}

// seen is what was seen of an owner.
type seen interface {
	Blocking() *lifecycle.Blockers
}

// stepper is the reconciler of owners of one kind.
type stepper[O client.Object, P any, S seen] interface {
	base() *Base
	lanes() *lanes
	// controller is its name in the metrics.
	controller() string
	// part that this installation has in an owner.
	part(ctx context.Context, owner O) (is part, after time.Duration, err error)
	// decide what to do with an owner that was read by the same reader. If what it has cannot be read, the step is blind.
	decide(ctx context.Context, owner O, reader client.Reader) (*step[O, P, S], error)
	// actOn says in the owner's status that this installation acts on it.
	actOn(owner O)
	// next decides, after something new was seen.
	next(s *step[O, P, S])
	act(ctx context.Context, s *step[O, P, S], action lifecycle.Action) error
	// writeStatus writes the status that follows from a step, and announces what changed.
	writeStatus(ctx context.Context, s *step[O, P, S]) error
	basicsOf(owner O) *basics
	writer(owner O) *writer
	// forget what is remembered of an owner.
	forget(owner client.ObjectKey)
	// lookAgain is when to look at the owner again if nothing happens before.
	lookAgain(s *step[O, P, S]) time.Duration
}

// takeStep observes, decides, acts, and writes the status. What cannot be taken back is decided again on live reads, with the
// owner in fresh. Nothing is decided about an owner that is older than what was decided about before. A claimant only
// claims it, so that no other installation has begun as well.
func takeStep[O client.Object, P any, S seen](
	ctx context.Context, r stepper[O, P, S], is part, owner, fresh O, cached client.Reader, live *Live,
) (*step[O, P, S], error) {
	if r.basicsOf(owner).isAbove(owner) {
		return nil, behind(ctx, r, owner, fresh, live)
	}
	s, err := r.decide(ctx, owner, cached)
	if is == claimant {
		r.basicsOf(owner).reach(owner)
		return nil, claim(ctx, r, s, err == nil)
	}
	if err == nil && s.decision.Irrevocable() {
		if err := live.Get(ctx, client.ObjectKeyFromObject(owner), fresh); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		if fresh.GetUID() != owner.GetUID() {
			return nil, errStale
		}
		s, err = r.decide(ctx, fresh, live)
	}
	r.basicsOf(owner).reach(s.owner)
	if err == nil {
		err = carryOut(ctx, r, s)
	}
	switch {
	case isStale(err):
		return nil, err
	case err != nil && !reportsRetries(r, s, err):
		return nil, err
	}
	if err := writeStatus(ctx, r, s); err != nil {
		return nil, err
	}
	return s, err
}

// claim an owner that was read by the cache: the write leads to the next step, which acts. If there is nothing to be done yet,
// the status says so at once; otherwise it would tell of what has not begun.
func claim[O client.Object, P any, S seen](ctx context.Context, r stepper[O, P, S], s *step[O, P, S], decided bool) error {
	r.actOn(s.owner)
	if _, waits := s.decision.Action.(lifecycle.Wait); decided && waits && !s.decision.Irrevocable() {
		return writeStatus(ctx, r, s)
	}
	if err := r.writer(s.owner).patchStatus(ctx, s.old, changes{}); err != nil {
		return fmt.Errorf("writing status.installation: %w", err)
	}
	r.basicsOf(s.owner).reach(s.owner)
	return nil
}

// behind is errStale: the cache has an older version of the owner than the operator has seen. If the API server has none that is
// newer, it was restored from a backup, and what is remembered did not happen.
func behind[O client.Object, P any, S seen](
	ctx context.Context, r stepper[O, P, S], owner, fresh O, live *Live,
) error {
	if err := live.Get(ctx, client.ObjectKeyFromObject(owner), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if r.basicsOf(owner).isAbove(fresh) {
		r.forget(client.ObjectKeyFromObject(owner))
	}
	return errStale
}

// writeStatus of a step, and remember its version.
func writeStatus[O client.Object, P any, S seen](ctx context.Context, r stepper[O, P, S], s *step[O, P, S]) error {
	if err := r.writeStatus(ctx, s); err != nil {
		return err
	}
	r.basicsOf(s.owner).reach(s.owner)
	return nil
}

// carryOut the decision. A terminal error becomes a new decision, and so does an object that is refused. What was written becomes
// a part of what was seen, so that the status reports it at once. Checking writes nothing: the next decision follows, on live
// reads if it cannot be taken back.
func carryOut[O client.Object, P any, S seen](ctx context.Context, r stepper[O, P, S], s *step[O, P, S]) error {
	action := s.decision.Action
	if _, remove := action.(lifecycle.RemoveDatabase); remove {
		// The number of an instance that is removed must never be used again, whatever happens next.
		if err := writeStatus(ctx, r, s); err != nil {
			return err
		}
		s.old = s.owner.DeepCopyObject().(O)
	}
	retries := &r.basicsOf(s.owner).retries
	if refused := retries.refusedLately(action, s.now); refused != nil {
		s.seen.Blocking().Refused = refused
		r.next(s)
		return nil
	}
	err := r.act(ctx, s, action)
	terminal, refused, unwritten := new(terminalError), new(refusedError), new(unwrittenError)
	switch {
	case errors.As(err, &unwritten):
		return fmt.Errorf("acting: %w", err)
	case errors.As(err, &terminal):
		s.seen.Blocking().Terminal = &terminal.failure
		r.next(s)
		return nil
	case errors.As(err, &refused):
		if a, ok := action.(lifecycle.ProvideDatabase); ok {
			refused.Instance = a.Instance
		}
		s.seen.Blocking().Refused = &refused.Refusal
		r.next(s)
		retries.refuse(action, &refused.Refusal, s.now.Add(s.decision.After))
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
func reportsRetries[O client.Object, P any, S seen](r stepper[O, P, S], s *step[O, P, S], err error) bool {
	retries, blockers := &r.basicsOf(s.owner).retries, s.seen.Blocking()
	retries.fail(err)
	blockers.RetryError, blockers.Unwritten = retries.reported()
	if blockers.RetryError == "" {
		return false
	}
	r.next(s)
	s.decision.Action = lifecycle.Wait{}
	return true
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
