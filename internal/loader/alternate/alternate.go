// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package alternate has the sides of an attempt take turns: at any time one of them is loaded, for half a second or so. In each
// block every side has one turn, in an order that is drawn for two blocks. No block begins before all sides wait for it. When a
// side has nothing left to do, it takes no further turns; when none has, all go on together.
package alternate

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Clock is the time of what a side measures: record.Clock.
type Clock interface {
	// Go begins a slice of that length, or of a longer one, and returns its length. Stop ends it, and waits for what is under way.
	Go(length time.Duration) time.Duration
	Stop()
}

// Side is one of those that take turns. Only one goroutine may use it.
type Side struct {
	of *alternation
	// ready says that it waits for a turn. turns are given with the number of their block; given says that one is given back, and
	// whether it was the last.
	ready chan struct{}
	turns chan int
	given chan bool
	block int
	// began is when its first turn began.
	began time.Time
	facts result.TurnFacts
}

type alternation struct {
	seed  int64
	mean  time.Duration
	ended chan struct{}
}

// Sides are n that take turns of the given mean length, until ctx ends or all are over. Order and lengths follow from the seed.
func Sides(ctx context.Context, n int, seed int64, mean time.Duration) []*Side {
	a := &alternation{seed: seed, mean: mean, ended: make(chan struct{})}
	sides := make([]*Side, n)
	for i := range sides {
		sides[i] = &Side{of: a, ready: make(chan struct{}), turns: make(chan int), given: make(chan bool)}
	}
	go a.give(ctx, sides)
	return sides
}

// give turns until all sides are over.
func (a *alternation) give(ctx context.Context, sides []*Side) {
	over := make([]bool, len(sides))
	for block := 1; slices.Contains(over, false); block++ {
		for i, s := range sides {
			if !over[i] && take(ctx, s.ready, new(struct{})) != nil {
				return
			}
		}
		for _, i := range order(a.seed, block, len(sides)) {
			if !over[i] && (give(ctx, sides[i].turns, block) != nil || take(ctx, sides[i].given, &over[i]) != nil) {
				return
			}
		}
	}
	close(a.ended)
}

// give a value to a channel and take one from it; the error is the cause of ctx.
func give[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func take[T any](ctx context.Context, from <-chan T, value *T) error {
	select {
	case *value = <-from:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Wait for a turn; the error is the cause of ctx, as that of all methods.
func (s *Side) Wait(ctx context.Context) error {
	if err := give(ctx, s.ready, struct{}{}); err != nil {
		return err
	}
	err := take(ctx, s.turns, &s.block)
	if s.began.IsZero() {
		s.began = time.Now()
	}
	return err
}

// Pass gives the turn back.
func (s *Side) Pass(ctx context.Context) error { return give(ctx, s.given, false) }

// Over gives the last turn back, and waits until all others have done so too: only then may sides disturb each other.
func (s *Side) Over(ctx context.Context) error {
	s.facts.Micros = time.Since(s.began).Microseconds()
	if err := give(ctx, s.given, true); err != nil {
		return err
	}
	return take(ctx, s.of.ended, new(struct{}))
}

// Alternate lets a clock, which stands still, run in this side's turns only, until finished is closed. It has a turn when it is
// called, and when it returns without an error; the clock runs then in any case.
func (s *Side) Alternate(ctx context.Context, clock Clock, finished <-chan struct{}) error {
	for {
		s.facts.Slices++
		slice := clock.Go(length(s.of.seed, s.block, s.of.mean))
		select {
		case <-finished:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(slice):
		}
		clock.Stop()
		err := s.Pass(ctx)
		if err == nil {
			err = s.Wait(ctx)
		}
		if err != nil {
			clock.Go(0)
			return err
		}
	}
}

// Facts are what there was of turns, of a side that is over.
func (s *Side) Facts() result.TurnFacts { return s.facts }

// order of the sides in a block, counted from 1. It is drawn for a pair of blocks, and the second one has it backwards. What
// becomes steadily faster or slower, as a server does that has just been started, meets all sides of a pair alike.
func order(seed int64, block, sides int) []int {
	places := draws(seed, 2*pair(block)).Perm(sides)
	if block%2 == 0 {
		slices.Reverse(places)
	}
	return places
}

// length of the turns of a block: from half of the mean to one and a half, so that they do not keep step with what a server does
// once a second. It is the same for all sides, and for both blocks of a pair.
func length(seed int64, block int, mean time.Duration) time.Duration {
	return mean/2 + time.Duration(draws(seed, 2*pair(block)+1).Int64N(int64(mean)+1))
}

// pair that a block belongs to, from 0.
func pair(block int) int { return (block - 1) / 2 }

func draws(seed int64, stream int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), uint64(stream))) //nolint:gosec // it is not a secret, and either may be any number
}
