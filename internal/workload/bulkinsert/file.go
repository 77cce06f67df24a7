// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
)

var userName = regexp.MustCompile(`^[A-Za-z0-9_$]{1,64}$`)

// checkFile finds what is wrong with the user's tables and rows, as far as that can be seen without them.
func checkFile(cfg *result.Config, p *Parameters) error {
	d := cfg.Workload.Data
	switch {
	case d == nil:
		return nil
	case cfg.Pods > 1:
		return fmt.Errorf("a file of dataFrom is read by one Pod: loader.pods is %d but must be 1", cfg.Pods)
	case p.WarmupSeconds > 0 || p.RampSeconds > 0:
		return errors.New("warmupSeconds and rampSeconds need an unlimited number of rows: leave them out with dataFrom")
	case d.Table != "" && cfg.Workload.SchemaFile == "":
		return fmt.Errorf("dataFrom.table is %q, but there is no schemaFrom to create it", d.Table)
	}
	for _, name := range append([]string{d.Table}, d.Columns...) {
		if name != "" && !userName.MatchString(name) {
			return fmt.Errorf("dataFrom names %q, but the name of a table or column has 1 to 64 letters, digits, underscores and $", name)
		}
	}
	_, err := userdata.FormatOf(d)
	return err
}

// useOwn takes the user's tables and rows.
func (w *bulkInsert) useOwn(cfg *result.Config) {
	w.schema = userdata.NewSchema(&cfg.Workload)
	d := cfg.Workload.Data
	if d == nil {
		return
	}
	switch {
	case d.Table != "":
		w.name, w.columns = d.Table, d.Columns
	case len(d.Columns) > 0:
		w.columns = d.Columns
	}
	format, _ := userdata.FormatOf(d) // it was checked with the parameters
	w.file = &userdata.RowFile{File: userdata.File{Root: d.Root, Name: d.Path, Format: format, Header: d.HeaderLines}}
	w.Open = func() (*userdata.RowReader, error) { return w.file.Rows(len(w.columns)) }
}

// planFile is the plan for rows of a file, which is surveyed before the clock starts. Without a server there is nothing that
// limits a statement.
func (w *bulkInsert) planFile(db *sql.DB) workload.Plan {
	return workload.Plan{
		Clients: w.params.Clients, Rate: w.params.RatePerSecond,
		// A value that does not fit is an error, whatever the server's sql_mode is: changed silently, it would be no result.
		Setup: []string{"SET " + insert.SessionCommit(w.Autocommit) +
			", sql_mode=CONCAT_WS(',', NULLIF(@@SESSION.sql_mode, ''), 'STRICT_ALL_TABLES')"},
		Stage: func(ctx context.Context) error {
			if len(w.columns) == 0 {
				return errors.New("without a server, dataFrom.columns must name the columns")
			}
			found, err := w.file.Survey(ctx, len(w.columns), w.params.Rows, w.params.RowsPerStatement)
			if err != nil {
				return err
			}
			w.Rows, w.RowBytes, w.StatementRows = found.Rows, found.Row, found.Statement
			if db == nil {
				return nil
			}
			return w.Fits(ctx, db)
		},
	}
}

func (w *bulkInsert) prepareOwn(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	if w.schema == nil {
		if err := w.table.Make(ctx, db); err != nil {
			return workload.Plan{}, err
		}
	} else if err := w.schema.Make(ctx, db, w.params.StorageEngine); err != nil {
		return workload.Plan{}, err
	}
	if err := w.meet(ctx, db); err != nil {
		return workload.Plan{}, err
	}
	if w.file == nil {
		return w.Plan(), nil
	}
	var err error
	if w.file.Quoting, err = userdata.QuotingOf(ctx, db); err != nil {
		return workload.Plan{}, err
	}
	w.columns = nil
	for _, c := range w.found {
		w.columns = append(w.columns, c.Name)
	}
	w.address(userdata.QuotedNames(w.table.Names), strings.Join(userdata.QuotedNames(w.columns), ", "))
	w.file.Comparison = userdata.NewComparison(w.found)
	return w.planFile(db), nil
}

func (w *bulkInsert) meet(ctx context.Context, db *sql.DB) error {
	var all []userdata.Wanted
	for _, name := range w.table.Names {
		all = append(all, userdata.Wanted{Table: name, Columns: w.columns})
	}
	found, err := userdata.Find(ctx, db, all...)
	if err != nil {
		return err
	}
	w.found = found[0]
	for i, name := range w.table.Names {
		if !slices.Equal(found[i], w.found) {
			return workload.Refused{Reason: fmt.Sprintf("the columns of table %s are not those of table %s", name, w.table.Names[0])}
		}
		if err := insert.MadeWith(ctx, db, name, w.params.StorageEngine); err != nil {
			return err
		}
	}
	return nil
}

// verifyOwn compares what can be compared: rows always, values where the server gives back the text that it was given.
func (w *bulkInsert) verifyOwn(ctx context.Context, db *sql.DB, rows int64, rowsOfPods []int64) ([]result.Check, error) {
	if w.file != nil {
		return w.verifyFile(ctx, db, rows)
	}
	unlike := userdata.Unlike(w.found, w.types)
	if len(unlike) == 0 {
		return w.table.Verify(ctx, db, rows, w.Sent(rowsOfPods))
	}
	got, err := checksum.CountRows(ctx, db, userdata.QuotedNames(w.table.Names)...)
	if err != nil {
		return nil, err
	}
	check := checksum.CheckRows(rows, got)
	check.Detail += "; no values were compared: " + strings.Join(unlike, ", ")
	return []result.Check{check}, nil
}

// verifyFile compares the tables with the file, and the file with what it was.
func (w *bulkInsert) verifyFile(ctx context.Context, db *sql.DB, rows int64) ([]result.Check, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var now result.Input
	var want checksum.Checksum
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() { now, want, failed = w.file.Checksum(ctx, rows) })
	c := w.file.Comparison
	var got checksum.Checksum
	var err error
	if c.Compared() {
		got, err = checksum.OfTables(ctx, db, c.Expression(), userdata.QuotedNames(w.table.Names)...)
	} else {
		got.Rows, err = checksum.CountRows(ctx, db, userdata.QuotedNames(w.table.Names)...)
	}
	if err != nil {
		return nil, err
	}
	if reading.Wait(); failed != nil {
		return nil, failed
	}
	checks := []result.Check{
		checksum.CheckRows(rows, got.Rows), userdata.Unchanged([]result.Input{w.file.Before}, []result.Input{now}),
	}
	if !c.Compared() {
		checks[0].Detail += "; " + c.String()
		return checks, nil
	}
	detail := got.String() + "; " + c.String()
	if got != want {
		detail = fmt.Sprintf("the table has %s, but the file has %s; %s", got, want, c)
	}
	return append(checks, result.Check{Name: "checksum", Passed: got == want, Detail: detail}), nil
}

func (w *bulkInsert) Report(doc *result.Document) {
	if w.schema != nil {
		doc.Inputs = append(doc.Inputs, w.schema.Input)
	}
	if w.file == nil {
		return
	}
	doc.Inputs = append(doc.Inputs, w.file.Before)
	if all := w.file.Before.Rows; all > w.Rows {
		doc.Findings = append(doc.Findings, finding.PartOf(w.file.Name, all, w.Rows))
	}
	if doc.Totals.Rows == w.Rows {
		// One client's time was over when another one took the last rows.
		doc.Totals.StoppedBy = result.StoppedByRows
	}
}
