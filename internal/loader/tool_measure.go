// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

// warmUpTool lets all Pods warm up at the same time.
func (a *attempt) warmUpTool(ctx context.Context) error {
	if a.barrier == nil || len(a.tool.Commands(workload.PhaseWarmup)) == 0 {
		return a.executeAll(ctx, workload.PhaseWarmup)
	}
	if _, err := a.barrier.start(ctx); err != nil {
		return err
	}
	if err := a.executeAll(ctx, workload.PhaseWarmup); err != nil || a.follows() {
		return err
	}
	return a.barrier.gather(ctx)
}

// measureTool is the measured phase, with the program's consumption around it. The Pod that leads reads the server's
// counters.
func (a *attempt) measureTool(ctx context.Context) (err error) {
	if !a.follows() {
		if err := a.countBefore(ctx); err != nil {
			return err
		}
	}
	runtime.GC() // not while it measures
	start := time.Time{}
	if a.barrier != nil {
		if start, err = a.barrier.start(ctx); err != nil {
			return err
		}
	}
	throttled := throttledTime(hostRoot())
	e, err := a.runProgram(ctx, workload.PhaseMeasure, a.tool.Commands(workload.PhaseMeasure)[0])
	if err != nil {
		return err
	}
	after := usage{user: e.user, system: e.system, throttled: throttledTime(hostRoot()), maxRSSBytes: e.maxRSSBytes}
	a.client = after.facts(usage{throttled: throttled})
	a.client.CPULimitMillis, a.client.CPUs = a.cpuLimit, runtime.NumCPU()
	if a.barrier != nil {
		e.Began = e.started.Sub(start)
	}
	if !a.follows() && a.barrier == nil {
		if err := a.countAfter(ctx); err != nil {
			return err
		}
	}
	return a.readTool(&e.Execution)
}

// readTool reads what this Pod measured, or all of them together.
func (a *attempt) readTool(executions ...*workload.Execution) error {
	reading, err := a.tool.Read(executions)
	if err != nil {
		return a.toolFailure(executions[0], err)
	}
	a.tool.reading, a.tool.facts.Version = reading, reading.Version
	return nil
}

// toolPart is what this Pod measured, and what it executed for that.
func (a *attempt) toolPart() *part {
	r := a.tool.reading
	return &part{Facts: a.facts(r.Clients, r.Totals), Loader: a.identity.Loader, Executed: a.tool.executed}
}

// mergeTools takes what other Pods executed as if it had been executed here, and reads all together.
func (a *attempt) mergeTools(others []*part) error {
	var measured []*workload.Execution
	note := func(phase workload.ToolPhase, e *workload.Execution) {
		if phase == workload.PhaseMeasure {
			measured = append(measured, e)
		}
	}
	for _, own := range a.tool.executed {
		note(own.Phase, own.Execution)
	}
	for _, p := range others {
		for _, other := range p.Executed {
			key := fmt.Sprintf("%s of Pod %d", other.Phase, p.Facts.Pod)
			if err := a.judge(other.Phase, key, other.Execution); err != nil {
				return err
			}
			note(other.Phase, other.Execution)
		}
	}
	return a.readTool(measured...)
}
