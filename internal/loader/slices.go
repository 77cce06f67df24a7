// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/turns"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Variants that are measured in slices have their servers to themselves, but share a machine: a variant whose turn it is not
// sends nothing. Their servers come to rest at the same time. The first turn of each is for the probe of the node and for the
// warm-up; those after it are slices of the measured phase.

// turnTaker takes turns with others: those of other loaders, or the other sides of this one.
type turnTaker interface {
	Wait(ctx context.Context) error
	Pass(ctx context.Context) error
	Over(ctx context.Context) error
	Alternate(ctx context.Context, clock alternate.Clock, finished <-chan struct{}) error
	Facts() result.TurnFacts
	Close()
}

// meet waits until all variants are at rest, and for the first turn.
func (a *attempt) meet(ctx context.Context) error {
	t := a.cfg.Turns
	if t == nil {
		return a.turns.Wait(ctx) // a side knows the others
	}
	password, err := conn.ReadCredential(t.PasswordFile)
	if err != nil {
		return failure.New(result.CauseConfiguration, err)
	}
	authorize := func(r *http.Request) { observer.Authorize(r, password) }
	player, err := turns.Join(ctx, observer.URL(t.Host, t.Port), authorize, a.cfg.Trial, t)
	if err == nil {
		a.turns = player
	}
	return alternationBroken(err)
}

// pass gives the first turn back.
func (a *attempt) pass(ctx context.Context) error { return alternationBroken(a.turns.Pass(ctx)) }

// alternationBroken is the reason of an error of turns.
func alternationBroken(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return failure.New(result.CauseAlternationBroken, err)
}

// alternate lets the clock run in this loader's turns, until ended is called. Without turns it always runs.
func (c *clients) alternate(ctx context.Context, clock *record.Clock, failed func(error)) (ended func()) {
	if c.turns == nil {
		return func() {}
	}
	finished := make(chan struct{})
	c.pauses = &pauses{clock: clock, counter: func() (int64, error) { return c.pages(ctx) }}
	var alternating sync.WaitGroup
	alternating.Go(func() {
		if err := c.turns.Alternate(ctx, c.pauses, finished); err != nil {
			failed(alternationBroken(err))
		}
	})
	return func() {
		close(finished)
		alternating.Wait()
	}
}

// gates of the clients; none where no turns are taken.
func (c *clients) gates(clock *record.Clock, limit time.Duration) []*record.Gate {
	if c.turns == nil {
		return nil
	}
	return clock.Slice(len(c.sessions), limit)
}
