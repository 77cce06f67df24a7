// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	innodb "github.com/benchrun-dev/benchrun/internal/engine/innodb/client"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// load is what is measured: what the loader's own clients send (clientLoad), or what another program does (toolLoad). Its methods
// are called in this order, by a role.
type load interface {
	prepare(ctx context.Context) error
	// extras are the phases that not every load has. They are known after prepare, share without it.
	extras(w window) extras
	measure(ctx context.Context, w window) error
	// part is what this Pod measured; merge adds the parts of the other Pods.
	part() (*record.Part, error)
	merge(others []*record.Part) error
	verify(ctx context.Context) error
	// report adds to a document what this load knows. The findings about its clients need their number.
	report(doc *result.Document) (clients int, err error)
	close() error
}

// extras are phases by their place among the others.
type extras struct {
	// share replaces prepare in a Pod that leaves the data to the first one.
	share []phase
	// stage is before the server comes to rest, warmUp before the measured phase, after before the verification, and cleanUp
	// after it.
	stage, warmUp, after, cleanUp []phase
}

// window is the measured phase as the role has it, which knows the other Pods and who reads the server's counters.
type window interface {
	// together does something at the same time as the other Pods.
	together(ctx context.Context, do func(context.Context) error) error
	// begin is called when everything is ready to be measured. It returns when all Pods begin, with that moment; the zero time
	// is now.
	begin(ctx context.Context) (time.Time, error)
	end(ctx context.Context) error
}

func measuring(l load, w window) phase {
	return phase{"measure", func(ctx context.Context) error { return l.measure(ctx, w) }}
}

func failedChecks(checks []result.Check) error {
	var not []string
	for _, c := range checks {
		if !c.Passed {
			not = append(not, c.Name+": "+c.Detail)
		}
	}
	if len(not) == 0 {
		return nil
	}
	return failure.Newf(result.CauseCheckFailed, "a check failed: %s", strings.Join(not, "; "))
}

func checkErrors(cfg *result.Config, t result.Totals) error {
	share := t.ErrorRate().Value
	switch {
	case share <= float64(cfg.ErrorPercent):
		return nil
	case registry.IsTool(cfg):
		return failure.Newf(result.CauseTooManyErrors, "%.1f%% of all events, %d, were given up because of errors that sysbench "+
			"ignores (deadlocks, lock wait timeouts, changed rows, or those of mysql-ignore-errors) and begun anew; "+
			"limits.errorPercent allows %d%%", share, t.Errors, cfg.ErrorPercent)
	}
	return failure.Newf(result.CauseTooManyErrors, "%.1f%% of all transactions, %d, were rolled back because of deadlocks, lock "+
		"wait timeouts or changed rows and retried; limits.errorPercent allows %d%%", share, t.Errors, cfg.ErrorPercent)
}

// withErrors warns of transactions that the loader has tried again, or of events that a program has given up: more than 1%.
func withErrors(t result.Totals, byProgram bool) []finding.Finding {
	share := t.ErrorRate().Value
	switch {
	case share <= 1:
		return nil
	case byProgram:
		return []finding.Finding{finding.GivenUp(t.Errors, share)}
	}
	return []finding.Finding{finding.Retried(t.Errors, share)}
}

// NoopReport is what a workload costs the loader without a server: everything but the network.
type NoopReport struct {
	Rows       int64 `json:"rows"`
	Statements int64 `json:"statements"`
	// Bytes that would have been sent.
	Bytes         int64   `json:"bytes"`
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rowsPerSecond"`
	// CPUMicrosPerRow is user and system time.
	CPUMicrosPerRow float64 `json:"cpuMicrosPerRow"`
	MaxRSSBytes     int64   `json:"maxRSSBytes"`
}

// Noop measures the loader itself: the workload, as JSON of a result.Workload, runs with its sessions and its recorder
// against a sink that swallows what it is sent and answers at once. limit ends it; 0 is when all rows are sent.
func Noop(ctx context.Context, workloadJSON string, seed int64, limit time.Duration) (*NoopReport, error) {
	cfg := &result.Config{Seed: seed}
	dec := json.NewDecoder(strings.NewReader(workloadJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&cfg.Workload); err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	w, err := registry.New(cfg)
	if err != nil {
		return nil, err
	}
	planned, ok := w.(workload.Planned)
	if !ok {
		return nil, fmt.Errorf("workload %s needs a server to know its plan", cfg.Workload.Type)
	}
	plan := planned.Plan()
	if plan.Stage != nil {
		if err := plan.Stage(ctx); err != nil {
			return nil, err
		}
	}
	c := &clients{interrupt: func() {}}
	defer c.close()
	var sinks []*innodb.Sink
	config := mysql.NewConfig()
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		sinks = append(sinks, innodb.NewSink())
		return sinks[len(sinks)-1], nil
	}
	connections, err := innodb.NewBy(config)
	if err != nil {
		return nil, err
	}
	if err := c.open(ctx, connections, "noop", &plan); err != nil {
		return nil, err
	}
	out := progress.Start(io.Discard)
	defer out.Finish()
	var measured *record.Recorder
	facts, err := timed(ctx, len(c.sessions), atOnce, func(start time.Time) error {
		measured, _, err = c.run(ctx, w, start, limit, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	return noopReport(measured, facts, sinks), nil
}

func atOnce(context.Context) (time.Time, error) { return time.Time{}, nil }

func noopReport(measured *record.Recorder, facts result.ClientFacts, sinks []*innodb.Sink) *NoopReport {
	t := measured.Totals()
	r := &NoopReport{
		Rows: t.Rows, Statements: t.Statements, Seconds: max(measured.Ended(), time.Microsecond).Seconds(),
		CPUMicrosPerRow: float64(facts.UserMicros+facts.SystemMicros) / float64(max(t.Rows, 1)), MaxRSSBytes: facts.MaxRSSBytes,
	}
	r.RowsPerSecond = float64(t.Rows) / r.Seconds
	for _, s := range sinks {
		r.Bytes += s.Bytes
	}
	return r
}
