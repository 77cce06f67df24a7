// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

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
	dec := json.NewDecoder(bytes.NewReader([]byte(workloadJSON)))
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
	var sinks []*conn.Sink
	dial := func(context.Context, string, string) (net.Conn, error) {
		sinks = append(sinks, conn.NewSink())
		return sinks[len(sinks)-1], nil
	}
	connections, err := conn.NewBy(mysql.NewConfig(), dial)
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

// atOnce begins now.
func atOnce(context.Context) (time.Time, error) { return time.Time{}, nil }

func noopReport(measured *record.Recorder, facts result.ClientFacts, sinks []*conn.Sink) *NoopReport {
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
