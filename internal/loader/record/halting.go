// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"math"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// A program knows nothing of slices. Its processes are stopped and continued, and what it does in a slice is what the server
// counts: between two readings of its counter of statements, the first in the steady state, the second just before the program is
// stopped. What the server finishes after that is in no rate, as in the slices of the loader's own clients.

const (
	// rampStatements are how many times the mean time of a statement the steady state of a slice is away from its beginning, to
	// twice as many, leastStatements how many of them a slice lasts at least, unless there would be fewer than leastSlices.
	rampStatements, leastStatements = 3, 50
	// idleAtMost is how long statements of a halted program may run, and idleEvery how long two looks at them are apart.
	idleAtMost, idleEvery = 10 * time.Second, time.Millisecond
)

// Halting is the clock of a load that another program makes: an alternate.Clock. The exported fields are for its user to set.
type Halting struct {
	Program interface {
		Halt() error
		Continue() error
	}
	// Statements is how many the server has executed, and Idle says whether it executes none for the program.
	Statements func() (int64, error)
	Idle       func() (bool, error)
	// Ended is closed when the program has ended. Failed is told errors, of which the first one counts.
	Ended  <-chan struct{}
	Failed func(error)
	// Clients of the program, and for how long it makes its load in all.
	Clients int
	Limit   time.Duration

	// resumed, opened are the beginning of the slice and of its window.
	resumed, opened reading
	// up says that the program sent something in a window before.
	up     bool
	slices workload.Slices
	turns  int
	limited
}

// reading is of the server's counter, at the middle of the time that it took: a server that its quota holds back counts nothing
// while it lets a question wait.
type reading struct {
	at         time.Time
	statements int64
}

func (h *Halting) read() reading {
	before := time.Now()
	n, err := h.Statements()
	if err != nil {
		h.Failed(err)
	}
	if h.period > 0 {
		return reading{before, n}
	}
	return reading{before.Add(time.Since(before) / 2), n}
}

// Begin is called before the program is started, which sends something before its first slice is known.
func (h *Halting) Begin() { h.resumed = h.read() }

// Go implements alternate.Clock: the window is open when it returns.
func (h *Halting) Go(length time.Duration) time.Duration {
	if h.turns > 0 {
		h.resumed = h.read()
	}
	length, ramp := h.steady(length)
	if err := h.Program.Continue(); err != nil {
		h.Failed(err)
	}
	select {
	case <-time.After(ramp):
	case <-h.Ended:
	}
	h.opened = h.read()
	return max(length-ramp-time.Since(h.opened.at), 0)
}

func (h *Halting) steady(length time.Duration) (whole, ramp time.Duration) {
	if h.turns++; h.slices.Counted == 0 {
		return h.periods(length, length/4)
	}
	mean := time.Duration(float64(h.Clients) * float64(h.slices.Windows) / float64(h.slices.Counted))
	length = max(length, min(leastStatements*mean, h.Limit/leastSlices))
	_, spread := math.Modf(float64(h.turns) * golden)
	return h.periods(length, min(time.Duration(rampStatements*(1+spread)*float64(mean)), length/4))
}

// Stop implements alternate.Clock: it returns when the server executes nothing for the program.
func (h *Halting) Stop() {
	closed := h.read()
	if err := h.Program.Halt(); err != nil {
		h.Failed(err)
	}
	h.drain(closed.at)
	select {
	case <-h.Ended: // some of its clients had ended before
	default:
		if n := closed.statements - h.opened.statements; n > 0 {
			if h.up {
				h.slices.Counted += n
				h.slices.Windows += closed.at.Sub(h.opened.at)
			}
			h.up = true
		}
	}
	h.end()
}

// drain waits until the server has finished what was under way.
func (h *Halting) drain(asked time.Time) {
	for seen := 0; seen < 3; time.Sleep(idleEvery) {
		idle, err := h.Idle()
		if seen++; !idle {
			seen = 0
		}
		if err == nil && time.Since(asked) > idleAtMost {
			err = fmt.Errorf("a statement of the halted program was not over within %s: use alternation: Trials", idleAtMost)
		}
		if err != nil {
			h.Failed(err)
			return
		}
	}
	h.slices.LongestDrain = max(h.slices.LongestDrain, time.Since(asked))
}

// Counted is what counts of all slices so far.
func (h *Halting) Counted() result.Slice {
	return result.Slice{Micros: h.slices.Windows.Microseconds(), Statements: h.slices.Counted}
}

// Slices are what there was of them, when the program has ended in its turn.
func (h *Halting) Slices() *workload.Slices {
	h.end()
	return &h.slices
}

func (h *Halting) end() {
	now := h.read()
	h.slices.Statements += now.statements - h.resumed.statements
	h.slices.Active += now.at.Sub(h.resumed.at)
}
