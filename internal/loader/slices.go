// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/turns"
	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Variants that are measured in slices have their servers to themselves, but share a machine: a variant whose turn it is not
// sends nothing. Their servers come to rest at the same time. The first turn of each is for the probe of the node and for the
// warm-up; those after it are slices of the measured phase.

// meet waits until all variants are at rest, and for the first turn.
func (a *attempt) meet(ctx context.Context) error {
	t := a.cfg.Turns
	password, err := conn.ReadCredential(t.PasswordFile)
	if err != nil {
		return failure.New(result.CauseConfiguration, err)
	}
	authorize := func(r *http.Request) { observer.Authorize(r, password) }
	a.turns, err = turns.Join(ctx, observer.URL(t.Host, t.Port), authorize, a.cfg.Trial, t)
	return alternationBroken(err)
}

// pass gives the first turn back.
func (a *attempt) pass(context.Context) error { return alternationBroken(a.turns.Pass()) }

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

// gated is a session that sends nothing while the clock stands still.
func (c *clients) gated(s *conn.Session, clock *record.Clock) workload.Session {
	if c.turns == nil {
		return s
	}
	return gated{s, clock}
}

type gated struct {
	session *conn.Session
	clock   *record.Clock
}

// Exec implements workload.Session, as do all methods.
func (g gated) Exec(statement []byte) error {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.Exec(statement)
}

func (g gated) ExecWhile(statement []byte, meanwhile func()) (ago time.Duration, err error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.ExecWhile(statement, meanwhile)
}

func (g gated) Prepare(p workload.Prepared) (*mysqlwire.Execution, error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.Prepare(p)
}

func (g gated) ExecuteWhile(execution []byte, meanwhile func()) (ago time.Duration, err error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.ExecuteWhile(execution, meanwhile)
}

func (g gated) ExecAffected(statement []byte) (int64, error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.ExecAffected(statement)
}

func (g gated) Fetch(statement []byte) (int64, error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.Fetch(statement)
}

func (g gated) Load(clause string, data io.Reader) (rows, warnings int64, err error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.Load(clause, data)
}

func (g gated) Warning() (string, error) {
	g.clock.Enter()
	defer g.clock.Leave()
	return g.session.Warning()
}
