// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package commitsize is the workload CommitSize.
package commitsize

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "CommitSize", Primes: true, Validate: workload.Checked(parameters), New: New,
}

// Parameters are those of the API's member commitSize at one point.
type Parameters struct {
	// Rows to insert. 0 is unset: as many as there is time for or, without a limit, defaultRows, which parameters puts here.
	Rows          int64 `json:"rows,omitempty"`
	RowsPerCommit int64 `json:"rowsPerCommit"`
	// AsPublished is None, empty for None, or Isotopp: the first transaction then has one row.
	AsPublished string `json:"asPublished,omitempty"`
	// Commit is Explicit, empty for Explicit, or Autocommit: each row is a transaction by itself.
	Commit string `json:"commit,omitempty"`

	workload.Pacing
}

const (
	asPublishedNone = "None"
	// asPublishedIsotopp commits where the published script does.
	asPublishedIsotopp = "Isotopp"

	// defaultRows is what the API says of a load that has neither rows nor a limit.
	defaultRows = 10_000
)

func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return nil, err
	}
	if p.Rows == 0 && cfg.LimitSeconds == 0 {
		if p.Rows = defaultRows; p.RowsPerCommit > p.Rows {
			return nil, fmt.Errorf("rowsPerCommit is %d, which is above rows (%d unless set): set rows", p.RowsPerCommit, p.Rows)
		}
	}
	return p, cmp.Or(
		workload.AtLeast("rows", p.Rows, 0), workload.AtLeast("rowsPerCommit", p.RowsPerCommit, 1),
		workload.OneOf("asPublished", p.AsPublished, "", asPublishedNone, asPublishedIsotopp),
		p.Check(), insert.CheckCommit(p.Commit, "rowsPerCommit", p.RowsPerCommit))
}

// unbounded is a number of rows that no load comes to.
const unbounded = math.MaxInt64

func (p *Parameters) bound() int64 { return cmp.Or(p.Rows, unbounded) }

// commitSize inserts row after row over one connection, each with a statement of its own, and commits after so many
// rows: what does a commit cost, and how many rows share it?
type commitSize struct {
	params Parameters
	sql    *texts
	rows   generate.Rows
	// bound is how many rows the phase that is under way sends at most: a warm-up ends by time only.
	bound  int64
	warmed int64
	sent   int64
}

// New makes the load.
func New(cfg *result.Config) (workload.Workload, error) {
	p, err := parameters(cfg)
	if err != nil {
		return nil, err
	}
	sql := sqlOf[engine.SQL(cfg.Server.Engine)]
	return &commitSize{params: *p, sql: sql, rows: generate.NewRows(cfg.Seed), bound: p.bound()}, nil
}

// texts are the SQL that differs from one family of servers to the next.
type texts struct {
	table string
	// setup are the statements of a session, begin what stands before a transaction's first one.
	setup func(autocommits bool) []string
	begin string
	// checksum of a table, by an expression for the text of a row.
	checksum func(ctx context.Context, db *sql.DB, expression string, tables ...string) (checksum.Checksum, error)
}

var sqlOf = map[base.SQL]*texts{
	base.MySQL: {
		table:    "CREATE TABLE demo (id SERIAL, data VARBINARY(255) NOT NULL)",
		setup:    func(autocommits bool) []string { return []string{"SET " + insert.SessionCommit(autocommits)} },
		checksum: checksum.OfTables,
	},
	base.PostgreSQL: {
		table:    "CREATE TABLE demo (id BIGINT NOT NULL UNIQUE, data VARCHAR(255) NOT NULL)",
		setup:    func(bool) []string { return nil },
		begin:    "BEGIN;", // in one message with the statement
		checksum: checksum.OfRows,
	},
}

func (w *commitSize) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	return w.Plan(), workload.Execute(ctx, db, w.sql.table)
}

func (w *commitSize) Plan() workload.Plan {
	return workload.Plan{
		Clients: 1, Rows: w.params.Rows, ByTime: w.params.Rows == 0, Rate: w.params.RatePerSecond,
		Setup: w.sql.setup(w.autocommits()),
	}
}

func (w *commitSize) autocommits() bool { return w.params.Commit == insert.CommitAutocommit }

func (w *commitSize) Before() (whole, ramp time.Duration) { return w.params.Before() }

func (w *commitSize) BeginWarmUp() { w.bound = unbounded }

func (w *commitSize) Continue() { w.bound, w.warmed = w.params.bound(), w.sent }

type inserter struct {
	*commitSize
	client    *workload.Client
	statement []byte
	// first and last row of the transaction; those up to counted were counted.
	first, last, counted int64
	// due and began are the transaction's, if there is a rate.
	due, began time.Duration
}

func (i *inserter) write(n int64) []byte {
	const prefix = "INSERT INTO demo (id, data) VALUES ("
	i.statement = i.statement[:0]
	if n == i.first && !i.autocommits() {
		i.statement = append(i.statement, i.sql.begin...)
	}
	i.statement = append(i.statement, prefix...)
	n += i.warmed
	i.statement = append(strconv.AppendInt(i.statement, n, 10), ", '"...)
	i.statement = append(i.rows.AppendText(i.statement, n), "')"...)
	return i.statement
}

func (i *inserter) again() error {
	r := i.client.Recorder
	for n := i.first; n <= i.last; n++ {
		statement := i.write(n)
		began := r.Now()
		if err := i.client.Session.Exec(statement); err != nil {
			return err
		}
		r.Insert(began, r.Now(), max(n-i.counted, 0)) // 1 for the last one, if it was not counted
	}
	return nil
}

func (w *commitSize) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	i := &inserter{commitSize: w, client: c, statement: make([]byte, 0, 128), first: 1}
	again := i.again
	stopped := result.StoppedByRows
	for i.last < w.bound {
		if i.last++; i.last == i.first {
			if due, err := i.await(ctx); err != nil {
				return "", err
			} else if !due {
				return result.StoppedBySeconds, nil
			}
		}
		statement := i.write(i.last)
		c.Enter()
		began := c.Recorder.Now()
		err := c.Session.Exec(statement)
		ended := c.Recorder.Now()
		if err == nil {
			c.Recorder.Insert(began, ended, 1)
		} else if err := c.Retry(began, err, again); err != nil {
			return "", fmt.Errorf("inserting row %d: %w", i.last, err)
		}
		i.counted = i.last
		if i.last == i.end() {
			if err := i.commit(ctx, again); err != nil {
				return "", err
			}
		}
		if c.Expired(ended) {
			if i.last != w.bound {
				stopped = result.StoppedBySeconds
			}
			break
		}
	}
	// A COMMIT of nothing, which the published script may send here, would measure nothing.
	if i.first <= i.last {
		return stopped, i.commit(ctx, again)
	}
	return stopped, nil
}

func (i *inserter) commit(ctx context.Context, again func() error) error {
	if err := insert.Commit(i.client, i.autocommits(), i.last, again); err != nil {
		return err
	}
	i.first = i.last + 1
	i.sent = i.warmed + i.last
	if i.params.RatePerSecond > 0 {
		i.client.Recorder.Transaction(i.due, i.began, i.client.Recorder.Now())
	}
	i.client.Leave()
	return insert.Think(ctx, i.client, i.params.Pacing)
}

// await waits until the transaction is due that begins, if there is a rate. It says false if the time is over by then.
func (i *inserter) await(ctx context.Context) (bool, error) {
	if i.params.RatePerSecond == 0 {
		// Only who has thought may begin when the time is over.
		return i.params.ThinkTimeMilliseconds == 0 || !i.client.Expired(i.client.Recorder.Now()), nil
	}
	i.due = i.params.RatePerSecond.Due(i.end())
	if i.client.Expired(i.due) {
		return false, nil
	}
	if err := i.client.SleepUntil(ctx, i.due); err != nil {
		return false, err
	}
	i.client.Enter()
	i.began = i.client.Recorder.Now()
	return true, nil
}

// end is the last row of the transaction that is under way, if the time is not over before.
func (i *inserter) end() int64 {
	if i.params.AsPublished == asPublishedIsotopp && i.first == 1 {
		// The script counts from 0 and commits where that is a multiple of the size: the first transaction has one row.
		return 1
	}
	return min(i.first+i.params.RowsPerCommit-1, i.bound)
}

func (w *commitSize) Verify(ctx context.Context, db *sql.DB, totals result.Totals, _ []int64) ([]result.Check, error) {
	got, err := w.sql.checksum(ctx, db, "CONCAT(id, ':', data)", "demo")
	if err != nil {
		return nil, err
	}
	return []result.Check{
		checksum.CheckRows(totals.Rows, got.Rows), checksum.Check(got, w.rows.Checksum(totals.Rows)),
	}, nil
}
