// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// step is one part of the demo: a command.
type step struct {
	name         string
	why          string
	command      []string
	needs        []string      // the steps that must be done before
	first, again time.Duration // expected: from nothing on two cores, and when all is there
	result       bool          // its standard output is what the demo prints
}

// outcome is what a step took. The processor time is that of all its processes but those that outlive it.
type outcome struct {
	wall, cpu time.Duration
}

// run runs the steps, several at a time, until all are done or one has failed.
func run(ctx context.Context, steps []step, log io.Writer, screen *screen) ([]outcome, []byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go screen.refresh(ctx)

	var (
		wait     sync.WaitGroup
		result   bytes.Buffer
		outcomes = make([]outcome, len(steps))
		done     = map[string]chan struct{}{}
		shared   = &lockedWriter{writer: log}
	)
	for _, s := range steps {
		done[s.name] = make(chan struct{})
	}
	for i, s := range steps {
		wait.Go(func() {
			for _, need := range s.needs {
				select {
				case <-done[need]:
				case <-ctx.Done():
					return
				}
			}
			output := &lines{name: s.name, log: shared, show: func(line string) { screen.say(i, line) }}
			stdout := io.Writer(output)
			if s.result {
				stdout = &result
			}
			screen.start(i)
			var err error
			if outcomes[i], err = execute(ctx, s.command, stdout, output); err != nil {
				cancel(failure(s, output, err))
				return
			}
			screen.end(i, outcomes[i])
			close(done[s.name])
		})
	}
	wait.Wait()
	screen.clear()
	return outcomes, result.Bytes(), context.Cause(ctx)
}

func failure(s step, output *lines, err error) error {
	return fmt.Errorf("%s failed (%s: %w). Its last lines, the others are in bin/demo.log:\n%s",
		s.name, strings.Join(s.command, " "), err, strings.Join(output.last, "\n"))
}

// execute runs a command. When the context ends, all of its processes do.
func execute(ctx context.Context, command []string, stdout, stderr io.Writer) (outcome, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // a daemon that a script leaves behind may hold its output

	started := time.Now()
	err := cmd.Run()
	took := outcome{wall: time.Since(started)}
	if state := cmd.ProcessState; state != nil {
		took.cpu = state.UserTime() + state.SystemTime()
	}
	return took, err
}

// lockedWriter is written to by one at a time.
type lockedWriter struct {
	mutex  sync.Mutex
	writer io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.writer.Write(p)
}

// lines writes whole lines of a step to the log, keeps the last ones for the message if it fails, and shows the last one.
type lines struct {
	mutex   sync.Mutex
	name    string
	log     io.Writer
	show    func(line string)
	partial []byte
	last    []string
}

const kept = 15

func (l *lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.partial = append(l.partial, p...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.partial = slices.Clone(rest)
		text := strings.TrimRight(string(line), "\r ")
		l.last = append(l.last, text)
		l.last = l.last[max(0, len(l.last)-kept):]
		l.show(text)
		if _, err := fmt.Fprintf(l.log, "[%s] %s\n", l.name, text); err != nil {
			return 0, err
		}
	}
}
