// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
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
	name string
	// low is the value up to which it does not matter.
	low    int64
	lowest int64
	seen   bool
	// steady counts the polls without a new lowest value.
	steady int
}

// observe takes the next value and says whether the gauge is at rest.
func (g *gauge) observe(value int64) bool {
	if !g.seen || value < g.lowest {
		g.lowest, g.seen, g.steady = value, true, 0
	} else {
		g.steady++
	}
	return value <= g.low || g.steady >= steadyPolls
}

// restWatch decides when a server is at rest: what it still has to write and to purge is little, or does not get less.
type restWatch struct {
	dirty, history, redo gauge
}

func newRestWatch() *restWatch {
	return &restWatch{
		dirty:   gauge{name: "dirty pages"},
		history: gauge{name: "length of the purge history", low: 100},
		redo:    gauge{name: "bytes of redo log since the last checkpoint", low: 1 << 20},
	}
}

// observe takes a reading of the status counters and says what is not at rest. A counter that the server does not have
// is left out.
func (w *restWatch) observe(status map[string]string) []string {
	// One in a hundred pages of the buffer pool.
	if total, err := strconv.ParseInt(status["Innodb_buffer_pool_pages_total"], 10, 64); err == nil {
		w.dirty.low = total / 100
	}
	var busy []string
	for _, part := range []struct {
		gauge   *gauge
		counter string
	}{
		{&w.dirty, "Innodb_buffer_pool_pages_dirty"},
		{&w.history, "Innodb_history_list_length"},
		{&w.redo, "Innodb_checkpoint_age"},
	} {
		value, err := strconv.ParseInt(status[part.counter], 10, 64)
		if err == nil && !part.gauge.observe(value) {
			busy = append(busy, fmt.Sprintf("%d %s", value, part.gauge.name))
		}
	}
	for _, name := range []string{
		"Innodb_data_pending_fsyncs", "Innodb_data_pending_reads", "Innodb_data_pending_writes",
		"Innodb_os_log_pending_fsyncs", "Innodb_os_log_pending_writes",
	} {
		if value := status[name]; value != "" && value != "0" {
			busy = append(busy, fmt.Sprintf("%s is %s", name, value))
		}
	}
	return busy
}

// quiesce waits until the server is at rest. It changes nothing on the server. The warning is not empty if the server
// did not come to rest in time.
func quiesce(ctx context.Context, db *sql.DB) (warning string, err error) {
	began := time.Now()
	watch := newRestWatch()
	for {
		status, err := restStatus(ctx, db)
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

// restStatus reads the status counters that restWatch looks at. MySQL has the history's length elsewhere.
func restStatus(ctx context.Context, db *sql.DB) (map[string]string, error) {
	const history = "Innodb_history_list_length"
	status, err := pairs(ctx, db, "SHOW GLOBAL STATUS LIKE 'Innodb%'")
	if err != nil {
		return nil, err
	}
	if _, found := status[history]; found {
		return status, nil
	}
	var length string
	const query = "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'"
	err = db.QueryRowContext(ctx, query).Scan(&length)
	switch {
	case err == nil:
		status[history] = length
	case ctx.Err() != nil:
		return nil, fmt.Errorf("reading the purge history's length: %w", err)
	}
	// Otherwise the server does not say, or not to this user.
	return status, nil
}
