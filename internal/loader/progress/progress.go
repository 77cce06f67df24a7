// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress writes what the loader is doing, for readers of its log.
package progress

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	every = time.Second
	// After so many lines only every tenth is written: a log is rotated at 10 MiB, and with it the document would be lost.
	dense = 600
)

// Progress writes a line a second about what the loader is doing: a result.Progress as JSON.
type Progress struct {
	out   io.Writer
	phase atomic.Pointer[string]
	rows  atomic.Pointer[func() int64]
	words atomic.Pointer[string]
	// sides are what the loader does at the same time: what is said of it is then theirs.
	sides atomic.Pointer[[]*Progress]
	name  string

	stop chan struct{}
	done sync.WaitGroup
}

// Start writes lines to out until Finish is called.
func Start(out io.Writer) *Progress {
	p := &Progress{out: out, stop: make(chan struct{})}
	p.Enter("start")
	p.done.Go(p.run)
	return p
}

// Sides are the progress of each of several sides, of which the lines are from now on.
func (p *Progress) Sides(names ...string) []*Progress {
	sides := make([]*Progress, len(names))
	for i, name := range names {
		sides[i] = &Progress{out: p.out, name: name}
		sides[i].Enter("start")
	}
	p.sides.Store(&sides)
	return sides
}

// Enter names what the loader does now.
func (p *Progress) Enter(phase string) {
	p.phase.Store(&phase)
	p.words.Store(nil)
}

// Note adds words about the phase, until the next ones or the next phase.
func (p *Progress) Note(words string) { p.words.Store(&words) }

// Count gives the number of rows written so far.
func (p *Progress) Count(rows func() int64) { p.rows.Store(&rows) }

// Say writes words of the loader's own at once.
func (p *Progress) Say(words string) {
	if p.name != "" {
		words = p.name + ": " + words
	}
	p.write(Indented(words))
}

// Quote writes lines of a program, each behind a mark: none of them can be taken for one of the loader's.
func (p *Progress) Quote(lines ...string) {
	for _, line := range lines {
		p.write(quoteMark + Indented(line))
	}
}

// quoteMark begins a line that is not the loader's own.
const quoteMark = "| "

// Indented is a text for a log in which each line but the first is marked as quoted: what a program or a server has said may have
// got into an error, and must not begin a line.
func Indented(text string) string { return strings.ReplaceAll(text, "\n", "\n"+quoteMark) }

func (p *Progress) write(line string) {
	// It need not be read: the result does not depend on it.
	_, _ = io.WriteString(p.out, line+"\n")
}

func (p *Progress) run() {
	began := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
		}
		if n > dense && n%10 != 0 {
			continue
		}
		now := p.now()
		now.Seconds = int64(time.Since(began).Round(time.Second).Seconds())
		p.Say(now.Line())
	}
}

// Where is what the loader does now, and how far it is.
func (p *Progress) Where() string { return p.now().Where() }

func (p *Progress) now() result.Progress {
	if sides := p.sides.Load(); sides != nil {
		return together(*sides)
	}
	now := result.Progress{Phase: *p.phase.Load()}
	if count := p.rows.Load(); count != nil {
		rows := (*count)()
		now.Rows = &rows
	}
	if words := p.words.Load(); words != nil {
		now.Note = *words
	}
	return now
}

// together is the first side's phase, with the rows of all and what the others do if that is something else.
func together(sides []*Progress) result.Progress {
	all, notes := sides[0].now(), []string{}
	for i, side := range sides {
		one := side.now()
		if i > 0 && one.Rows != nil {
			sum := *one.Rows
			if all.Rows != nil {
				sum += *all.Rows
			}
			all.Rows = &sum
		}
		if one.Phase != all.Phase {
			notes = append(notes, side.name+": "+one.Phase)
		}
	}
	if len(notes) > 0 {
		all.Note = strings.Join(notes, ", ")
	}
	return all
}

// Finish returns when no line will be written any more.
func (p *Progress) Finish() {
	close(p.stop)
	p.done.Wait()
}
