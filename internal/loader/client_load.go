// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

type clientLoad struct {
	*attempt
	workload workload.Workload
	plan     workload.Plan
	sessions []client.Session
	// warmed is what was done before the measured phase.
	warmed   result.Totals
	measured *record.Recorder
	slices   record.Slices
	stopped  result.StoppedBy
	// milestones of the measured phase, or nil.
	milestones *record.Milestones
	// bytes of the table with its indexes after the phases that follow the measured one; 0 or less if they are not known.
	bytes  int64
	checks []result.Check
}

func (l *clientLoad) prepare(ctx context.Context) error {
	if err := l.keeper.Clear(ctx); err != nil {
		return err
	}
	if err := l.keeper.Making(ctx, func(ctx context.Context) (err error) {
		l.plan, err = l.workload.Prepare(ctx, l.db)
		return err
	}); err != nil {
		return fmt.Errorf("preparing the workload's tables: %w", err)
	}
	l.findings = append(l.findings, l.plan.Findings...)
	return nil
}

// share leaves the tables to the Pod that leads.
func (l *clientLoad) share(context.Context) error {
	planned, ok := l.workload.(workload.Planned)
	if !ok {
		return fmt.Errorf("workload %s cannot be shared by several Pods", l.cfg.Workload.Type)
	}
	l.plan = planned.Plan()
	// One Pod asks for the sizes of the table.
	l.plan.Milestones.Sizes = ""
	return nil
}

func (l *clientLoad) extras(w window) extras {
	x := extras{share: []phase{{"prepare", l.share}}}
	if l.plan.Stage != nil {
		x.stage = []phase{{"stage", l.plan.Stage}}
	}
	if c, ok := l.workload.(workload.Continued); ok {
		if whole, _ := c.Before(); whole > 0 {
			x.warmUp = []phase{{"warmup", func(ctx context.Context) error {
				return w.together(ctx, func(ctx context.Context) error { return l.begin(ctx, c) })
			}}}
		}
	}
	for _, after := range l.plan.After {
		x.after = append(x.after, phase{after.Name, l.execute(after.Statements)})
	}
	if l.plan.Milestones.Sizes != "" {
		x.after = append(x.after, phase{"sizes", l.readSizes})
	}
	return x
}

// readSizes is a phase in which the server says how large the table is, when nothing is written to it any more.
func (l *clientLoad) readSizes(ctx context.Context) (err error) {
	if err := l.execute(l.plan.Milestones.Count)(ctx); err != nil {
		return err
	}
	l.bytes, err = l.milestones.Bytes()
	return err
}

func (l *clientLoad) measure(ctx context.Context, w window) error {
	c, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	if err := l.readSession(c.sessions[0]); err != nil {
		return err
	}
	if err := l.runClients(ctx, c, w); err != nil {
		return err
	}
	return w.end(ctx)
}

func (l *clientLoad) open(ctx context.Context) (*clients, error) {
	c := &clients{
		sessions: l.sessions, interrupt: l.connections.End, tryAgain: l.dialect.Errors.TryAgain, turns: l.turns, between: l.between,
	}
	if err := c.open(ctx, l.connections, l.cfg.Server.Schema, &l.plan); err != nil {
		// The server may have no connection left to be asked by.
		c.close()
		return nil, l.ownDemand(ctx, err, l.plan.Clients)
	}
	l.sessions = c.sessions
	return c, nil
}

// runClients is what is timed, with the loader's consumption around it.
func (l *clientLoad) runClients(ctx context.Context, c *clients, w window) (err error) {
	l.milestones = record.StartMilestones(ctx, l.db, l.plan.Milestones, l.cfg.Pods)
	c.milestones = l.milestones
	limit := time.Duration(cmp.Or(l.cfg.LimitSeconds, l.plan.Seconds)) * time.Second
	l.client, err = timed(ctx, len(c.sessions), w.begin, func(start time.Time) (err error) {
		l.measured, l.stopped, err = c.run(ctx, l.workload, start, limit, l.progress)
		return err
	})
	if c.pauses != nil {
		l.client, err = c.pauses.cost.facts, cmp.Or(err, c.pauses.cost.err)
	}
	l.client.CPUs, l.client.CPULimitMillis = runtime.NumCPU(), l.cpuLimit
	for _, s := range c.sessions {
		l.client.LateAnswers += s.LateAnswers()
	}
	l.slices = c.slices
	l.paused(c.pauses)
	ended := time.Duration(0)
	if l.measured != nil {
		ended = l.measured.Ended()
	}
	return errors.Join(err, l.milestones.Finish(ended))
}

// readSession notes how the measuring sessions differ from what the server says of itself.
func (l *clientLoad) readSession(s client.Session) (err error) {
	if l.server.Encryption, err = encryption(l.dialect, l.cfg.Server.TLS, s); err != nil {
		return err
	}
	own, err := s.Pairs(l.dialect.Server.SessionVariables)
	if err != nil {
		return err
	}
	l.server.Session = server.SessionDifferences(l.engine, own, l.server.Variables)
	return nil
}

// encryption reads back from a session what it is encrypted with, for example "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty if it
// is not. Not what was requested is an error.
func encryption(d *client.Dialect, requested string, s client.Session) (string, error) {
	status, err := s.Pairs(d.Server.Encryption)
	if err != nil {
		return "", err
	}
	cipher := status[d.Server.EncryptionCipher]
	agreed := strings.TrimSpace(status[d.Server.EncryptionVersion] + " " + cipher)
	if (requested != "") != (cipher != "") {
		return "", failure.Newf(result.CauseSettingNotEffective,
			"tls: requested %q, but the server reports %q for the connection", requested, agreed)
	}
	return agreed, nil
}

func (l *clientLoad) part() (*record.Part, error) {
	p, err := l.measured.Part(l.milestones)
	if err != nil {
		return nil, err
	}
	p.StoppedBy = l.stopped
	p.Facts, p.Loader = l.facts(l.plan.Clients, p.Totals), l.identity.Loader
	p.Facts.WarmupRows = l.warmed.Rows
	return p, nil
}

func (l *clientLoad) merge(others []*record.Part) error {
	for _, p := range others {
		r, err := p.Recorder()
		if err != nil {
			return failure.New(result.CauseInternal, err)
		}
		l.measured.Merge(r)
		if p.StoppedBy == result.StoppedBySeconds {
			l.stopped = p.StoppedBy
		}
	}
	return l.milestones.Merge(others, l.measured.Totals().Rows, l.measured.Ended())
}

func (l *clientLoad) verify(ctx context.Context) error {
	err := checkErrors(l.cfg, l.totals())
	if err != nil {
		return err
	}
	rows, totals := l.rowsOfPods(), l.measured.All()
	totals.Rows, totals.RowsDeleted = 0, totals.RowsDeleted+l.warmed.RowsDeleted
	for _, n := range rows {
		totals.Rows += n
	}
	if l.checks, err = l.workload.Verify(ctx, l.db, totals, rows); err != nil {
		return fmt.Errorf("verifying the data: %w", err)
	}
	return failedChecks(l.checks)
}

// rowsOfPods are the rows that each Pod has sent, also before the measured phase.
func (l *clientLoad) rowsOfPods() []int64 {
	if len(l.pods) == 0 {
		return []int64{l.warmed.Rows + l.measured.All().Rows}
	}
	var rows []int64
	for _, p := range l.pods {
		rows = append(rows, p.WarmupRows+p.Rows)
	}
	return rows
}

func (l *clientLoad) totals() result.Totals {
	t := l.measured.Totals()
	took := l.measured.Ended()
	switch {
	case l.slices.Counted > 0:
		took = l.slices.Counted
	case l.slices.Outside > 0: // it was over before its first slice had come to a steady state: that is all there is
		t, took = l.measured.All(), l.slices.Outside
	}
	t.Micros, t.StoppedBy = max(took.Microseconds(), 1), l.stopped
	if l.plan.Rows > 0 && l.measured.All().Rows == l.plan.Rows {
		// One client's time was over when another one took the last rows.
		t.StoppedBy = result.StoppedByRows
	}
	return t
}

// outside is what was done in the measured phase and is not in totals.
func (l *clientLoad) outside() result.Totals {
	if l.slices.Counted == 0 {
		return result.Totals{}
	}
	t := l.measured.Outside()
	t.Micros = l.slices.Outside.Microseconds()
	return t
}

func (*clientLoad) close() error { return nil }
