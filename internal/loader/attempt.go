// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// attempt is what every load and every role works with: what was asked, the connections, and what is known so far.
type attempt struct {
	cfg      *result.Config
	engine   *engine.Engine
	dialect  *dialect.Dialect
	identity result.Identity
	cpuLimit int64
	progress *progress.Progress

	connections *conn.Connections
	// anywhere connects to no schema, as admin does; db is connected to the workload's. Neither pool takes part in the measured
	// phase.
	anywhere  driver.Connector
	admin, db *sql.DB
	// keeper holds the schema, from connect on; nil in a Pod that follows.
	keeper *schema.Keeper
	// turns with other variants, once all are as far, and how many sides are in one document; nil and 0 if this is measured alone.
	turns *alternate.Side
	sides int
	// pagesInPauses are those that the server wrote back while others were measured; nil if that is not known.
	pagesInPauses *int64
	// idle is what the server's process used meanwhile; nil if that is not known.
	idle *result.Idle

	phases []result.Phase
	server result.ServerFacts
	client result.ClientFacts
	// pods are what each of several Pods did; the first one knows.
	pods     []result.PodFacts
	findings []finding.Finding
}

// newAttempt reads everything that can be wrong before the first connection. It fills in the identity as far as it
// gets. The workload is nil if another program makes the load.
func newAttempt(in *Input, out *progress.Progress) (*attempt, workload.Workload, error) {
	cfg, w, err := prepareConfig(in.Config, in.PodIndex)
	if cfg != nil {
		in.Identity.Trial, in.Identity.Attempt, in.Identity.Pod = cfg.Trial, cfg.Attempt, cfg.Pod
	}
	if err != nil {
		return nil, nil, err
	}
	if in.Identity.RunUID == "" || in.Identity.PodUID == "" {
		return nil, nil, fmt.Errorf("%s and %s must be set", result.EnvRunUID, result.EnvPodUID)
	}
	a := &attempt{cfg: cfg, identity: in.Identity, progress: out}
	if a.engine, err = engine.ByName(cfg.Server.Engine); err != nil {
		return nil, nil, err
	}
	a.dialect = dialect.Of(a.engine)
	if a.cpuLimit, err = cpuLimit(in.CPULimitMillis); err != nil {
		return nil, nil, err
	}
	if a.connections, err = conn.New(cfg.Server); err != nil {
		return nil, nil, err
	}
	if a.anywhere, err = a.connections.Connector(""); err != nil {
		return nil, nil, err
	}
	target, err := a.connections.Connector(cfg.Server.Schema)
	if err != nil {
		return nil, nil, err
	}
	a.admin, a.db = sql.OpenDB(a.anywhere), sql.OpenDB(target)
	return a, w, nil
}

// close gives the connections back. The result does not depend on it.
func (a *attempt) close() {
	_ = a.admin.Close()
	_ = a.db.Close()
}

// phase is one part of the work.
type phase struct {
	name string
	do   func(context.Context) error
}

// through goes through phases and takes the time of each.
func (a *attempt) through(ctx context.Context, phases ...phase) error {
	for _, p := range phases {
		a.progress.Enter(p.name)
		began := time.Now()
		err := p.do(ctx)
		a.phases = append(a.phases, result.Phase{Name: p.name, Micros: time.Since(began).Microseconds()})
		if err != nil {
			f := failure.Of(a.dialect, err)
			f.Where = a.progress.Where()
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

// wait waits until the server answers.
func (a *attempt) wait(ctx context.Context) error {
	err := conn.Wait(ctx, a.dialect, a.anywhere, a.connectAtMost())
	if a.dialect.Errors.TooManySessions(err) {
		return failure.New(result.CauseTooManyConnections, err)
	}
	return failure.New(result.CauseConnect, err)
}

// ownDemand makes it the fault of what was asked for if so many clients can never be connected at the same time: another attempt
// would end as this one.
func (a *attempt) ownDemand(ctx context.Context, err error, clients int) error {
	if err == nil || failure.Of(a.dialect, err).Reason != result.CauseTooManyConnections {
		return err
	}
	var most int
	if a.db.QueryRowContext(ctx, a.dialect.Server.MaxConnections).Scan(&most) != nil || clients*max(1, a.cfg.Pods) < most {
		return err
	}
	return failure.Newf(result.CauseSQL, "clients: %d, max_connections: %d: %w", clients*max(1, a.cfg.Pods), most, err)
}

func (a *attempt) connectAtMost() time.Duration {
	return time.Duration(a.cfg.ConnectSeconds) * time.Second
}

// facts are this Pod's part.
func (a *attempt) facts(clients int, t result.Totals) result.PodFacts {
	return result.PodFacts{
		Pod: a.cfg.Pod, PodUID: a.identity.PodUID, PodName: a.identity.PodName, Node: a.identity.Node,
		Clients: clients, Rows: t.Rows, Transactions: t.Transactions, Micros: t.Micros, Client: a.client,
	}
}
