// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// garbagePercent lets the heap grow to nine times what is in use before it is collected. In use is next to nothing but the
// statements, which are made in place, and a client leaves nothing: only who deletes and queries does.
const garbagePercent = 800

// measure is the measured phase. The Pod that leads reads the server's counters around it.
func (a *attempt) measure(ctx context.Context) error {
	c := &clients{interrupt: a.connections.End}
	defer c.close()
	for range a.plan.Clients {
		s, err := a.connections.Session(ctx, a.cfg.Server.Schema, a.plan.Setup)
		if err != nil {
			return err
		}
		c.sessions = append(c.sessions, s)
	}
	if len(c.sessions) == 0 {
		return errors.New("the workload has no client")
	}
	if a.follows() {
		return a.load(ctx, c)
	}
	if err := a.readSession(c.sessions[0]); err != nil {
		return err
	}
	if err := a.countBefore(ctx); err != nil {
		return err
	}
	if err := a.load(ctx, c); err != nil || a.barrier != nil {
		return err // of several Pods, others may still be loading
	}
	return a.countAfter(ctx)
}

// load is what is timed, with the loader's consumption around it.
func (a *attempt) load(ctx context.Context, c *clients) (err error) {
	a.milestones = startMilestones(ctx, a.db, a.plan.Milestones, a.cfg.Pods)
	c.milestones = a.milestones
	limit := time.Duration(a.cfg.LimitSeconds) * time.Second
	a.client, err = timed(ctx, len(c.sessions), a.barrier, func(start time.Time) (err error) {
		a.measured, a.stopped, err = c.run(ctx, a.workload, start, limit, a.progress)
		return err
	})
	a.client.CPULimitMillis = a.cpuLimit
	ended := time.Duration(0)
	if a.measured != nil {
		ended = a.measured.ended
	}
	return errors.Join(err, a.milestones.finish(ended))
}

// readSession notes how the measuring sessions differ from what the server says of itself.
func (a *attempt) readSession(s *conn.Session) (err error) {
	if a.server.Encryption, err = encryption(a.cfg.Server.TLS, s); err != nil {
		return err
	}
	own, err := s.Pairs("SHOW SESSION VARIABLES")
	if err != nil {
		return err
	}
	a.server.Session = sessionDifferences(a.engine, own, a.server.Variables)
	return nil
}

// encryption reads back from a session what it is encrypted with, for example "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty if it
// is not. Not what was asked is an error.
func encryption(asked string, s *conn.Session) (string, error) {
	status, err := s.Pairs("SHOW SESSION STATUS LIKE 'Ssl\\_%'")
	if err != nil {
		return "", err
	}
	agreed := strings.TrimSpace(status["Ssl_version"] + " " + status["Ssl_cipher"])
	if (asked != "") != (status["Ssl_cipher"] != "") {
		return "", failedf(result.FailureSetting, "tls: requested %q, the server says that the connection has %q", asked, agreed)
	}
	return agreed, nil
}

// countBefore and countAfter read the server's counters around what is measured.
func (a *attempt) countBefore(ctx context.Context) (err error) {
	a.server.StatusBefore, err = pairs(ctx, a.admin, queryStatus)
	return err
}

func (a *attempt) countAfter(ctx context.Context) (err error) {
	if a.server.StatusAfter, err = pairs(ctx, a.admin, queryStatus); err != nil {
		return err
	}
	up, err := uptime(a.server.StatusAfter)
	a.server.UptimeSeconds = int64(up.Seconds())
	return err
}

// timed lets so many clients run, when all Pods do, and reads what that cost.
func timed(ctx context.Context, clients int, all *barrier, run func(start time.Time) error) (result.ClientFacts, error) {
	// A client that waits for its answer keeps its thread, see socket: with one more of them than there are clients, none
	// waits for another.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(clients+1, runtime.GOMAXPROCS(0))))
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	runtime.GC()
	root := hostRoot()
	start := time.Time{}
	if all != nil {
		var err error
		if start, err = all.start(ctx); err != nil {
			return result.ClientFacts{}, err
		}
	}
	before, err := readUsage(root)
	if err != nil {
		return result.ClientFacts{}, err
	}
	if err := run(start); err != nil {
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
