// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Variants that are measured in slices have their servers to themselves, but share a machine: a variant whose turn it is not
// sends nothing. Their servers come to rest at the same time. The first turn of each is for the probe of the node and for the
// warm-up; those after it are slices of the measured phase.

// alternate lets the clock run in a side's turns, until ended is called.
func (p *pauses) alternate(
	ctx context.Context, turns *alternate.Side, finished chan struct{}, failed func(error),
) (ended func()) {
	var alternating sync.WaitGroup
	alternating.Go(func() {
		if err := turns.Alternate(ctx, p, finished); err != nil {
			failed(err)
		}
	})
	return func() {
		close(finished)
		alternating.Wait()
		p.cost.end()
		p.endSlice()
	}
}

// A server has the turns of the others to itself. One that falls behind with writing back its pages catches up in them, which a
// load without pauses would have to wait for. pauses count what it writes back in them.

// clock of what is measured in slices.
type clock interface {
	alternate.Clock
	// Quota sets the period of the CPU quota that holds the server back; 0 is none.
	Quota(period time.Duration)
}

// pauses are the turns of others. They are an alternate.Clock: that of what is measured.
type pauses struct {
	clock clock
	// counter is how many pages the server has written back so far.
	counter func() (int64, error)
	// before is the counter at the end of the last turn, and pages what was written in all pauses.
	before, pages int64
	// begun says that there was a slice: what came before it was no pause.
	begun  bool
	failed error
	// process is what the server's process has used so far, an error if that is not known, left what it was at the end of the last
	// turn, and idle what was used in all pauses.
	process func() (*result.ProcessFacts, error)
	left    *result.ProcessFacts
	since   time.Time
	idle    result.Idle
	// throttled is for how long its CPU limit had held the server back before the last turn.
	throttled int64
	// cost is what the loader consumed in its slices: between them, it may have measured another side.
	cost meter
	// counted is what counts of all slices so far, and each what counted of them one by one, which is sum together.
	counted func() result.Slice
	each    []result.Slice
	sum     result.Slice
}

func (a *attempt) between(ctx context.Context, clock clock, counted func() result.Slice) *pauses {
	p := &pauses{clock: clock, counted: counted, counter: func() (int64, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second) // others wait for the turn
		defer cancel()
		return server.Counter(ctx, a.dialect, a.admin, a.engine.Counters.PagesWritten)
	}}
	if w := newWatch(a.cfg.Server); w.client != nil {
		p.process = func() (*result.ProcessFacts, error) { return w.client.Read(ctx) }
	}
	return p
}

func (a *attempt) paused(p *pauses) {
	if p == nil {
		return
	}
	a.slices = p.each
	if p.failed == nil {
		a.pagesInPauses = &p.pages
	}
	if p.idle != (result.Idle{}) {
		a.idle = &p.idle
	}
}

// endSlice keeps what counts of a slice that has ended, if anything does.
func (p *pauses) endSlice() {
	now := p.counted()
	if now.Micros > p.sum.Micros && len(p.each) < result.MaxSlices {
		p.each = append(p.each, result.Slice{
			Micros: now.Micros - p.sum.Micros, Statements: now.Statements - p.sum.Statements, Rows: now.Rows - p.sum.Rows,
		})
		p.sum = now
	}
}

// Stop implements alternate.Clock, as does Go.
func (p *pauses) Stop() {
	p.clock.Stop()
	p.cost.end()
	p.endSlice()
	p.before = p.count()
	p.left, p.since = p.processFacts(), time.Now()
}

func (p *pauses) Go(length time.Duration) time.Duration {
	facts := p.processFacts()
	p.clock.Quota(p.quota(facts))
	if p.begun {
		p.pages += p.count() - p.before
		used := result.Observed{Before: p.left, After: facts}
		if facts, known := used.Used(); known {
			p.idle.Micros += time.Since(p.since).Microseconds()
			p.idle.CPUMicros += facts.UserMicros + facts.SystemMicros
			p.idle.BytesWritten += facts.WriteBytes
		}
	}
	p.begun = true
	p.cost.begin()
	return p.clock.Go(length)
}

// quotaPeriod is that of the kubelet, unless somebody changes it.
const quotaPeriod = 100 * time.Millisecond

// quota is the period of the CPU quota of a server that was held back in its last turn; before the first, of one that may be.
func (p *pauses) quota(facts *result.ProcessFacts) time.Duration {
	if facts == nil || facts.CPULimitMillis <= 0 {
		return 0
	}
	before := p.throttled
	if p.throttled = facts.ThrottledMicros; p.begun && before == p.throttled {
		return 0
	}
	return quotaPeriod
}

func (p *pauses) processFacts() *result.ProcessFacts {
	if p.process == nil {
		return nil
	}
	facts, err := p.process()
	if err != nil {
		p.process = nil // each question could take the whole time-out
	}
	return facts
}

func (p *pauses) count() int64 {
	if p.failed != nil {
		return 0
	}
	n, err := p.counter()
	p.failed = err
	return n
}

const (
	// pausesShare of the pages that a server writes back may be written while others are measured.
	pausesShare = 0.1
	// pausesPages are so few that writing them takes no time that counts: 16 MiB.
	pausesPages = 1024
	// pausesCPU of the machine's CPUs may be used by a server while others are measured.
	pausesCPU = 0.02
)

// caughtUp is about a server that had pauses to catch up in, or that disturbed the others in them.
func caughtUp(e *engine.Engine, doc *result.Document) []finding.Finding {
	if doc.Turns == nil {
		return nil
	}
	var busy []finding.Finding
	if idle := doc.Turns.Idle; idle != nil {
		if share := float64(idle.CPUMicros) / float64(max(idle.Micros, 1)) / float64(max(doc.Client.CPUs, 1)); share > pausesCPU {
			busy = append(busy, finding.BusyWhileIdle(100*share))
		}
	}
	return append(busy, wroteBack(e, doc)...)
}

// wroteBack is about a server that wrote back in its pauses what a load without them would have waited for.
func wroteBack(e *engine.Engine, doc *result.Document) []finding.Finding {
	if doc.Turns.PagesInPauses == nil {
		return nil
	}
	pages, name := *doc.Turns.PagesInPauses, e.Counters.PagesWritten
	all, known := server.Growth(doc.Server.StatusBefore, doc.Server.StatusAfter, name)
	if !known || pages < pausesPages || float64(pages) < pausesShare*float64(all) {
		return nil
	}
	return []finding.Finding{finding.CaughtUp(pages, max(all, pages))}
}

func outlasting(doc *result.Document) []finding.Finding {
	if doc.Turns == nil || doc.Turns.LongestDrainMicros*int64(doc.Turns.Slices) <= doc.Work().Micros {
		return nil
	}
	return []finding.Finding{finding.Outlasting(float64(doc.Turns.LongestDrainMicros) / 1e6)}
}

// Sides are attempts of one loader at several servers: each goes through its phases by itself, at the same time as the others,
// and is measured in its turns. The first error is that of all.

const maxSides = 16

func measureSides(ctx context.Context, in *Input, cfg *result.Config, out *progress.Progress) (*result.Document, error) {
	in.Identity.Trial, in.Identity.Attempt = cfg.Trial, cfg.Attempt
	if err := validateSides(cfg); err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	list := cfg.Sides
	doc := &result.Document{
		Version: result.DocumentVersion, Config: *cfg, Sides: make([]result.SideDocument, len(list.Each)),
		Metrics: []result.Metric{}, Checks: []result.Check{},
	}
	turns := alternate.Sides(ctx, len(list.Each), list.Seed, time.Duration(list.SliceMilliseconds)*time.Millisecond)
	var names []string
	for i := range list.Each {
		names = append(names, list.Each[i].Variant)
	}
	progress := out.Sides(names...)
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			one, err := measureSide(ctx, in, cfg, i, turns[i], progress[i])
			if err != nil {
				cancel(fmt.Errorf("variant %s: %w", name, err))
				return
			}
			doc.Sides[i] = result.SideDocument{Variant: name, Document: *one}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for i := range doc.Sides {
		doc.Totals.Add(&doc.Sides[i].Totals)
		doc.Totals.Micros += doc.Sides[i].Totals.Micros
	}
	return doc, nil
}

func measureSide(
	ctx context.Context, in *Input, cfg *result.Config, i int, turns *alternate.Side, out *progress.Progress,
) (doc *result.Document, err error) {
	defer failure.Recover(&err)
	own, side := *in, cfg.Side(i)
	text, err := json.Marshal(&side)
	if err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	own.Config = string(text)
	a, w, err := newAttempt(&own, out)
	if err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	a.turns, a.sides = turns, len(cfg.Sides.Each)
	return a.measure(ctx, w)
}

func validateSides(cfg *result.Config) error {
	switch s := cfg.Sides; {
	case len(s.Each) < 2 || len(s.Each) > maxSides:
		return fmt.Errorf("sides: there are %d but must be 2 to %d", len(s.Each), maxSides)
	case s.SliceMilliseconds < 1:
		return fmt.Errorf("sliceMilliseconds is %d but must be at least 1", s.SliceMilliseconds)
	case cfg.Pods > 1:
		return errors.New("sides are measured by one Pod")
	}
	return nil
}
