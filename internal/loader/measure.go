// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// garbagePercent lets the heap grow to nine times what is in use before it is collected. In use is next to nothing but the
// statements, which are made in place, and a client leaves nothing: only who deletes and queries does.
const garbagePercent = 800

// measure is the measured phase, with the server's counters and the loader's consumption around it.
func (a *attempt) measure(ctx context.Context) error {
	c := &clients{interrupt: a.connections.end}
	defer c.close()
	for range a.plan.Clients {
		s, err := newSession(ctx, a.connections, a.cfg.Server.Schema, a.plan.Setup)
		if err != nil {
			return err
		}
		c.sessions = append(c.sessions, s)
	}
	if len(c.sessions) == 0 {
		return errors.New("the workload has no client")
	}
	var err error
	if a.server.Encryption, err = encryption(a.cfg.Server.TLS, c.sessions[0]); err != nil {
		return err
	}
	own, err := c.sessions[0].pairs("SHOW SESSION VARIABLES")
	if err != nil {
		return err
	}
	a.server.Session = sessionDifferences(own, a.server.Variables)
	if a.server.StatusBefore, err = pairs(ctx, a.admin, queryStatus); err != nil {
		return err
	}
	a.milestones = startMilestones(ctx, a.db, a.plan.Milestones)
	c.milestones = a.milestones
	a.client, err = timed(len(c.sessions), func() error {
		a.measured, a.stopped, err = c.run(ctx, a.workload, time.Duration(a.cfg.LimitSeconds)*time.Second, a.progress)
		return err
	})
	ended := time.Duration(0)
	if a.measured != nil {
		ended = a.measured.ended
	}
	if err := errors.Join(err, a.milestones.finish(ended)); err != nil {
		return err
	}
	a.client.CPULimitMillis = a.cpuLimit
	if a.server.StatusAfter, err = pairs(ctx, a.admin, queryStatus); err != nil {
		return err
	}
	up, err := uptime(a.server.StatusAfter)
	a.server.UptimeSeconds = int64(up.Seconds())
	return err
}

// timed lets so many clients run and reads what that cost.
func timed(clients int, run func() error) (result.ClientFacts, error) {
	// A client that waits for its answer keeps its thread, see socket: with one more of them than there are clients, none
	// waits for another.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(clients+1, runtime.GOMAXPROCS(0))))
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	runtime.GC()
	root := hostRoot()
	before, err := readUsage(root)
	if err != nil {
		return result.ClientFacts{}, err
	}
	if err := run(); err != nil {
		return result.ClientFacts{}, err
	}
	after, err := readUsage(root)
	if err != nil {
		return result.ClientFacts{}, err
	}
	facts := after.facts(before)
	facts.CPUs = runtime.NumCPU()
	return facts, nil
}
