// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressEvery = time.Second
	// After so many lines only every tenth is written: a log is rotated at 10 MiB, and with it the document would be lost.
	progressDense = 600
)

// progress writes a line a second about what the loader is doing.
type progress struct {
	out   io.Writer
	phase atomic.Pointer[string]
	rows  atomic.Pointer[func() int64]
	words atomic.Pointer[string]

	stop chan struct{}
	done sync.WaitGroup
}

// startProgress writes lines to out until finish is called.
func startProgress(out io.Writer) *progress {
	p := &progress{out: out, stop: make(chan struct{})}
	p.enter("start")
	p.done.Go(p.run)
	return p
}

// enter names what the loader does now.
func (p *progress) enter(phase string) {
	p.phase.Store(&phase)
	p.words.Store(nil)
}

// note adds words about the phase, until the next ones or the next phase.
func (p *progress) note(words string) { p.words.Store(&words) }

// count gives the number of rows written so far.
func (p *progress) count(rows func() int64) { p.rows.Store(&rows) }

// say writes a line at once.
func (p *progress) say(line string) {
	// Nobody needs to read it: the result does not depend on it.
	_, _ = io.WriteString(p.out, line+"\n")
}

func (p *progress) run() {
	began := time.Now()
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
		}
		if n > progressDense && n%10 != 0 {
			continue
		}
		p.say(fmt.Sprintf("%4.0f s: %s", time.Since(began).Seconds(), p.where()))
	}
}

// where is what the loader does now, and how far it is.
func (p *progress) where() string {
	text := *p.phase.Load()
	if rows := p.rows.Load(); rows != nil {
		text += fmt.Sprintf(", %d rows", (*rows)())
	}
	if words := p.words.Load(); words != nil {
		text += ", " + *words
	}
	return text
}

// finish returns when no line will be written any more. It may be called more than once, by one goroutine.
func (p *progress) finish() {
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.done.Wait()
}
