// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// attempt is one attempt at a trial: what was asked, what it works with, and what is known so far.
type attempt struct {
	cfg    *result.Config
	engine *engine.Engine
	// workload makes the load, or tool does.
	workload workload.Workload
	tool     *toolAttempt
	identity result.Identity
	cpuLimit int64
	progress *progress

	connections *conn.Connections
	// anywhere connects to no schema, target to the workload's.
	anywhere, target driver.Connector
	// admin and db are the same with a pool. Neither takes part in the measured phase.
	admin, db *sql.DB
	// keeper holds the schema, from connect on; that of the Pod that leads.
	keeper *keeper
	// barrier of several Pods, or nil.
	barrier *barrier
	plan    workload.Plan

	// began is when firstStatus was read.
	began       time.Time
	firstStatus map[string]string

	phases []result.Phase
	server result.ServerFacts
	client result.ClientFacts
	// pods are what each of several Pods did.
	pods     []result.PodFacts
	measured *recorder
	stopped  result.StoppedBy
	// milestones of the measured phase, or nil.
	milestones *milestones
	checks     []result.Check
	warnings   []string
}

// newAttempt reads everything that can be wrong before the first connection. It fills in the identity as far as it
// gets.
func newAttempt(in *Input, out *progress) (*attempt, error) {
	cfg, w, err := prepareConfig(in.Config, in.PodIndex)
	if cfg != nil {
		in.Identity.Trial, in.Identity.Attempt, in.Identity.Pod = cfg.Trial, cfg.Attempt, cfg.Pod
	}
	if err != nil {
		return nil, err
	}
	if in.Identity.RunUID == "" || in.Identity.PodUID == "" {
		return nil, fmt.Errorf("%s and %s must say whose attempt this is", result.EnvRunUID, result.EnvPodUID)
	}
	a := &attempt{cfg: cfg, workload: w, identity: in.Identity, progress: out}
	if a.engine, err = engine.ByName(cfg.Server.Engine); err != nil {
		return nil, err
	}
	if a.cpuLimit, err = cpuLimit(in.CPULimitMillis); err != nil {
		return nil, err
	}
	if a.connections, err = conn.New(cfg.Server); err != nil {
		return nil, err
	}
	if a.anywhere, err = a.connections.Connector(""); err != nil {
		return nil, err
	}
	if a.target, err = a.connections.Connector(cfg.Server.Schema); err != nil {
		return nil, err
	}
	if w == nil {
		if a.tool, err = newToolAttempt(cfg); err != nil {
			return nil, err
		}
	}
	a.admin, a.db = sql.OpenDB(a.anywhere), sql.OpenDB(a.target)
	a.barrier = a.newBarrier()
	return a, nil
}

// close gives the connections back. The result does not depend on it.
func (a *attempt) close() {
	_ = a.admin.Close()
	_ = a.db.Close()
	if a.tool != nil {
		_ = a.tool.close()
	}
}

// run goes through the phases.
func (a *attempt) run(ctx context.Context) error {
	switch {
	case a.follows():
		return a.through(ctx, a.followerPhases()...)
	case a.tool != nil:
		return a.through(ctx, a.toolPhases()...)
	}
	if err := a.through(ctx, phase{"connect", a.connect}, phase{"readback", a.readback}, phase{"prepare", a.prepare}); err != nil {
		return err
	}
	var planned []phase
	if a.plan.Stage != nil {
		planned = append(planned, phase{"stage", a.plan.Stage})
	}
	if a.barrier != nil {
		planned = append(planned, phase{"gather", a.barrier.gather})
	}
	planned = append(planned, phase{"quiesce", a.quiesce}, phase{"measure", a.measure})
	if a.barrier != nil {
		planned = append(planned, phase{"collect", a.collect})
	}
	for _, after := range a.plan.After {
		planned = append(planned, phase{after.Name, a.execute(after.Statements)})
	}
	return a.through(ctx, append(planned, phase{"verify", a.verify})...)
}

// phase is one part of the work.
type phase struct {
	name string
	do   func(context.Context) error
}

// through goes through phases and takes the time of each.
func (a *attempt) through(ctx context.Context, phases ...phase) error {
	for _, p := range phases {
		a.progress.enter(p.name)
		began := time.Now()
		err := p.do(ctx)
		a.phases = append(a.phases, result.Phase{Name: p.name, Micros: time.Since(began).Microseconds()})
		if err != nil {
			f := sqlFailure(a.engine, err)
			f.where = a.progress.where()
			return f
		}
	}
	return nil
}

// execute is a phase of statements that the workload asked for.
func (a *attempt) execute(statements []string) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		conn, err := a.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		for _, statement := range statements {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("executing %s: %w", statement, err)
			}
		}
		return nil
	}
}

// connect waits for the server and takes the schema for this attempt.
func (a *attempt) connect(ctx context.Context) error {
	if err := conn.Wait(ctx, a.anywhere, a.connectAtMost()); err != nil {
		return failed(result.FailureConnect, err)
	}
	var err error
	a.keeper, err = acquire(ctx, a.admin, a.cfg.Server.Schema, a.identity, a.connectAtMost())
	return err
}

// readback compares the requested settings with the server's before anything is measured.
func (a *attempt) readback(ctx context.Context) error {
	var err error
	a.began = time.Now()
	if a.firstStatus, err = pairs(ctx, a.admin, queryStatus); err != nil {
		return err
	}
	if a.server.Variables, err = globalVariables(ctx, a.engine, a.admin); err != nil {
		return err
	}
	a.server.Version = a.server.Variables[a.engine.Variables.Version]
	a.server.VersionComment = a.server.Variables[a.engine.Variables.VersionComment]
	a.server.SettingsDigest = settingsDigest(a.engine, a.server.Variables)
	a.server.Settings = compareSettings(a.engine, a.cfg.Settings, a.server.Variables)
	return refusedSettings(a.engine, a.cfg.Settings, a.server.Settings, a.server.Variables)
}

// prepare makes the workload's tables.
func (a *attempt) prepare(ctx context.Context) error {
	var err error
	if a.plan, err = a.workload.Prepare(ctx, a.db); err != nil {
		return fmt.Errorf("preparing the workload's tables: %w", err)
	}
	a.warnings = append(a.warnings, a.plan.Warnings...)
	return nil
}

// quiesce waits until the server is at rest.
func (a *attempt) quiesce(ctx context.Context) error {
	warning, err := quiesce(ctx, a.engine, a.admin)
	if warning != "" {
		a.warnings = append(a.warnings, warning)
	}
	return err
}

// verify finds out whether the server has what was sent, and whether it is still the server that it was.
func (a *attempt) verify(ctx context.Context) error {
	if err := a.verifyServer(ctx); err != nil {
		return err
	}
	var err error
	if a.checks, err = a.workload.Verify(ctx, a.db, a.totals(), a.rowsOfPods()); err != nil {
		return fmt.Errorf("verifying the data: %w", err)
	}
	return failedChecks(a.checks)
}

// verifyServer finds out whether it is still the server that it was, with the variables that it had. The keeper's connection
// is the proof of the first: no server that was restarted, and none behind the same address, has it.
func (a *attempt) verifyServer(ctx context.Context) error {
	if err := a.keeper.holds(ctx); err != nil {
		return a.explain(ctx, err)
	}
	variables, err := globalVariables(ctx, a.engine, a.admin)
	if err != nil {
		return err
	}
	if changed := changedVariables(a.engine, a.server.Variables, variables); len(changed) > 0 {
		return failedf(result.FailureVariablesChanged, "variables changed during the attempt: %s",
			strings.Join(changed, "; "))
	}
	return nil
}

// explain finds out whether a connection was lost because the server was restarted; err if not, or if nobody knows.
func (a *attempt) explain(ctx context.Context, err error) error {
	status, unknown := pairs(ctx, a.admin, queryStatus)
	between := time.Since(a.began)
	was, unknownBefore := uptime(a.firstStatus)
	is, unknownAfter := uptime(status)
	if errors.Join(unknown, unknownBefore, unknownAfter) != nil || !restarted(was, is, between) {
		return err
	}
	return failed(result.FailureServerRestarted, fmt.Errorf("the server was up for %s when the attempt began, and %s later "+
		"for %s: %w", was, between.Round(time.Second), is, err))
}
