// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bulkinsert is the workload BulkInsert.
package bulkinsert

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "BulkInsert", SQL: base.MySQL, Shared: true, Primes: true, Validate: workload.Checked(parameters), New: New,
}

// Parameters are those of the API's member bulkInsert at one point.
type Parameters struct {
	// Table is FileList or Narrow.
	Table string `json:"table"`
	// Tables of that kind; connection c, from 0, writes to table c modulo Tables.
	Tables                   int   `json:"tables"`
	Rows                     int64 `json:"rows"`
	RowsPerStatement         int64 `json:"rowsPerStatement"`
	StatementsPerTransaction int64 `json:"statementsPerTransaction"`
	// Clients is the number of connections.
	Clients       int    `json:"clients"`
	StorageEngine string `json:"storageEngine"`
	// Protocol is Text, empty for Text, Prepared or Bulk.
	Protocol string `json:"protocol,omitempty"`
	// Commit is Explicit, empty for Explicit, or Autocommit: each statement is a transaction by itself.
	Commit string `json:"commit,omitempty"`

	workload.Pacing
}

const (
	tableFileList = "FileList"
	tableNarrow   = "Narrow"
)

// bulkInsert inserts many rows with each statement, over many connections: how many, and how many, until it gets no
// faster?
type bulkInsert struct {
	*insert.Load
	params Parameters
	table  insert.Table
	// name of the first table, and the columns that rows are made of: none are all that the table has.
	name    string
	columns []string
	// types of the columns as Benchrun makes them.
	types []string
	// schema makes the tables, and file has the rows, if they are the user's.
	schema *userdata.Schema
	file   *userdata.RowFile
	// found are the columns of the user's tables, or of the table for a file.
	found []userdata.Column
}

func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return nil, err
	}
	return p, cmp.Or(
		workload.AtLeast("statementsPerTransaction", p.StatementsPerTransaction, 1), workload.AtLeast("clients", p.Clients, 1),
		workload.AtLeast("tables", p.Tables, 1), workload.OneOf("table", p.Table, tableFileList, tableNarrow),
		p.Check(),
		insert.CheckEngine(p.StorageEngine),
		insert.CheckSizes(p.Rows, p.RowsPerStatement, p.RowsPerStatement*p.StatementsPerTransaction),
		workload.ShareOf(cfg).Enough("clients", int64(p.Clients)), checkFile(cfg, p), p.checkProtocol(cfg),
		insert.CheckCommit(p.Commit, "statementsPerTransaction", p.StatementsPerTransaction),
	)
}

// New makes the load.
func New(cfg *result.Config) (workload.Workload, error) {
	p, err := parameters(cfg)
	if err != nil {
		return nil, err
	}
	rows := insert.New(p.Rows, p.RowsPerStatement, p.RowsPerStatement*p.StatementsPerTransaction, workload.ShareOf(cfg))
	rows.Pace = p.Pacing
	w := &bulkInsert{params: *p, Load: rows}
	if p.Table == tableNarrow {
		w.useNarrow(narrow{generate.NewRows(cfg.Seed)})
	} else {
		w.useFileList(newFileList(cfg.Seed))
	}
	w.table.Engine = p.StorageEngine
	w.Autocommit = p.Commit == insert.CommitAutocommit
	w.useOwn(cfg)
	// The first table has the name itself, the others have numbers.
	w.table.Names = []string{w.name}
	for i := 2; i <= p.Tables; i++ {
		w.table.Names = append(w.table.Names, fmt.Sprintf("%s_%d", w.name, i))
	}
	w.address(w.table.Names, strings.Join(w.columns, ", "))
	return w, nil
}

func (w *bulkInsert) address(tables []string, columns string) {
	w.Heads = nil
	for _, name := range tables {
		w.Heads = append(w.Heads, "INSERT INTO "+name+" ("+columns+") VALUES ")
	}
}

func (w *bulkInsert) useFileList(data *fileList) {
	w.table = insert.Table{
		Columns: "id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, path VARBINARY(4096) NOT NULL," +
			" modification_time DATETIME(6) NOT NULL, file_size BIGINT UNSIGNED NOT NULL",
		Options:    "DEFAULT CHARSET=utf8mb4",
		Canonical:  "CONCAT_WS(':', path, modification_time, file_size)",
		AppendText: data.appendText,
	}
	w.name, w.columns = "inserts", []string{"path", "modification_time", "file_size"}
	w.types = []string{"varbinary(4096)", "datetime(6)", "bigint"}
	w.AppendRow, w.RowBytes = data.appendRow, int64(maxFileRow)
	w.sendValues(data.values, fileTypes, maxFileValues)
}

func (w *bulkInsert) useNarrow(data narrow) {
	w.table = insert.Table{
		Columns:   "id INT NOT NULL PRIMARY KEY, k INT NOT NULL",
		Canonical: "CONCAT_WS(':', id, k)", AppendText: data.appendText,
	}
	w.name, w.columns = "narrow", []string{"id", "k"}
	w.types = []string{"int", "int"}
	w.AppendRow, w.RowBytes = data.appendRow, int64(maxNarrowRow)
	w.sendValues(data.values, narrowTypes, maxNarrowValues)
}

func (w *bulkInsert) Plan() workload.Plan {
	if w.file != nil {
		return w.planFile(nil)
	}
	return workload.Plan{
		Clients: int(w.Share.Of(int64(w.params.Clients))), Rows: w.params.Rows, Rate: w.params.RatePerSecond,
		Ready: w.Ready, Setup: []string{"SET " + insert.SessionCommit(w.Autocommit)},
	}
}

func (w *bulkInsert) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	if w.file == nil {
		if err := w.Fits(ctx, db); err != nil {
			return workload.Plan{}, err
		}
	}
	if w.schema == nil && w.file == nil {
		return w.Plan(), w.table.Make(ctx, db)
	}
	return w.prepareOwn(ctx, db)
}

func (w *bulkInsert) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	return w.Insert(ctx, c)
}

func (w *bulkInsert) Verify(ctx context.Context, db *sql.DB, totals result.Totals, rowsOfPods []int64) ([]result.Check, error) {
	if w.schema == nil && w.file == nil {
		return w.table.Verify(ctx, db, totals.Rows, w.Sent(rowsOfPods))
	}
	return w.verifyOwn(ctx, db, totals.Rows, rowsOfPods)
}

// narrow is the data of a table with two integer columns: row n has the number n and one with up to seven digits.
type narrow struct{ rows generate.Rows }

const (
	narrowSpan = 10_000_000
	// maxNarrowRow bounds the text of a row in a statement with its comma.
	maxNarrowRow = len("(2147483647,9999999),")
)

func (d narrow) appendRow(dst []byte, n int64) []byte {
	return append(d.appendFields(append(dst, '('), n, ','), ')')
}

func (d narrow) appendText(dst []byte, n int64) []byte { return d.appendFields(dst, n, ':') }

func (d narrow) appendFields(dst []byte, n int64, separator byte) []byte {
	dst = generate.AppendNumber(dst, uint64(n)) //nolint:gosec // n is above 0
	return generate.AppendNumber(append(dst, separator), d.number(n))
}

func (d narrow) number(n int64) uint64 {
	draws := d.rows.Draws(n)
	return draws.Below(narrowSpan)
}
