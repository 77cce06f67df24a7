// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

const (
	quiesceEvery = 100 * time.Millisecond
	// quiesceAtMost is when a server that does not come to rest is measured nevertheless, with a warning.
	quiesceAtMost = 60 * time.Second
	// steadyPolls is for how many polls a gauge must not have fallen to count as settled: the server leaves the rest for
	// later, and would do so whenever the measuring begins.
	steadyPolls = 5
)

// gauge is something that falls while a server works off what was before.
type gauge struct {
	engine.Gauge
	lowest int64
	seen   bool
	// steady counts the polls without a new lowest value.
	steady int
}

// observe takes the next value and says whether the gauge is at rest: it is low, or does not fall any more.
func (g *gauge) observe(value, low int64) bool {
	if !g.seen || value < g.lowest {
		g.lowest, g.seen, g.steady = value, true, 0
	} else {
		g.steady++
	}
	return value <= low || g.steady >= steadyPolls
}

// restWatch decides when a server is at rest: what it still has to write and to purge is little, or does not get less.
type restWatch struct {
	counters *engine.Counters
	falling  []gauge
}

func newRestWatch(e *engine.Engine) *restWatch {
	w := &restWatch{counters: &e.Counters}
	for _, g := range e.Counters.Falling {
		w.falling = append(w.falling, gauge{Gauge: g})
	}
	return w
}

// observe takes a reading of the status counters and says what is not at rest. A counter that the server does not have
// is left out.
func (w *restWatch) observe(status map[string]string) []string {
	var busy []string
	for i := range w.falling {
		g := &w.falling[i]
		low := g.Low
		if total, err := strconv.ParseInt(status[g.HundredthOf], 10, 64); err == nil {
			low = total / 100
		}
		value, err := strconv.ParseInt(status[g.Counter], 10, 64)
		if err == nil && !g.observe(value, low) {
			busy = append(busy, fmt.Sprintf("%d %s", value, g.Description))
		}
	}
	for _, name := range w.counters.Pending {
		if value := status[name]; value != "" && value != "0" {
			busy = append(busy, fmt.Sprintf("%s is %s", name, value))
		}
	}
	return busy
}

// Quiesce waits until the server is at rest. It changes nothing on the server. The warning is not empty if the server
// did not come to rest in time.
func Quiesce(ctx context.Context, e *engine.Engine, db *sql.DB) (warning string, err error) {
	began := time.Now()
	watch := newRestWatch(e)
	for {
		status, err := restStatus(ctx, e, db)
		if err != nil {
			return "", err
		}
		busy := watch.observe(status)
		if len(busy) == 0 {
			return "", nil
		}
		if time.Since(began) > quiesceAtMost {
			return fmt.Sprintf("the server did not come to rest within %s: %s", quiesceAtMost, strings.Join(busy, ", ")), nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(quiesceEvery):
		}
	}
}

// restStatus reads the status counters that restWatch looks at, and asks for those that the server does not have otherwise.
func restStatus(ctx context.Context, e *engine.Engine, db *sql.DB) (map[string]string, error) {
	status, err := pairs(ctx, db, "SHOW GLOBAL STATUS LIKE '"+e.Counters.RestPattern+"'")
	if err != nil {
		return nil, err
	}
	for _, g := range e.Counters.Falling {
		if _, found := status[g.Counter]; found || g.Query == "" {
			continue
		}
		var value string
		err = db.QueryRowContext(ctx, g.Query).Scan(&value)
		switch {
		case err == nil:
			status[g.Counter] = value
		case ctx.Err() != nil:
			return nil, fmt.Errorf("reading the server's %s: %w", g.Description, err)
		}
		// Otherwise the server does not have it, or this user may not read it.
	}
	return status, nil
}
