// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process executes the programs that make a load in the loader's place.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	// maxOutput is about how much of a program's output is kept: two thirds are its beginning, the others its end.
	maxOutput = 24 << 20
	// maxLine is how much of one line counts.
	maxLine = 64 << 10
	// tailLines are the last lines of a program that failed.
	tailLines = 20
	// outputDelay is how long the output of a program that has ended may stay open: a process that left its group may hold it.
	outputDelay = 5 * time.Second
)

// Execution is a program that has ended, and what it consumed.
type Execution struct {
	workload.Execution
	Started      time.Time
	User, System time.Duration
	MaxRSSBytes  int64
}

// Program is one that was started.
type Program struct {
	command workload.Command
	cmd     *exec.Cmd
	out     *output
	finish  func()
	started time.Time
}

// Execute runs a program and waits for its end, whatever that is: the error is for programs that did not start and for an
// interruption. Each whole line of output that is not empty is given to watch, which may be nil.
func Execute(ctx context.Context, c workload.Command, watch func(line string)) (*Execution, error) {
	p, err := Start(ctx, c, watch)
	if err != nil {
		return nil, err
	}
	return p.Wait(ctx)
}

// Start starts a program, as Execute does. Wait must be called.
func Start(ctx context.Context, c workload.Command, watch func(line string)) (*Program, error) {
	p := &Program{command: c, out: &output{watch: watch}}
	//nolint:gosec // the run says which program: whoever may make runs may run programs in Pods
	p.cmd = exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	p.cmd.Env, p.cmd.Dir = c.Env, c.Dir
	// A group of its own, so that it can be ended with all of its children.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return p.signal(syscall.SIGKILL) }
	var err error
	if p.finish, err = p.out.attach(p.cmd); err != nil {
		return nil, err
	}
	p.started = time.Now()
	if err := running.start(p.cmd); err != nil {
		p.finish()
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], err)
	}
	return p, nil
}

func (p *Program) signal(s syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, s) }

// Wait waits for the program's end, with the context that it was started with.
func (p *Program) Wait(ctx context.Context) (*Execution, error) {
	err := p.cmd.Wait()
	took := time.Since(p.started)
	// What it left running must not disturb what comes next, nor answer in the loader's place. Usually there is nothing.
	_ = p.signal(syscall.SIGKILL)
	running.ended(p.cmd)
	left := EndAll()
	p.finish()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case left != nil:
		return nil, left
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return nil, fmt.Errorf("waiting for %s: %w", p.command.Args[0], err)
	}
	state := p.cmd.ProcessState
	e := &Execution{
		Execution: workload.Execution{
			Command: p.command, ExitCode: state.ExitCode(), Output: p.out.text(), Tail: p.out.last(), Took: took,
		},
		Started: p.started, User: state.UserTime(), System: state.SystemTime(),
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSSBytes = usage.Maxrss << 10
	}
	return e, nil
}

// attach makes out what a command that is about to start prints to. finish, which must be called, waits for the last of it. The
// pipe is not exec's, so that the end of the program, and not that of its output, is the end of the time that it took.
func (o *output) attach(cmd *exec.Cmd) (finish func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(o, r) // it ends when nobody can write any more, or r is closed
	}()
	return func() {
		_ = w.Close()
		select {
		case <-copied:
		case <-time.After(outputDelay):
		}
		_ = r.Close()
		<-copied
	}, nil
}

// output takes both outputs of a program, in the order in which they come.
type output struct {
	watch      func(line string)
	head, tail bytes.Buffer
	line       []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.keep(p)
	for rest := p; len(rest) > 0; {
		i := bytes.IndexAny(rest, "\r\n")
		if i < 0 {
			o.append(rest)
			break
		}
		o.append(rest[:i])
		if o.watch != nil && len(o.line) > 0 {
			o.watch(string(o.line))
		}
		o.line, rest = o.line[:0], rest[i+1:]
	}
	return len(p), nil
}

func (o *output) append(p []byte) {
	o.line = append(o.line, p[:min(len(p), maxLine-len(o.line))]...)
}

func (o *output) keep(p []byte) {
	const maxHead, maxTail = maxOutput / 3 * 2, maxOutput / 3
	if room := maxHead - o.head.Len(); room > 0 {
		n := min(room, len(p))
		o.head.Write(p[:n])
		p = p[n:]
	}
	o.tail.Write(p)
	if o.tail.Len() > 2*maxTail {
		o.tail.Next(o.tail.Len() - maxTail)
	}
}

func (o *output) text() string { return o.head.String() + o.tail.String() }

func (o *output) last() []string {
	text := o.text()
	text = text[max(0, len(text)-tailLines*1024):]
	lines := slices.DeleteFunc(slices.Collect(workload.Lines(text)), func(line string) bool { return strings.TrimSpace(line) == "" })
	return lines[max(0, len(lines)-tailLines):]
}

// WithoutMiddle leaves out whole lines in the middle of a text that is too long.
func WithoutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/3], text[len(text)-limit/3*2:]
	head = head[:strings.LastIndexByte(head, '\n')+1]
	tail = tail[strings.IndexByte(tail, '\n')+1:]
	return fmt.Sprintf("%s[%d bytes are left out here]\n%s", head, len(text)-len(head)-len(tail), tail)
}
