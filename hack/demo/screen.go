// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

const (
	width   = 110              // of the progress line
	tick    = time.Second      // between two states of it
	seldom  = 30 * time.Second // between two lines where lines cannot be overwritten
	rewrite = "\r\033[K"
)

// screen shows which steps run, since when, and the last thing that each said: on a terminal in one line that is overwritten, and
// elsewhere in plain lines, fewer of them.
type screen struct {
	mutex    sync.Mutex
	out      io.Writer
	terminal bool
	steps    []step
	running  map[int]*state
}

type state struct {
	since time.Time
	text  string
}

func newScreen(out *os.File, steps []step) *screen {
	info, err := out.Stat()
	return &screen{
		out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, steps: steps, running: map[int]*state{},
	}
}

func (s *screen) start(i int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.running[i] = &state{since: time.Now()}
	s.line("%s: %s (the first time %s, then %s)", s.title(i), s.steps[i].why, short(s.steps[i].first), short(s.steps[i].again))
}

func (s *screen) end(i int, took outcome) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.running, i)
	s.line("%s: done in %s, %s of CPU", s.title(i), short(took.wall), short(took.cpu))
}

func (s *screen) say(i int, what string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if running := s.running[i]; running != nil && what != "" {
		running.text = what
	}
}

func (s *screen) clear() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.terminal {
		fmt.Fprint(s.out, rewrite)
	}
}

// refresh shows the progress until the context ends.
func (s *screen) refresh(ctx context.Context) {
	pause := seldom
	if s.terminal {
		pause = tick
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.progress(now)
		}
	}
}

func (s *screen) progress(now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var parts []string
	for i := range s.steps {
		if running := s.running[i]; running != nil {
			parts = append(parts, fmt.Sprintf("%s %s %s", s.title(i), short(now.Sub(running.since)), running.text))
		}
	}
	if !s.terminal {
		for _, part := range parts {
			fmt.Fprintln(s.out, "  …", part)
		}
		return
	}
	for i, part := range parts { // each its share of the line
		text := []rune(part)
		parts[i] = string(text[:min(len(text), width/len(parts)-3)])
	}
	fmt.Fprint(s.out, rewrite, strings.Join(parts, " | "))
}

func (s *screen) title(i int) string {
	return fmt.Sprintf("%d/%d %s", i+1, len(s.steps), s.steps[i].name)
}

func (s *screen) line(format string, args ...any) {
	if s.terminal {
		fmt.Fprint(s.out, rewrite)
	}
	fmt.Fprintf(s.out, format+"\n", args...)
}

// short is a duration as people say it: 0.4s, 12s, 3m5s.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// table says what each step took, with the processor time of its own programs, and all of them together: less than their sum by
// the clock, for some run at the same time.
func table(out io.Writer, steps []step, outcomes []outcome, compiled, wall time.Duration) {
	writer := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(writer, strings.Join(cells, "\t")+"\t") }
	row("step", "the first time", "then", "this time", "CPU")
	cpu := time.Duration(0)
	for i, s := range steps {
		cpu += outcomes[i].cpu
		row(s.name, short(s.first), short(s.again), short(outcomes[i].wall), short(outcomes[i].cpu))
	}
	row("this program", "", "", short(compiled), "")
	row("all", "", "", short(wall), short(cpu))
	_ = writer.Flush()
}
