// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package iibench is the workload IIBench.
package iibench

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "IIBench", SQL: base.MySQL, Shared: true, Primes: true, Validate: workload.Checked(parameters), New: New,
}

// Parameters are those of the API's member iiBench at one point.
type Parameters struct {
	// Table is InsertBenchmark or Tokutek2008.
	Table            string `json:"table"`
	Rows             int64  `json:"rows"`
	RowsPerCommit    int64  `json:"rowsPerCommit"`
	RowsPerStatement int64  `json:"rowsPerStatement"`
	StorageEngine    string `json:"storageEngine"`
	// SecondaryIndexes is 0 to 3; IndexesAt is Start or End.
	SecondaryIndexes int    `json:"secondaryIndexes"`
	IndexesAt        string `json:"indexesAt"`
	Clients          int    `json:"clients"`
	QueryClients     int    `json:"queryClients,omitempty"`
	// KeepRows is the number of rows from which on as many of the oldest are deleted as are inserted; 0 is never.
	KeepRows        int64 `json:"keepRows,omitempty"`
	ReportEveryRows int64 `json:"reportEveryRows"`
	// AsPublished is None, empty for None, or Contest2008.
	AsPublished string `json:"asPublished,omitempty"`
	// Tables is PerClient, empty for PerClient, or Shared. It is for Stages, with which only the table, the storage engine and the
	// clients count of what is above.
	Tables string            `json:"tables,omitempty"`
	Stages []StageParameters `json:"stages,omitempty"`

	workload.Pacing
}

// iiBench inserts into a table with secondary indexes, whose values are random: what is left of the rate when the indexes
// are larger than the memory? Beside those that insert, a client may delete the oldest rows, and others may query.
type iiBench struct {
	*insert.Load
	params Parameters
	rows   generate.Rows
	schema *purchases
	table  insert.Table
	// inserters and queriers are this Pod's parts of clients and queryClients.
	inserters, queriers int
	// deletion of the oldest rows, without a channel if none are deleted.
	deletion
}

func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return nil, err
	}
	share := workload.ShareOf(cfg)
	if len(p.Stages) > 0 {
		return p, checkStages(cfg, p)
	}
	if p.KeepRows > 0 && share.Pods > 1 {
		return nil, errors.New("a run that deletes (keepRows) loads from one Pod, which knows the rows to delete: " +
			"loader.pods must be 1")
	}
	return p, cmp.Or(
		p.Check(),
		errors.Join(checkIIBench(p), insert.CheckEngine(p.StorageEngine)), checkContest(p),
		share.Enough("clients", int64(p.Clients)), insert.CheckSizes(p.Rows, p.RowsPerStatement, p.RowsPerCommit),
	)
}

// New makes the load.
func New(cfg *result.Config) (workload.Workload, error) {
	p, err := parameters(cfg)
	if err != nil {
		return nil, err
	}
	if len(p.Stages) > 0 {
		return newChain(p, cfg.Seed), nil
	}
	share := workload.ShareOf(cfg)
	w := &iiBench{
		params: *p, rows: generate.NewRows(cfg.Seed), schema: schemas[p.Table],
		Load: insert.New(p.Rows, p.RowsPerStatement, p.RowsPerCommit, share),
	}
	w.inserters, w.queriers = int(share.Of(int64(p.Clients))), int(share.Of(int64(p.QueryClients)))
	w.Pace = p.Pacing
	// A transaction that is one statement needs no COMMIT, and no round trip for it.
	w.Autocommit = p.RowsPerStatement >= p.RowsPerCommit
	w.beginInserting()
	w.Heads, w.RowBytes = []string{w.schema.head}, w.schema.rowBytes
	w.AppendRow = func(dst []byte, n int64) []byte { return w.schema.appendRow(dst, purchaseOf(w.rows, n)) }
	w.table = w.schema.table(w.rows, p.StorageEngine)
	w.table.Names = []string{w.schema.name}
	if p.IndexesAt != indexesAtEnd {
		for _, index := range w.indexes() {
			w.table.Columns += ", " + index.definition()
		}
	}
	return w, nil
}

func checkIIBench(p *Parameters) error {
	if err := workload.OneOf("table", p.Table, schemaInsertBenchmark, schemaTokutek2008); err != nil {
		return err
	}
	return cmp.Or(
		workload.AtLeast("clients", p.Clients, 1), workload.AtLeast("queryClients", p.QueryClients, 0),
		workload.Within("secondaryIndexes", p.SecondaryIndexes, 0, len(schemas[p.Table].indexes)),
		workload.OneOf("indexesAt", p.IndexesAt, "Start", indexesAtEnd), workload.AtLeast("keepRows", p.KeepRows, 0),
		workload.AtLeast("reportEveryRows", p.ReportEveryRows, 1),
		workload.OneOf("asPublished", p.AsPublished, "", "None", contest2008),
	)
}

const indexesAtEnd = "End"

func (w *iiBench) beginInserting() {
	w.inserting.Store(int64(w.inserters))
	if w.params.KeepRows > 0 {
		w.from, w.keep, w.autocommit = w.schema.name, w.params.KeepRows, w.Autocommit
		w.inserted = make(chan int64, w.inserters)
		w.Committed = w.tellDeleter
	}
}

func (w *iiBench) Continue() {
	w.Load.Continue()
	w.beginInserting()
}

func (w *iiBench) indexes() []index { return w.schema.indexes[:w.params.SecondaryIndexes] }

func (w *iiBench) Plan() workload.Plan {
	p := workload.Plan{
		Clients: w.inserters + w.queriers, Rows: w.params.Rows, Rate: w.params.RatePerSecond,
		Setup: []string{"SET " + insert.SessionCommit(w.Autocommit)},
		Milestones: workload.Milestones{
			Every: w.params.ReportEveryRows,
			Sizes: "SELECT COALESCE(data_length, 0), COALESCE(index_length, 0) FROM information_schema.tables" +
				" WHERE table_schema = DATABASE() AND table_name = '" + w.schema.name + "'",
		},
	}
	if w.params.StorageEngine == "InnoDB" {
		// InnoDB counts its pages now and then only, and MySQL remembers for a day what it said of them. Other engines know the sizes
		// of their files, and some read all of an index when they are told to count.
		p.Milestones.Count = []string{"ANALYZE NO_WRITE_TO_BINLOG TABLE " + w.schema.name}
	}
	if w.inserted != nil {
		p.Clients++
	}
	if w.params.IndexesAt == indexesAtEnd && w.params.SecondaryIndexes > 0 {
		p.After = append(p.After, workload.Phase{Name: "index", Statements: []string{w.schema.addIndexes(w.indexes())}})
	}
	if w.params.AsPublished == contest2008 {
		p.After = append(p.After, workload.Phase{Name: "flush", Statements: []string{"FLUSH TABLES " + w.schema.name}})
	}
	return p
}

func (w *iiBench) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	if err := w.Fits(ctx, db); err != nil {
		return workload.Plan{}, err
	}
	if err := w.table.Make(ctx, db); err != nil {
		return workload.Plan{}, err
	}
	p := w.Plan()
	if w.params.AsPublished != contest2008 {
		return p, nil
	}
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return workload.Plan{}, fmt.Errorf("reading the server's version: %w", err)
	}
	p.Findings = contestDeviations(&w.params, version)
	return p, nil
}

// Measure implements Workload: the first clients insert, then comes the one that deletes, if there is one, and the others
// query.
func (w *iiBench) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	next := c.Index - w.inserters
	switch {
	case next < 0:
		defer w.endInserting()
		return w.Insert(ctx, c)
	case next == 0 && w.inserted != nil:
		return result.StoppedByRows, w.remove(ctx, c)
	default:
		return result.StoppedByRows, w.query(c)
	}
}

// Verify implements Workload. Once rows were deleted only their number is compared: which ids the others got was the
// server's choice.
func (w *iiBench) Verify(ctx context.Context, db *sql.DB, totals result.Totals, rowsOfPods []int64) ([]result.Check, error) {
	if totals.RowsDeleted == 0 {
		return w.table.Verify(ctx, db, totals.Rows, w.Sent(rowsOfPods))
	}
	got, err := checksum.CountRows(ctx, db, w.schema.name)
	if err != nil {
		return nil, err
	}
	return []result.Check{{
		Name: "rows", Passed: got == totals.Rows-totals.RowsDeleted,
		Detail: fmt.Sprintf("%d committed, %d deleted, %d in the table", totals.Rows, totals.RowsDeleted, got),
	}}, nil
}
