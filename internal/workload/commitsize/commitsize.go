// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package commitsize is the workload CommitSize.
package commitsize

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// Definition of the workload.
var Definition = workload.Definition{Type: "CommitSize", Validate: workload.Checked(parameters), New: New}

// Parameters are those of the API's member commitSize at one point.
type Parameters struct {
	// Rows to insert; 0 is as many as there is time for.
	Rows          int64 `json:"rows"`
	RowsPerCommit int64 `json:"rowsPerCommit"`
	// Compat is None, empty for None, or Isotopp: the first transaction then has one row.
	Compat string `json:"compat,omitempty"`
}

const (
	compatNone = "None"
	// compatIsotopp commits where the published script does.
	compatIsotopp = "Isotopp"
)

// parameters reads and checks them.
func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	switch {
	case err != nil:
		return nil, err
	case p.Rows < 0:
		return nil, fmt.Errorf("rows is %d, it must be at least 0", p.Rows)
	case p.Rows == 0 && cfg.LimitSeconds == 0:
		return nil, errors.New("rows is 0, which inserts until limits.seconds: set limits.seconds, or a number of rows")
	case p.RowsPerCommit < 1:
		return nil, fmt.Errorf("rowsPerCommit is %d, it must be at least 1", p.RowsPerCommit)
	case p.Compat != "" && p.Compat != compatNone && p.Compat != compatIsotopp:
		return nil, fmt.Errorf("compat is %q, it must be %s or %s", p.Compat, compatNone, compatIsotopp)
	}
	return p, nil
}

// commitSize inserts row after row over one connection, each with a statement of its own, and commits after so many
// rows: what does a commit cost, and how many rows share it?
type commitSize struct {
	params Parameters
	rows   generate.Rows
}

// New makes the load.
func New(cfg *result.Config) (workload.Workload, error) {
	p, err := parameters(cfg)
	if err != nil {
		return nil, err
	}
	return &commitSize{params: *p, rows: generate.NewRows(cfg.Seed)}, nil
}

// Prepare implements Workload.
func (w *commitSize) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	const create = "CREATE TABLE demo (id SERIAL, data VARBINARY(255) NOT NULL)"
	if _, err := db.ExecContext(ctx, create); err != nil {
		return workload.Plan{}, fmt.Errorf("executing %s: %w", create, err)
	}
	return w.Plan(), nil
}

// Plan implements Planned.
func (w *commitSize) Plan() workload.Plan {
	return workload.Plan{Clients: 1, Rows: w.params.Rows, ByTime: w.params.Rows == 0, Setup: []string{"SET autocommit=0"}}
}

// Measure implements Workload.
func (w *commitSize) Measure(_ context.Context, c *workload.Client) (result.StoppedBy, error) {
	const prefix = "INSERT INTO demo (id, data) VALUES ("
	statement := append(make([]byte, 0, 128), prefix...)
	pending := int64(0)
	stopped := result.StoppedByRows
	n := int64(0)
	for n < w.params.Rows || w.params.Rows == 0 {
		n++
		statement = strconv.AppendInt(statement[:len(prefix)], n, 10)
		statement = append(statement, ", '"...)
		statement = w.rows.AppendText(statement, n)
		statement = append(statement, "')"...)
		began := c.Recorder.Now()
		if err := c.Session.Exec(statement); err != nil {
			return "", fmt.Errorf("inserting row %d: %w", n, err)
		}
		ended := c.Recorder.Now()
		c.Recorder.Insert(began, ended, 1)
		pending++
		if w.commitsAfter(n) {
			if err := insert.Commit(c, n); err != nil {
				return "", err
			}
			pending = 0
		}
		if c.Expired(ended) {
			if n != w.params.Rows {
				stopped = result.StoppedBySeconds
			}
			break
		}
	}
	// A COMMIT of nothing, which the published script may send here, would measure nothing.
	if pending > 0 {
		return stopped, insert.Commit(c, n)
	}
	return stopped, nil
}

// commitsAfter says whether a COMMIT follows row n.
func (w *commitSize) commitsAfter(n int64) bool {
	if w.params.Compat == compatIsotopp {
		// The script counts from 0 and commits where that is a multiple of the size: the first transaction has one row.
		return (n-1)%w.params.RowsPerCommit == 0
	}
	return n%w.params.RowsPerCommit == 0
}

// Verify implements Workload.
func (w *commitSize) Verify(ctx context.Context, db *sql.DB, totals result.Totals, _ []int64) ([]result.Check, error) {
	got, err := checksum.OfTables(ctx, db, "CONCAT(id, ':', data)", "demo")
	if err != nil {
		return nil, err
	}
	return []result.Check{
		checksum.CheckRows(totals.Rows, got.Rows), checksum.Check(got, w.rows.Checksum(totals.Rows)),
	}, nil
}
