// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/loader/usage"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// prepare makes the tool's data, unless an earlier trial left the same. A load that writes leaves none for later trials, which is
// noted before its first statement: whatever becomes of this attempt, no other one takes them for what they were.
func (l *toolLoad) prepare(ctx context.Context) error {
	dataset := l.tool.Dataset()
	if dataset.Name == "" {
		return l.prepareAnew(ctx, dataset)
	}
	l.about.Data = result.DataPrepared
	there, err := schema.HasDataset(ctx, l.db, l.dialect, dataset.Name)
	switch {
	case err != nil:
		return err
	case !there:
		return l.prepareAnew(ctx, dataset)
	}
	l.about.Data = result.DataKept
	if dataset.Spent {
		return schema.ForgetDataset(ctx, l.db)
	}
	return nil
}

func (l *toolLoad) prepareAnew(ctx context.Context, dataset workload.Dataset) error {
	if err := l.keeper.Clear(ctx); err != nil {
		return err
	}
	return l.keeper.Making(ctx, func(ctx context.Context) error {
		if err := l.executeAll(ctx, workload.PhasePrepare); err != nil || dataset.Name == "" || dataset.Spent && !l.cfg.CopyData {
			return err
		}
		if err := schema.RecordDataset(ctx, l.db, l.dialect, dataset.Name); err != nil || !l.cfg.CopyData {
			return err
		}
		if err := l.copyData(ctx); err != nil || !dataset.Spent {
			return err
		}
		return schema.ForgetDataset(ctx, l.db)
	})
}

// copyData has a copy of the data put aside, with which further servers begin. Without it, they prepare their data by themselves.
// The server is at rest before, so that it has nothing to recover when it begins with the copy.
func (l *toolLoad) copyData(ctx context.Context) error {
	if _, err := server.Quiesce(ctx, l.engine, l.dialect, l.admin, server.QuiesceAtMost); err != nil {
		return err
	}
	if _, err := observer.NewClient(l.cfg.Server).Copy(ctx); err != nil {
		l.findings = append(l.findings, finding.NotCopied(err.Error()))
		l.progress.Say(err.Error())
	}
	return ctx.Err()
}

func (l *toolLoad) extras(w window) extras {
	return extras{
		warmUp: []phase{{"warmup", func(ctx context.Context) error {
			return l.keeper.Making(ctx, func(ctx context.Context) error { return l.warmUp(ctx, w) })
		}}},
		cleanUp: []phase{{"cleanup", func(ctx context.Context) error { return l.executeAll(ctx, workload.PhaseCleanup) }}},
	}
}

// warmUp executes the tool's warm-up, if it has one, in all Pods at the same time.
func (l *toolLoad) warmUp(ctx context.Context, w window) error {
	if len(l.tool.Commands(workload.PhaseWarmup)) == 0 {
		return nil
	}
	return w.together(ctx, func(ctx context.Context) error { return l.executeAll(ctx, workload.PhaseWarmup) })
}

// measure implements load. A program may make tables at any time.
func (l *toolLoad) measure(ctx context.Context, w window) error {
	return l.keeper.Making(ctx, func(ctx context.Context) error { return l.time(ctx, w) })
}

// time executes the measured command, with the program's consumption around it.
func (l *toolLoad) time(ctx context.Context, w window) error {
	runtime.GC() // not while it measures
	start, err := w.begin(ctx)
	if err != nil {
		return err
	}
	throttled := usage.Throttled(usage.Root())
	e, err := l.execute(ctx, workload.PhaseMeasure, l.tool.Commands(workload.PhaseMeasure)[0])
	if err != nil {
		return err
	}
	after := usage.Usage{User: e.User, System: e.System, Throttled: usage.Throttled(usage.Root()), MaxRSSBytes: e.MaxRSSBytes}
	own := l.client.ThrottledMicros // in its turns
	l.client = after.Facts(usage.Usage{Throttled: throttled})
	if l.turns != nil {
		l.client.ThrottledMicros = own
	}
	l.client.CPULimitMillis, l.client.CPUs = l.cpuLimit, runtime.NumCPU()
	if !start.IsZero() {
		e.Began = e.Started.Sub(start)
	}
	if err := w.end(ctx); err != nil {
		return err
	}
	return l.read(&e.Execution)
}

func (l *toolLoad) read(executions ...*workload.Execution) error {
	reading, err := l.tool.Read(executions)
	if err != nil {
		return l.failed(executions[0], err)
	}
	l.reading, l.about.Version = reading, reading.Version
	return nil
}

// part implements load: what this Pod measured, and what it executed for that.
func (l *toolLoad) part() (*record.Part, error) {
	facts := l.facts(l.reading.Clients, l.reading.Totals)
	return &record.Part{Facts: facts, Loader: l.identity.Loader, Executed: l.executed}, nil
}

func (l *toolLoad) merge(others []*record.Part) error {
	executed := slices.Clone(l.executed)
	for _, p := range others {
		for _, other := range p.Executed {
			key := fmt.Sprintf("%s of Pod %d", other.Phase, p.Facts.Pod)
			if err := l.judge(other.Phase, key, other.Execution); err != nil {
				return err
			}
			executed = append(executed, other)
		}
	}
	var measured []*workload.Execution
	for _, e := range executed {
		if e.Phase == workload.PhaseMeasure {
			measured = append(measured, e.Execution)
		}
	}
	return l.read(measured...)
}

func (l *toolLoad) verify(ctx context.Context) error {
	if err := checkErrors(l.cfg, l.reading.Totals); err != nil {
		return err
	}
	checks, err := l.tool.Verify(ctx, workload.VerifyInput{
		DB: l.db, Reading: l.reading, Executed: server.Executed(l.engine, l.server.StatusBefore, l.server.StatusAfter),
	})
	if err != nil {
		return fmt.Errorf("verifying the data: %w", err)
	}
	l.checks = slices.Concat(l.checks, l.reading.Checks, checks)
	return l.executeAll(ctx, workload.PhaseVerify)
}

func (l *toolLoad) report(doc *result.Document) (clients int, err error) {
	r := l.reading
	doc.Totals, doc.Metrics, doc.Latencies, doc.Series = r.Totals, r.Metrics, r.Latencies, r.Series
	doc.Checks, doc.Findings = l.checks, r.Findings
	if l.keeper.Dropped() {
		doc.Findings = append(slices.Clone(doc.Findings), finding.Dropped(l.keeper.Schema()))
	}
	doc.Inputs, doc.Tool, doc.ToolOutput = l.inputs, &l.about, l.output
	if doc.Turns != nil {
		doc.Turns.Outside, doc.Turns.LongestDrainMicros = r.Outside, r.LongestDrain.Microseconds()
	}
	if n := r.Totals.Transactions + r.Outside.Transactions; n > 0 {
		const unit, suffix = "transaction", "PerTransaction"
		doc.Metrics = slices.Concat(r.Metrics, fsyncs(l.engine, l.server, n), clientCosts(l.client, n, unit, suffix),
			serverCosts(doc.Observed, n, unit, suffix))
	}
	doc.Metrics = append(slices.Clone(doc.Metrics), heldBack(doc.Observed, doc.Work())...)
	if clients = r.Clients; clients == 0 {
		clients = runtime.NumCPU()
	}
	return clients, nil
}
