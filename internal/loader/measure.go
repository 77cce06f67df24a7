// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"time"
)

// garbagePercent lets the heap grow to nine times what is in use before it is collected. In use is next to nothing, and
// a statement leaves some 200 bytes: it is collected every few hundred thousand statements.
const garbagePercent = 800

// measure is the measured phase, with the server's counters and the loader's consumption around it.
func (a *attempt) measure(ctx context.Context) error {
	c := &clients{interrupt: a.connections.end}
	defer c.close()
	for range a.plan.Clients {
		s, err := newSession(ctx, a.target, a.plan.Setup)
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
	if err := a.timed(ctx, c); err != nil {
		return err
	}
	if a.server.StatusAfter, err = pairs(ctx, a.admin, queryStatus); err != nil {
		return err
	}
	up, err := uptime(a.server.StatusAfter)
	a.server.UptimeSeconds = int64(up.Seconds())
	return err
}

// timed runs the clients and reads what that cost.
func (a *attempt) timed(ctx context.Context, c *clients) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	runtime.GC()
	root := hostRoot()
	before, err := readUsage(root)
	if err != nil {
		return err
	}
	limit := time.Duration(a.cfg.LimitSeconds) * time.Second
	a.measured, a.stopped, err = c.run(ctx, a.workload, limit, a.progress)
	if err != nil {
		return err
	}
	after, err := readUsage(root)
	if err != nil {
		return err
	}
	a.client = after.facts(before)
	a.client.CPULimitMillis = a.cpuLimit
	a.client.CPUs = runtime.NumCPU()
	return nil
}
