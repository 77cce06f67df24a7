// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	// QuiesceAtMost is when a server that has not come to rest is measured nevertheless, with a warning.
	QuiesceAtMost = 60 * time.Second
	// stuckAfter is when one is whose debt does not fall: waiting longer would be in vain.
	stuckAfter = 5 * time.Second
	// restFor is how long a server must be without debt. What has just made its tables, or written its pages back, has work to
	// finish that no counter shows: without a pause, a trial of half a second had a fifth fewer rows/s.
	restFor      = 500 * time.Millisecond
	quiesceEvery = 100 * time.Millisecond
)

// debt is what a server has put off, or is about to finish, above the goal.
type debt struct {
	what        string
	value, goal int64
}

// rest is what is known of a server that is waited for.
type rest struct {
	// lowest value of each debt, and when one fell last, or the wait began.
	lowest map[string]int64
	fell   time.Time
	// free is since when there is no debt; the zero time if there is some.
	free time.Time
}

// look notes the debts at a moment. over ends the wait: the server is at rest, or its debt does not fall any more.
func (r *rest) look(now time.Time, owed []debt) (over bool) {
	if len(owed) > 0 {
		r.free = time.Time{}
		for _, d := range owed {
			if low, seen := r.lowest[d.what]; !seen || d.value < low {
				r.lowest[d.what], r.fell = d.value, now
			}
		}
		return now.Sub(r.fell) > stuckAfter
	}
	if r.free.IsZero() {
		r.free = now
	}
	return now.Sub(r.free) >= restFor
}

// Quiesce waits until the server is at rest: for restFor no debt is above its goal. The server is asked to write its dirty pages
// back, which it would otherwise do while it is measured; nothing else is changed. It finds each debt that was left after atMost,
// or when none fell any more.
func Quiesce(
	ctx context.Context, e *engine.Engine, d *client.Dialect, db *sql.DB, atMost time.Duration,
) ([]finding.Finding, error) {
	patience, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	began := time.Now()
	seen := rest{lowest: map[string]int64{}, fell: began}
	for {
		status, err := restStatus(ctx, e, d, db)
		if err != nil {
			return nil, err
		}
		owed := debts(&e.Counters, status)
		if seen.look(time.Now(), owed) || patience.Err() != nil {
			return unrest(time.Since(began), owed), nil
		}
		if len(owed) > 0 && e.Counters.WriteBack != "" {
			// An error is none of the attempt's: a server that does not know the statement, or does not let this user execute it, may
			// still come to rest by itself, and one that is gone does not answer the next question either.
			_, _ = db.ExecContext(patience, e.Counters.WriteBack)
		}
		_ = sleep.For(patience, quiesceEvery) // then it is looked at once more
	}
}

func unrest(after time.Duration, owed []debt) []finding.Finding {
	var found []finding.Finding
	for _, d := range owed {
		found = append(found, finding.Debt(d.what, after.Round(time.Second).Seconds(), d.value, d.goal))
	}
	return found
}

// debts are those above their goals, by the status counters. One that the server does not count is left out.
func debts(c *base.Counters, status map[string]string) []debt {
	var all []debt
	add := func(what, counter string, goal int64) {
		if value, known := counted(status, counter); known && value > goal {
			all = append(all, debt{what, value, goal})
		}
	}
	for _, g := range c.Debt {
		goal := g.Goal
		if total, known := counted(status, g.HundredthOf); known {
			goal = total / 100
		}
		add(g.Description, g.Counter, goal)
	}
	for _, counter := range c.Pending {
		add(counter, counter, 0)
	}
	return all
}

// restStatus reads the status counters that debts looks at, and asks for those that the server does not have otherwise.
func restStatus(ctx context.Context, e *engine.Engine, d *client.Dialect, db *sql.DB) (map[string]string, error) {
	status, err := statusLike(ctx, d, db, e.Counters.RestPattern)
	if err != nil {
		return nil, err
	}
	for _, g := range e.Counters.Debt {
		if _, found := status[g.Counter]; found || g.Query == "" {
			continue
		}
		value, err := lastOfRow(ctx, db, g.Query)
		switch {
		case err == nil && g.Read != nil:
			status[g.Counter] = g.Read(value)
		case err == nil:
			status[g.Counter] = value
		case ctx.Err() != nil:
			return nil, fmt.Errorf("reading the server's %s: %w", g.Description, err)
		}
		// Otherwise the server does not have it, or this user may not read it.
	}
	return status, nil
}

// statusLike are the counters whose names match a pattern of LIKE, or all.
func statusLike(ctx context.Context, d *client.Dialect, db *sql.DB, pattern string) (map[string]string, error) {
	if query := d.Server.StatusLike(pattern); query != "" {
		return pairs(ctx, db, query)
	}
	return Status(ctx, d, db)
}

// Counter is one of the server's, since it started.
func Counter(ctx context.Context, d *client.Dialect, db *sql.DB, name string) (int64, error) {
	status, err := statusLike(ctx, d, db, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(status[name], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the counter %s: %w", name, err)
	}
	return n, nil
}

// Busy is how many sessions that are connected to a schema the server executes something for. What waits for a client to take its
// answer is over.
func Busy(ctx context.Context, d *client.Dialect, db *sql.DB, schema string) (sessions int64, err error) {
	if err := db.QueryRowContext(ctx, d.Sessions.Busy, schema).Scan(&sessions); err != nil {
		return 0, fmt.Errorf("asking for the sessions that are at work: %w", err)
	}
	return sessions, nil
}

// lastOfRow is the last column of a query's only row.
func lastOfRow(ctx context.Context, db *sql.DB, query string) (value string, err error) {
	none := sql.ErrNoRows
	err = workload.EachRow(ctx, db, func(row *sql.Rows) error {
		columns, err := row.Columns()
		if err != nil {
			return err
		}
		none = nil
		return row.Scan(slices.Repeat([]any{&value}, len(columns))...) // the last one stays
	}, query)
	return value, cmp.Or(err, none)
}
