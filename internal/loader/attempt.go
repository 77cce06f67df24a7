// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

type attempt struct {
	cfg      *result.Config
	engine   *engine.Engine
	dialect  *client.Dialect
	identity result.Identity
	cpuLimit int64
	progress *progress.Progress

	connections client.Opener
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
	// slices are what counts of each.
	slices []result.Slice

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
	a.dialect = conn.Dialect(a.engine)
	if a.cpuLimit, err = cpuLimit(in.CPULimitMillis); err != nil {
		return nil, nil, err
	}
	if a.connections, err = conn.Open(cfg.Server); err != nil {
		return nil, nil, err
	}
	if a.anywhere, err = a.connections.Connector(""); err != nil {
		return nil, nil, err
	}
	target, err := a.connections.Connector(cfg.Server.Schema)
	if err != nil {
		return nil, nil, err
	}
	patiently := func(c driver.Connector) *sql.DB { return sql.OpenDB(conn.Patient(c, a.dialect, a.connectAtMost())) }
	a.admin, a.db = patiently(a.anywhere), patiently(target)
	return a, w, nil
}

// close gives the connections back. The result does not depend on it.
func (a *attempt) close() {
	_ = a.admin.Close()
	_ = a.db.Close()
}

type phase struct {
	name string
	do   func(context.Context) error
}

func (a *attempt) through(ctx context.Context, phases ...[]phase) error {
	for _, p := range slices.Concat(phases...) {
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
		return workload.Execute(ctx, conn, statements...)
	}
}

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

func (a *attempt) facts(clients int, t result.Totals) result.PodFacts {
	return result.PodFacts{
		Pod: a.cfg.Pod, PodUID: a.identity.PodUID, PodName: a.identity.PodName, Node: a.identity.Node,
		Clients: clients, Rows: t.Rows, Transactions: t.Transactions, Micros: t.Micros, Client: a.client,
	}
}

// maxLimitSeconds, which are 180 days, and maxPods are the API's.
const maxLimitSeconds, maxPods = 180 * 24 * 3600, 64

var (
	schemaName  = regexp.MustCompile(`^[A-Za-z0-9_]{1,50}$`) // with room for a prefix in the name of a lock
	settingName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
)

// validate finds what would otherwise fail later, or not fail and measure something else. The error is for the person
// who wrote the run.
func validate(cfg *result.Config) error {
	if err := validateServer(&cfg.Server); err != nil {
		return err
	}
	if cfg.Trial < 1 || cfg.Attempt < 1 {
		return fmt.Errorf("trial %d, attempt %d: both count from 1", cfg.Trial, cfg.Attempt)
	}
	for i, setting := range cfg.Settings {
		if !settingName.MatchString(setting.Name) {
			return fmt.Errorf("setting %d has the name %q, which is not the name of a variable", i+1, setting.Name)
		}
	}
	return cmp.Or(
		workload.Within("limitSeconds", cfg.LimitSeconds, 0, maxLimitSeconds),
		workload.Within("primeSeconds", cfg.PrimeSeconds, 0, maxLimitSeconds),
		workload.Within("pods", cfg.Pods, 0, maxPods), workload.AtLeast("connectSeconds", cfg.ConnectSeconds, 1),
	)
}

func validateServer(s *result.Server) error {
	e, err := engine.ByName(s.Engine)
	if err != nil {
		return err
	}
	if err := validateAddress(s); err != nil {
		return err
	}
	switch {
	case s.UserFile == "" || s.PasswordFile == "":
		return errors.New("the files with the server's user and password are not named")
	case !schemaName.MatchString(s.Schema):
		return fmt.Errorf("schema is %q but must be 1 to 50 letters, digits and underscores", s.Schema)
	case s.TLS != "" && s.TLS != result.TLSRequired && s.TLS != result.TLSVerifyIdentity:
		return fmt.Errorf("tls is %q but must be empty, %s or %s", s.TLS, result.TLSRequired, result.TLSVerifyIdentity)
	}
	for _, taken := range e.SystemSchemas {
		if strings.EqualFold(s.Schema, taken) {
			return fmt.Errorf("schema %s belongs to the server: name another schema", taken)
		}
	}
	return nil
}

func validateAddress(s *result.Server) error {
	switch {
	case s.Host == "":
		return errors.New("the server's host is empty")
	case s.Port < 1 || s.Port > 65535:
		return fmt.Errorf("the server's port is %d but must be 1 to 65535", s.Port)
	case s.ObserverPort < 0 || s.ObserverPort > 65535:
		return fmt.Errorf("the observer's port is %d but must be 0 to 65535", s.ObserverPort)
	case s.Socket != "" && !filepath.IsAbs(s.Socket):
		return fmt.Errorf("the server's socket is %q but must be an absolute path", s.Socket)
	case s.Socket != "" && s.TLS != "":
		return errors.New("connections by a Unix socket are not encrypted: tls must be empty")
	}
	return nil
}

// prepareConfig parses and checks the configuration, and makes its workload, which is nil if another program makes the load.
func prepareConfig(data, podIndex string) (*result.Config, workload.Workload, error) {
	if data == "" {
		return nil, nil, fmt.Errorf("the environment variable %s is empty", result.EnvConfig)
	}
	cfg, err := result.ParseConfig([]byte(data))
	if err != nil {
		return nil, nil, err
	}
	if podIndex != "" {
		if cfg.Pod, err = strconv.Atoi(podIndex); err != nil {
			return cfg, nil, fmt.Errorf("%s is %q but must be a number", result.EnvPodIndex, podIndex)
		}
	}
	var w workload.Workload
	if err = validate(cfg); err == nil && !registry.IsTool(cfg) {
		w, err = registry.New(cfg)
	}
	if err != nil {
		return cfg, nil, fmt.Errorf("checking the loader's configuration: %w", err)
	}
	return cfg, w, nil
}

func cpuLimit(text string) (int64, error) {
	millis, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
	if err != nil || millis < 0 {
		return 0, fmt.Errorf("%s is %q but must be a number of thousandths of a CPU", result.EnvCPULimitMillis, text)
	}
	return millis, nil
}
