// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Variants that are measured in slices have their servers to themselves, but share a machine: a variant whose turn it is not
// sends nothing. Their servers come to rest at the same time. The first turn of each is for the probe of the node and for the
// warm-up; those after it are slices of the measured phase.

// meet waits until all variants are at rest, and for the first turn.
func (a *attempt) meet(ctx context.Context) error { return a.turns.Wait(ctx) }

// pass gives the first turn back.
func (a *attempt) pass(ctx context.Context) error { return a.turns.Pass(ctx) }

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
			failed(err)
		}
	})
	return func() {
		close(finished)
		alternating.Wait()
		c.pauses.cost.end()
	}
}

// A server has the turns of the others to itself. One that falls behind with writing back its pages catches up in them, which a
// load without pauses would have to wait for. pauses count what it writes back in them.

// pagesAtMost bounds a question for the counter: others wait for the turn.
const pagesAtMost = time.Second

// pauses are the turns of others. They are an alternate.Clock: that of what is measured.
type pauses struct {
	clock alternate.Clock
	// counter is how many pages the server has written back so far.
	counter func() (int64, error)
	// before is the counter at the end of the last turn, and pages what was written in all pauses.
	before, pages int64
	// begun says that there was a slice: what came before it was no pause.
	begun bool
	// failed is the first error of the counter: pages is not known then.
	failed error
	// cost is what the loader consumed in its slices: between them, it may have measured another side.
	cost meter
}

// pagesWritten is how many pages the server has written back so far.
func (a *attempt) pagesWritten(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, pagesAtMost)
	defer cancel()
	return server.Counter(ctx, a.dialect, a.admin, a.engine.Counters.PagesWritten)
}

// Stop implements alternate.Clock, as does Go.
func (p *pauses) Stop() {
	p.clock.Stop()
	p.cost.end()
	p.before = p.count()
}

func (p *pauses) Go(length time.Duration) time.Duration {
	if p.begun {
		p.pages += p.count() - p.before
	}
	p.begun = true
	p.cost.begin()
	return p.clock.Go(length)
}

// count is the counter, or 0 after an error.
func (p *pauses) count() int64 {
	if p.failed != nil {
		return 0
	}
	n, err := p.counter()
	p.failed = err
	return n
}

// written is how many pages the server has written back in the pauses; nil if that is not known.
func (p *pauses) written() *int64 {
	if p == nil || p.failed != nil {
		return nil
	}
	return &p.pages
}

const (
	// pausesShare of the pages that a server writes back may be written while others are measured.
	pausesShare = 0.1
	// pausesPages are so few that writing them takes no time that counts: 16 MiB.
	pausesPages = 1024
)

// caughtUp is about a server that had pauses to catch up in.
func caughtUp(e *engine.Engine, doc *result.Document) []finding.Finding {
	if doc.Turns == nil || doc.Turns.PagesInPauses == nil {
		return nil
	}
	pages, name := *doc.Turns.PagesInPauses, e.Counters.PagesWritten
	all, known := server.Growth(doc.Server.StatusBefore, doc.Server.StatusAfter, name)
	if !known || pages < pausesPages || float64(pages) < pausesShare*float64(all) {
		return nil
	}
	return []finding.Finding{finding.CaughtUp(pages, max(all, pages))}
}

// outlasting is about transactions that took longer to end after a slice than a slice is long.
func outlasting(doc *result.Document) []finding.Finding {
	if doc.Turns == nil || doc.Turns.LongestDrainMicros*int64(doc.Turns.Slices) <= doc.Work().Micros {
		return nil
	}
	return []finding.Finding{finding.Outlasting(float64(doc.Turns.LongestDrainMicros) / 1e6)}
}
