// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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
	return w, nil
}

// spread names the tables, and the statements' heads: the first table has the name itself, the others have numbers.
func (w *bulkInsert) spread(name, columns string) {
	for i := range w.params.Tables {
		numbered := name
		if i > 0 {
			numbered = fmt.Sprintf("%s_%d", name, i+1)
		}
		w.table.names = append(w.table.names, numbered)
		w.load.heads = append(w.load.heads, "INSERT INTO "+numbered+" ("+columns+") VALUES ")
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
	w.spread("inserts", "path, modification_time, file_size")
	w.load.appendRow, w.load.rowBytes = data.appendRow, int64(maxFileRow)
}

func (w *bulkInsert) useNarrow(data narrow) {
	w.table = table{
		columns:   "id INT NOT NULL PRIMARY KEY, k INT NOT NULL",
		canonical: "CONCAT_WS(':', id, k)", appendText: data.appendText,
	}
	w.spread("narrow", "id, k")
	w.load.appendRow, w.load.rowBytes = data.appendRow, int64(maxNarrowRow)
}

// Plan implements Planned.
func (w *bulkInsert) Plan() Plan {
	return Plan{Clients: int(w.load.share.of(int64(w.params.Concurrency))), Rows: w.params.Rows, Setup: []string{"SET autocommit=0"}}
}

// Prepare implements Workload.
func (w *bulkInsert) Prepare(ctx context.Context, db *sql.DB) (Plan, error) {
	if err := w.load.fits(ctx, db); err != nil {
		return Plan{}, err
	}
	return w.Plan(), w.table.make(ctx, db)
}

// Measure implements Workload.
func (w *bulkInsert) Measure(ctx context.Context, c *Client) (result.StoppedBy, error) {
	return w.load.insert(ctx, c)
}

// Verify implements Workload.
func (w *bulkInsert) Verify(ctx context.Context, db *sql.DB, totals result.Totals, rowsOfPods []int64) ([]result.Check, error) {
	return w.table.verify(ctx, db, totals.Rows, w.load.sent(rowsOfPods))
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
