// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// The tables of BulkInsert.
const (
	tableFileList = "FileList"
	tableNarrow   = "Narrow"
)

// bulkInsert inserts many rows with each statement, over many connections: how many, and how many, until it gets no
// faster?
type bulkInsert struct {
	params result.BulkInsert
	load   *load
	table  table
	// name of the first table, and the columns that rows are made of: none are all that the table has.
	name    string
	columns []string
	// kinds of the columns as Benchrun makes them.
	kinds []kind
	// schema makes the tables, and file has the rows, if they are the user's.
	schema *userSchema
	file   *rowFile
	// found are the columns of the user's tables, or of the table for a file.
	found []column
}

func newBulkInsert(cfg *result.Config) (Workload, error) {
	p := cfg.Workload.BulkInsert
	if p == nil {
		return nil, errors.New("the parameters in bulkInsert are missing")
	}
	if p.StatementsPerTransaction < 1 {
		return nil, fmt.Errorf("statementsPerTransaction is %d, it must be at least 1", p.StatementsPerTransaction)
	}
	if p.Concurrency < 1 {
		return nil, fmt.Errorf("concurrency is %d, it must be at least 1", p.Concurrency)
	}
	if p.Tables < 1 {
		return nil, fmt.Errorf("tables is %d, it must be at least 1", p.Tables)
	}
	if err := checkEngine(p.StorageEngine); err != nil {
		return nil, err
	}
	if err := shareOf(cfg).enough("concurrency", int64(p.Concurrency)); err != nil {
		return nil, err
	}
	rows, err := newLoad(p.Rows, p.RowsPerStatement, p.RowsPerStatement*p.StatementsPerTransaction, shareOf(cfg))
	if err != nil {
		return nil, err
	}
	w := &bulkInsert{params: *p, load: rows}
	switch p.Table {
	case tableFileList:
		w.useFileList(newFileList(cfg.Seed))
	case tableNarrow:
		w.useNarrow(narrow{NewRows(cfg.Seed)})
	default:
		return nil, fmt.Errorf("table is %q, it must be %s or %s", p.Table, tableFileList, tableNarrow)
	}
	w.table.engine = p.StorageEngine
	if err := w.useOwn(cfg); err != nil {
		return nil, err
	}
	w.spread()
	w.address(w.table.names, strings.Join(w.columns, ", "))
	return w, nil
}

// spread names the tables: the first has the name itself, the others have numbers.
func (w *bulkInsert) spread() {
	for i := range w.params.Tables {
		numbered := w.name
		if i > 0 {
			numbered = fmt.Sprintf("%s_%d", w.name, i+1)
		}
		w.table.names = append(w.table.names, numbered)
	}
}

// address makes the statements' heads.
func (w *bulkInsert) address(tables []string, columns string) {
	w.load.heads = nil
	for _, name := range tables {
		w.load.heads = append(w.load.heads, "INSERT INTO "+name+" ("+columns+") VALUES ")
	}
}

func (w *bulkInsert) useFileList(data *fileList) {
	w.table = table{
		columns: "id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, path VARBINARY(4096) NOT NULL," +
			" modification_time DATETIME(6) NOT NULL, file_size BIGINT UNSIGNED NOT NULL",
		options:    "DEFAULT CHARSET=utf8mb4",
		canonical:  "CONCAT_WS(':', path, modification_time, file_size)",
		appendText: data.appendText,
	}
	w.name, w.columns = "inserts", []string{"path", "modification_time", "file_size"}
	w.kinds = []kind{kindOf("varbinary(4096)"), kindOf("datetime(6)"), kindOf("bigint")}
	w.load.appendRow, w.load.rowBytes = data.appendRow, int64(maxFileRow)
}

func (w *bulkInsert) useNarrow(data narrow) {
	w.table = table{
		columns:   "id INT NOT NULL PRIMARY KEY, k INT NOT NULL",
		canonical: "CONCAT_WS(':', id, k)", appendText: data.appendText,
	}
	w.name, w.columns = "narrow", []string{"id", "k"}
	w.kinds = []kind{kindOf("int"), kindOf("int")}
	w.load.appendRow, w.load.rowBytes = data.appendRow, int64(maxNarrowRow)
}

// Plan implements Planned.
func (w *bulkInsert) Plan() Plan {
	if w.file != nil {
		return w.planFile(nil)
	}
	return Plan{Clients: int(w.load.share.of(int64(w.params.Concurrency))), Rows: w.params.Rows, Setup: []string{"SET autocommit=0"}}
}

// Prepare implements Workload.
func (w *bulkInsert) Prepare(ctx context.Context, db *sql.DB) (Plan, error) {
	if w.file == nil {
		if err := w.load.fits(ctx, db); err != nil {
			return Plan{}, err
		}
	}
	if w.schema == nil && w.file == nil {
		return w.Plan(), w.table.make(ctx, db)
	}
	return w.prepareOwn(ctx, db)
}

// Measure implements Workload.
func (w *bulkInsert) Measure(ctx context.Context, c *Client) (result.StoppedBy, error) {
	return w.load.insert(ctx, c)
}

// Verify implements Workload.
func (w *bulkInsert) Verify(ctx context.Context, db *sql.DB, totals result.Totals, rowsOfPods []int64) ([]result.Check, error) {
	if w.schema == nil && w.file == nil {
		return w.table.verify(ctx, db, totals.Rows, w.load.sent(rowsOfPods))
	}
	return w.verifyOwn(ctx, db, totals.Rows, rowsOfPods)
}

// narrow is the data of a table with two integer columns: row n has the number n and one with up to seven digits.
type narrow struct{ rows Rows }

const (
	narrowSpan = 10_000_000
	// maxNarrowRow bounds the text of a row in a statement with its comma.
	maxNarrowRow = len("(2147483647,9999999),")
)

// appendRow appends (n,k).
func (d narrow) appendRow(dst []byte, n int64) []byte {
	return append(d.appendFields(append(dst, '('), n, ','), ')')
}

// appendText appends n:k.
func (d narrow) appendText(dst []byte, n int64) []byte { return d.appendFields(dst, n, ':') }

func (d narrow) appendFields(dst []byte, n int64, separator byte) []byte {
	draws := d.rows.draws(n)
	return appendNumber(append(appendNumber(dst, uint64(n)), separator), draws.below(narrowSpan)) //nolint:gosec // n is above 0
}
