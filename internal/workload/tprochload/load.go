// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
)

// Measure implements Workload.
func (w *tprochLoad) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	for {
		next := w.taken.Add(1) - 1
		if next >= int64(len(w.order)) {
			return result.StoppedByRows, nil
		}
		t := w.order[next]
		if err := w.await(ctx, t); err != nil {
			return "", err
		}
		if err := w.load(c, t); err != nil {
			return "", fmt.Errorf("loading %s: %w", t, err)
		}
		close(w.loaded[t])
	}
}

// await waits until the tables are loaded that t refers to, if the server is going to look for them there. They were
// taken before t, so a client is loading them.
func (w *tprochLoad) await(ctx context.Context, t tproch.Table) error {
	if !w.params.ForeignKeyChecks {
		return nil
	}
	for _, parent := range t.Parents() {
		select {
		case <-w.loaded[parent]:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// load loads a table with as many statements as it takes.
func (w *tprochLoad) load(c *workload.Client, t tproch.Table) (err error) {
	src, err := w.open(t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	load := &w.loads[t]
	sent := int64(0)
	rows := newLines(src, func(rows, bytes int64) {
		c.Recorder.Sent(c.Recorder.Now(), rows, bytes)
		sent += rows
		load.Bytes += bytes
	})
	clause := w.clause(t)
	start := c.Recorder.Now()
	for more := true; more; more = rows.more() {
		rows.want(w.rowsPerStatement())
		before := sent
		c.Enter()
		began := c.Recorder.Now()
		written, warnings, err := c.Session.Load(clause, rows)
		ended := c.Recorder.Now()
		if rows.err != nil {
			return workload.Refused{Reason: "reading what is to be loaded: " + rows.err.Error()}
		}
		if err != nil {
			return err
		}
		c.Recorder.Loaded(began, ended)
		load.Rows += written
		load.Warnings += warnings
		load.Statements++
		load.Micros = (ended - start).Microseconds()
		// LOAD DATA LOCAL never fails for a row: it leaves it out or changes it, with a warning.
		if warnings > 0 && w.warning[t] == "" {
			if w.warning[t], err = c.Session.Warning(); err != nil {
				return fmt.Errorf("reading the first warning: %w", err)
			}
			if w.files != nil {
				w.warning[t] = w.files.located(t, w.warning[t], before)
			}
		}
		c.Leave()
	}
	load.Name, load.StartMicros = t.String(), start.Microseconds()
	return nil
}

func (w *tprochLoad) rowsPerStatement() int64 {
	if w.params.LoadMode == loadChunked {
		return w.params.RowsPerChunk
	}
	return math.MaxInt64
}

// clause says how a table's lines are to be read.
func (w *tprochLoad) clause(t tproch.Table) string {
	if w.files != nil {
		return w.files.clause(t)
	}
	if w.params.AsPublished == asPublishedMariaDBOrg {
		return fmt.Sprintf("INTO TABLE %s FIELDS TERMINATED BY '|'", t)
	}
	return loadClause(t, "latin1", t.Columns())
}

// loadClause is what follows the file's name in LOAD DATA. A server reads a file as the schema's character set unless it is
// told otherwise, and fields as the table's columns in their order.
func loadClause(t tproch.Table, encoding string, columns []string) string {
	return fmt.Sprintf("INTO TABLE %s CHARACTER SET %s FIELDS TERMINATED BY '|' (%s)", t, encoding, strings.Join(columns, ", "))
}

// open opens what a table is loaded from.
func (w *tprochLoad) open(t tproch.Table) (io.ReadCloser, error) {
	switch {
	case w.files != nil:
		return w.files.open(t)
	case w.stage != nil:
		return w.stage.open(t)
	}
	return io.NopCloser(w.data.Reader(t, 0, w.data.Units(t))), nil
}
