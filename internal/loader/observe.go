// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/loader/turns"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// watch asks the observer beside the server what the server cannot say of itself. Without an observer it does nothing, and
// an observer that does not answer changes nothing but that something is unknown.
type watch struct {
	client *observer.Client
	// silent is set when the observer has not answered once. It is not asked again: each time could take the whole time-out.
	silent bool
	seen   result.Observed
}

func newWatch(server result.Server) watch {
	if server.ObserverPort == 0 {
		return watch{}
	}
	return watch{client: observer.NewClient(server)}
}

// observed is what the observer saw, or nil.
func (w *watch) observed() *result.Observed {
	if w.seen == (result.Observed{}) {
		return nil
	}
	return &w.seen
}

// ask does something with the observer, if there is one that answers.
func (o *owner) ask(do func(*watch) error) {
	if o.watch.client == nil || o.watch.silent {
		return
	}
	if err := do(&o.watch); err != nil {
		o.watch.silent = true
		o.findings = append(o.findings, finding.Unobserved())
		o.progress.Say(err.Error())
	}
}

// probe asks what the server's node is like, while nothing else is going on. The attempt does not depend on the answer, or on any
// other of the observer.
func (o *owner) probe(ctx context.Context) error {
	o.ask(func(w *watch) (err error) {
		w.seen.Probe, err = w.client.Probe(ctx)
		return err
	})
	return nil
}

// observeBefore and observeAfter read the server's process around what is measured.
func (o *owner) observeBefore(ctx context.Context) {
	o.ask(func(w *watch) (err error) {
		w.seen.Before, err = w.client.Read(ctx)
		return err
	})
}

func (o *owner) observeAfter(ctx context.Context) {
	o.ask(func(w *watch) (err error) {
		w.seen.After, err = w.client.Read(ctx)
		return err
	})
}

// serverCosts are what a unit of work takes on the server: CPU time, bytes to disk and system calls, for so many rows or
// transactions. What is not known is left out.
func serverCosts(o *result.Observed, n int64, unit, suffix string) []result.Metric {
	used, known := o.Used()
	if !known || n == 0 {
		return nil
	}
	var all []result.Metric
	add := func(name, of string, amounts ...int64) {
		sum := int64(0)
		for _, amount := range amounts {
			if amount < 0 {
				return
			}
			sum += amount
		}
		all = append(all, result.Metric{
			Name: name + suffix, Value: float64(sum) / float64(n), Unit: of + "/" + unit, Better: "lower",
		})
	}
	add("serverMicros", "µs", used.UserMicros, used.SystemMicros)
	add("serverBytesWritten", "bytes", used.WriteBytes)
	add("serverFileCalls", "calls", used.ReadCalls, used.WriteCalls)
	return all
}

// heldBack is for how much of the measured phase the server's CPU limit held it back, summed over its CPUs; none without a
// limit, or if that is unknown.
func heldBack(o *result.Observed, t result.Totals) []result.Metric {
	used, known := o.Used()
	if !known || used.CPULimitMillis <= 0 || used.ThrottledMicros < 0 || t.Micros == 0 {
		return nil
	}
	share := 100 * float64(used.ThrottledMicros) / float64(t.Micros)
	return []result.Metric{{Name: "serverThrottledPercent", Value: share, Unit: "%", Better: "lower"}}
}

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
	// begun says that there was a slice: what came before it was no pause.
	begun bool
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

func (p *pauses) Go(length time.Duration) time.Duration {
	if p.begun {
		p.pages += p.count() - p.before
	}
	p.begun = true
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
