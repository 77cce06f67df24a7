// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"

	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// inSlices is the error that a load cannot be measured in slices.
func inSlices(r role, l load) error {
	if _, only := r.(*only); !only {
		return errors.New("it is measured in stages, or by several Pods")
	}
	program, is := l.(*toolLoad)
	if !is {
		return nil
	}
	sliced, is := program.tool.(workload.Sliced)
	if !is {
		return errors.New("nobody counts what its program does in one")
	}
	_, _, err := sliced.Sliced()
	return err
}

// inTurns executes the measured command in this side's turns.
func (l *toolLoad) inTurns(ctx context.Context, command workload.Command, watch func(string)) (*process.Execution, error) {
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	h := &record.Halting{Failed: failed}
	var err error
	if h.Clients, h.Limit, err = l.tool.(workload.Sliced).Sliced(); err != nil {
		return nil, err
	}
	own := int64(0) // what was asked here
	h.Statements = func() (int64, error) {
		own++
		n, err := server.Counter(ctx, l.dialect, l.admin, l.engine.Counters.Statements)
		return n - own, err
	}
	h.Idle = func() (bool, error) {
		own++
		busy, err := server.Busy(ctx, l.dialect, l.admin, l.cfg.Server.Schema)
		if busy == 0 || err != nil {
			return err == nil, err
		}
		// Those that wait for a lock wait for another client of the program, which is halted.
		own++
		waiting, err := server.Counter(ctx, l.dialect, l.admin, l.engine.Counters.LockWaits)
		return busy <= waiting, err
	}
	h.Begin()
	p, err := process.Start(ctx, command, watch)
	if err != nil {
		return nil, err
	}
	ended, alternated := make(chan struct{}), make(chan struct{})
	h.Program, h.Ended = p, ended
	pauses := l.between(ctx, h)
	go func() {
		defer close(alternated)
		if err := l.turns.Alternate(ctx, pauses, ended); err != nil {
			failed(err)
		}
	}()
	e, err := p.Wait(ctx)
	close(ended)
	<-alternated
	if err != nil {
		return nil, err
	}
	e.Slices = h.Slices()
	pauses.cost.end()
	l.client.ThrottledMicros = pauses.cost.facts.ThrottledMicros
	l.paused(pauses)
	return e, context.Cause(ctx)
}
