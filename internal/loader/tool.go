// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

type toolLoad struct {
	*attempt
	tool    workload.Tool
	dir     string
	about   result.ToolFacts
	inputs  []result.Input
	output  map[string]string
	reading *workload.Reading
	checks  []result.Check
	// executed is what this Pod executed in the phases that several Pods share.
	executed []record.Execution
}

// newToolLoad makes the tool's folder and fills it. close removes it.
func newToolLoad(a *attempt) (*toolLoad, error) {
	user, err := client.ReadCredential(a.cfg.Server.UserFile)
	if err != nil {
		return nil, err
	}
	password, err := client.ReadCredential(a.cfg.Server.PasswordFile)
	if err != nil {
		return nil, err
	}
	database := ""
	if a.engine.Databases {
		if database, err = client.Database(a.cfg.Server); err != nil {
			return nil, err
		}
	}
	parent := result.WorkPath
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = "" // outside of a Pod
	}
	dir, err := os.MkdirTemp(parent, "tool-")
	if err != nil {
		return nil, fmt.Errorf("making the tool's folder: %w", err)
	}
	l := &toolLoad{attempt: a, dir: dir, output: map[string]string{}}
	if err := l.fill(workload.ToolInput{
		Config: a.cfg, Dir: dir, User: user, Password: password, Database: database, Sides: a.sides, Environ: os.Environ(),
	}); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *toolLoad) fill(in workload.ToolInput) (err error) {
	if l.tool, err = registry.NewTool(in); err != nil {
		return err
	}
	for name, content := range l.tool.Files() {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("writing the tool's files: %w", err)
		}
	}
	l.about.Name = l.tool.Name()
	l.inputs, err = inputs(&in.Config.Workload)
	return err
}

func (l *toolLoad) close() error { return os.RemoveAll(l.dir) }

func inputs(w *result.Workload) ([]result.Input, error) {
	if w.FilesPath == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(w.FilesPath)
	if err != nil {
		return nil, fmt.Errorf("looking for the run's files: %w", err)
	}
	var all []result.Input
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue // the kubelet's own links
		}
		data, err := os.ReadFile(filepath.Join(w.FilesPath, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the run's files: %w", err)
		}
		all = append(all, result.InputOf(entry.Name(), data))
	}
	return all, nil
}

func (l *toolLoad) executeAll(ctx context.Context, phase workload.ToolPhase) error {
	for _, command := range l.tool.Commands(phase) {
		if _, err := l.execute(ctx, phase, command); err != nil {
			return err
		}
	}
	return failedChecks(l.checks)
}

func (l *toolLoad) execute(ctx context.Context, phase workload.ToolPhase, command workload.Command) (*process.Execution, error) {
	do := process.Execute
	if phase == workload.PhaseMeasure && l.turns != nil {
		do = l.inTurns
	}
	e, err := do(ctx, command, func(line string) {
		if text := l.tool.Progress(line); text != "" && l.turns == nil { // otherwise, its rates have the pauses in them
			l.progress.Note(text)
		}
	})
	if err != nil {
		return nil, failure.New(result.CauseToolFailed, err)
	}
	if phase == workload.PhaseWarmup || phase == workload.PhaseMeasure {
		l.executed = append(l.executed, record.Execution{Phase: phase, Execution: &e.Execution})
	}
	return e, l.judge(phase, string(phase), &e.Execution)
}

func (l *toolLoad) judge(phase workload.ToolPhase, key string, e *workload.Execution) error {
	l.about.Commands = append(l.about.Commands, result.ToolCommand{
		Phase: key, Args: e.Args, ExitCode: e.ExitCode, Micros: e.Took.Microseconds(),
	})
	l.output[key] = process.WithoutMiddle(l.output[key]+e.Output, 1<<20)
	checks, err := l.tool.Judge(phase, e)
	if err != nil {
		return l.failed(e, err)
	}
	l.checks = append(l.checks, checks...)
	return nil
}

// failed tells a tool that failed from one whose server was taken away. Its last lines go to the Pod's log, whole: the
// failure's message has room for some of them only.
func (l *toolLoad) failed(e *workload.Execution, err error) error {
	for _, line := range e.Tail {
		l.progress.Quote(result.Truncate(line, 4<<10))
	}
	if errors.Is(err, workload.ErrConnectionLost) {
		return failure.New(result.CauseConnectionLost, err)
	}
	return failure.New(result.CauseToolFailed, err)
}

// inSlices is the error that a load cannot be measured in slices.
func inSlices(r role, l load) error {
	if _, only := r.(*only); !only {
		return errors.New("it is measured in stages, or by several Pods")
	}
	program, is := l.(*toolLoad)
	if !is {
		return nil
	}
	sliced, is := program.tool.(workload.Sliced)
	if !is {
		return errors.New("nobody counts what its program does in one")
	}
	_, _, err := sliced.Sliced()
	return err
}

// inTurns executes the measured command in this side's turns.
func (l *toolLoad) inTurns(ctx context.Context, command workload.Command, watch func(string)) (*process.Execution, error) {
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	h := &record.Halting{Failed: failed}
	var err error
	if h.Clients, h.Limit, err = l.tool.(workload.Sliced).Sliced(); err != nil {
		return nil, err
	}
	own := int64(0) // what was asked here
	h.Statements = func() (int64, error) {
		own++
		n, err := server.Counter(ctx, l.dialect, l.admin, l.engine.Counters.Statements)
		return n - own, err
	}
	h.Idle = func() (bool, error) {
		own++
		busy, err := server.Busy(ctx, l.dialect, l.admin, l.cfg.Server.Schema)
		if busy == 0 || err != nil {
			return err == nil, err
		}
		// Those that wait for a lock wait for another client of the program, which is halted.
		own++
		waiting, err := server.Counter(ctx, l.dialect, l.admin, l.engine.Counters.LockWaits)
		return busy <= waiting, err
	}
	h.Begin()
	p, err := process.Start(ctx, command, watch)
	if err != nil {
		return nil, err
	}
	finished := make(chan struct{})
	h.Program, h.Ended = p, finished
	pauses := l.between(ctx, h, h.Counted)
	ended := pauses.alternate(ctx, l.turns, finished, failed)
	e, err := p.Wait(ctx)
	ended()
	if err != nil {
		return nil, err
	}
	e.Slices = h.Slices()
	l.client.ThrottledMicros = pauses.cost.facts.ThrottledMicros
	l.paused(pauses)
	return e, context.Cause(ctx)
}
