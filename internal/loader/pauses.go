// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// A server has the turns of the others to itself. One that falls behind with writing back its pages catches up in them, which a
// load without pauses would have to wait for. pauses count what it writes back in them.

// pagesAtMost bounds a question for the counter: others wait for the turn.
const pagesAtMost = time.Second

// pauses are the turns of others. They are a turns.Clock: that of what is measured.
type pauses struct {
	clock *record.Clock
	// counter is how many pages the server has written back so far.
	counter func() (int64, error)
	// before is the counter at the end of the last turn, and pages what was written in all pauses.
	before, pages int64
	// failed is the first error of the counter: pages is not known then.
	failed error
}

// pagesWritten is how many pages the server has written back so far.
func (a *attempt) pagesWritten(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, pagesAtMost)
	defer cancel()
	return server.PagesWritten(ctx, a.engine, a.dialect, a.admin)
}

// Stop implements turns.Clock, as does Go.
func (p *pauses) Stop() {
	p.clock.Stop()
	p.before = p.count()
}

func (p *pauses) Go() {
	p.pages += p.count() - p.before
	p.clock.Go()
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

// crowded is about connections that took turns.
func crowded(doc *result.Document, connections int) []finding.Finding {
	if doc.Turns == nil || connections < 2 {
		return nil
	}
	return []finding.Finding{finding.Crowded(connections)}
}
