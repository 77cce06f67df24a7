// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
)

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

func (w *tprochLoad) load(c *workload.Client, t tproch.Table) (err error) {
	session, err := workload.InserterOf(c.Session)
	if err != nil {
		return err
	}
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
	perStatement := int64(math.MaxInt64)
	if w.params.LoadMode == loadChunked {
		perStatement = w.params.RowsPerChunk
	}
	for more := true; more; more = rows.more() {
		rows.left = perStatement
		before := sent
		c.Enter()
		began := c.Recorder.Now()
		written, warnings, err := session.Load(clause, rows)
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
			if w.warning[t], err = session.Warning(); err != nil {
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

func (w *tprochLoad) open(t tproch.Table) (io.ReadCloser, error) {
	switch {
	case w.files != nil:
		return w.files.open(t)
	case w.stage != nil:
		return w.stage.open(t)
	}
	return io.NopCloser(w.data.Reader(t, 0, w.data.Units(t))), nil
}

// Verify implements Workload. Every row of every table is compared, by checksums of all rows that the server and the
// loader compute at the same time; of the user's files, and of columns of other types than Benchrun's, as much as can be.
func (w *tprochLoad) Verify(ctx context.Context, db *sql.DB, _ result.Totals, _ []int64) ([]result.Check, error) {
	if w.files != nil {
		return w.verifyFiles(ctx, db)
	}
	own := make(chan checksum.Checksum, tableCount)
	go func() {
		for _, t := range tproch.Tables() {
			own <- w.data.Checksum(t)
		}
	}()
	var warnings, rows, checksums verdict
	var left []string
	for _, t := range tproch.Tables() {
		want := <-own
		if unlike := userdata.Unlike(w.found[t], t.Types()); len(unlike) > 0 {
			left = append(left, fmt.Sprintf("%s was only counted: %s", t, strings.Join(unlike, ", ")))
			got, err := checksum.CountRows(ctx, db, t.String())
			if err != nil {
				return nil, err
			}
			w.judge(t, want.Rows, got, &warnings, &rows)
			continue
		}
		got, err := checksum.OfTables(ctx, db, "CONCAT_WS('|', "+strings.Join(t.Columns(), ", ")+")", t.String())
		if err != nil {
			return nil, err
		}
		w.judge(t, want.Rows, got.Rows, &warnings, &rows)
		checksums.note(got == want, "%s: the table has %s, but the load sent %s", t, got, want)
	}
	checks := []result.Check{
		warnings.check("warnings", "none"),
		rows.check("rows", strings.Join(append([]string{"all tables have all of their rows"}, left...), "; ")),
	}
	if len(left) == tableCount {
		return checks, nil
	}
	which := "all tables"
	if len(left) > 0 {
		which = "the other tables"
	}
	return append(checks, checksums.check("checksum", "all rows of "+which+" match the rows that were sent")), nil
}

func (w *tprochLoad) judge(t tproch.Table, want, got int64, warnings, rows *verdict) {
	load := &w.loads[t]
	warnings.note(load.Warnings == 0, "%s: %d, the first: %s", t, load.Warnings, w.warning[t])
	rows.note(load.Rows == want && got == want, "%s: %d sent, %d written, %d in the table", t, want, load.Rows, got)
}

// verifyFiles compares the numbers of rows, and the files with what they were.
func (w *tprochLoad) verifyFiles(ctx context.Context, db *sql.DB) ([]result.Check, error) {
	var warnings, rows verdict
	for _, t := range tproch.Tables() {
		got, err := checksum.CountRows(ctx, db, t.String())
		if err != nil {
			return nil, err
		}
		w.judge(t, w.files.rows[t], got, &warnings, &rows)
	}
	input, err := w.files.check(ctx)
	if err != nil {
		return nil, err
	}
	return []result.Check{
		warnings.check("warnings", "none"),
		rows.check("rows", "all rows of all files are in the tables; they were counted, but their values were not compared"), input,
	}, nil
}

type verdict struct{ not []string }

func (v *verdict) note(holds bool, format string, args ...any) {
	if !holds {
		v.not = append(v.not, fmt.Sprintf(format, args...))
	}
}

func (v *verdict) check(name, detail string) result.Check {
	if len(v.not) > 0 {
		detail = strings.Join(v.not, "; ")
	}
	return result.Check{Name: name, Passed: len(v.not) == 0, Detail: detail}
}

// Report implements Reporter. The headline is the time until everything that was asked for is there, indexes and
// statistics included: what a user who plans a migration wants to know, and otherwise making indexes later would always
// look better. Where the scale factor is swept, it is bytes per second: a small table is not a fast one.
func (w *tprochLoad) Report(doc *result.Document) {
	if w.schema != nil {
		doc.Inputs = append(doc.Inputs, w.schema.Input)
	}
	if w.files != nil {
		doc.Inputs = append(doc.Inputs, w.files.inputs()...)
	}
	bytes, micros := int64(0), doc.Totals.Micros
	var tables []result.Metric
	for t, load := range w.loads {
		if w.stage != nil {
			load.FileSHA256 = w.stage.sums[t]
		}
		doc.Tables = append(doc.Tables, load)
		bytes += load.Bytes
		tables = append(tables, seconds(strings.ToLower(load.Name)+"Seconds", load.Micros))
		tables[t].Part = load.Name
	}
	slices.SortStableFunc(doc.Tables, func(a, b result.TableLoad) int { return cmp.Compare(a.StartMicros, b.StartMicros) })
	for _, p := range doc.Phases {
		if p.Name == phaseIndex || p.Name == phaseAnalyze {
			micros += p.Micros
		}
	}
	headline := []result.Metric{
		seconds("totalSeconds", micros),
		{Name: "megabytesPerSecond", Value: float64(bytes) / float64(micros), Unit: "MB/s", Better: "higher"},
	}
	if _, swept := doc.Config.Parameters["scaleFactor"]; swept {
		slices.Reverse(headline)
	}
	doc.Metrics = slices.Concat(headline, doc.Metrics, tables)
}

func seconds(name string, micros int64) result.Metric {
	return result.Metric{Name: name, Value: float64(micros) / 1e6, Unit: "s", Better: "lower"}
}
