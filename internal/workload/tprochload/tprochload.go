// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tprochload is the workload TPROCHLoad.
package tprochload

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
)

// Definition of the workload.
var Definition = workload.Definition{Type: "TPROCHLoad", SQL: base.MySQL, Validate: workload.Checked(parameters), New: New}

// Parameters are those of the API's member tprochLoad at one point.
type Parameters struct {
	// ScaleFactor is 0.01 to 1000 with at most two decimal places.
	ScaleFactor string `json:"scaleFactor"`
	// Data is Staged or Streamed.
	Data string `json:"data"`
	// LoadMode is OneStatement, Chunked or Parallel.
	LoadMode string `json:"loadMode"`
	// AsPublished is None, empty for None, or MariaDBOrg.
	AsPublished string `json:"asPublished,omitempty"`
	// RowsPerChunk is for Chunked, Clients for Parallel: nil is defaultClients. Other modes ignore them, so that they may stand
	// beside a loadMode that is swept.
	RowsPerChunk     int64 `json:"rowsPerChunk,omitempty"`
	Clients          *int  `json:"clients,omitempty"`
	ForeignKeyChecks bool  `json:"foreignKeyChecks"`
	UniqueChecks     bool  `json:"uniqueChecks"`
	// Indexes are made Before or After loading.
	Indexes string `json:"indexes"`
	Analyze bool   `json:"analyze,omitempty"`
}

// defaultClients is the number of connections with loadMode Parallel.
const defaultClients = 4

func (p *Parameters) clients() int {
	switch {
	case p.LoadMode != loadParallel:
		return 1
	case p.Clients == nil:
		return defaultClients
	}
	return *p.Clients
}

const (
	dataStaged       = "Staged"
	dataStreamed     = "Streamed"
	loadOneStatement = "OneStatement"
	loadChunked      = "Chunked"
	loadParallel     = "Parallel"
	asPublishedNone  = "None"
	// asPublishedMariaDBOrg sends the statements of an article.
	asPublishedMariaDBOrg = "MariaDBOrg"
	indexesBefore         = "Before"
	indexesAfter          = "After"
)

const (
	phaseIndex   = "index"
	phaseAnalyze = "analyze"
)

const tableCount = int(tproch.LineItem) + 1

// tprochLoad loads the tables of package tproch with LOAD DATA LOCAL INFILE: how long does it take until the data are
// there, and which table takes how much of it?
type tprochLoad struct {
	params Parameters
	data   *tproch.Data
	stage  *stage
	files  *files
	schema *userdata.Schema
	// found are the columns of the user's tables; none of Benchrun's own.
	found [][]userdata.Column
	// order in which the clients take the tables; taken is how many they have.
	order   []tproch.Table
	taken   atomic.Int64
	loads   [tableCount]result.TableLoad
	loaded  [tableCount]chan struct{}
	warning [tableCount]string
}

func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return nil, err
	}
	_, err = tproch.ParseScale(p.ScaleFactor)
	if err = cmp.Or(err,
		workload.OneOf("data", p.Data, dataStaged, dataStreamed),
		workload.OneOf("loadMode", p.LoadMode, loadOneStatement, loadChunked, loadParallel),
		workload.OneOf("indexes", p.Indexes, indexesBefore, indexesAfter),
	); err != nil {
		return nil, err
	}
	switch p.LoadMode {
	case loadChunked:
		err = workload.AtLeast("rowsPerChunk", p.RowsPerChunk, 1)
	case loadParallel:
		err = workload.Within("clients", p.clients(), 1, tableCount)
	}
	if err == nil && cfg.LimitSeconds != 0 {
		err = errors.New("limits.seconds is not for TPROCHLoad, which loads whole tables")
	}
	return p, cmp.Or(err, p.checkCompat(cfg), checkFiles(cfg, p))
}

// New makes the load.
func New(cfg *result.Config) (workload.Workload, error) {
	p, err := parameters(cfg)
	if err != nil {
		return nil, err
	}
	scale, _ := tproch.ParseScale(p.ScaleFactor) // it was checked with the parameters
	w := &tprochLoad{
		params: *p, data: tproch.New(cfg.Seed, scale), order: tproch.Tables(), schema: userdata.NewSchema(&cfg.Workload),
		found: make([][]userdata.Column, tableCount),
	}
	switch {
	case cfg.Workload.Data != nil:
		w.files = &files{root: cfg.Workload.Data.Root, folder: cfg.Workload.Data.Path}
	case p.Data == dataStaged:
		w.stage = &stage{data: w.data, dir: cfg.Scratch}
	}
	if p.LoadMode == loadParallel && !p.ForeignKeyChecks {
		// The largest are the last in the schema's order, and must not be the last to begin.
		slices.Reverse(w.order)
	}
	if p.AsPublished == asPublishedMariaDBOrg {
		slices.SortFunc(w.order, func(a, b tproch.Table) int { return strings.Compare(a.String(), b.String()) })
	}
	for t := range w.loaded {
		w.loaded[t] = make(chan struct{})
	}
	return w, nil
}

func (p *Parameters) checkCompat(cfg *result.Config) error {
	switch {
	case p.AsPublished != asPublishedMariaDBOrg:
		return workload.OneOf("asPublished", p.AsPublished, "", asPublishedNone, asPublishedMariaDBOrg)
	case p.LoadMode != loadOneStatement || p.ForeignKeyChecks:
		return fmt.Errorf("asPublished %s goes with loadMode %s and foreignKeyChecks false", asPublishedMariaDBOrg, loadOneStatement)
	case cfg.Workload.Data != nil || cfg.Workload.SchemaFile != "":
		return fmt.Errorf("asPublished %s is for generated data in Benchrun's own tables: leave out dataFrom and schemaFrom",
			asPublishedMariaDBOrg)
	}
	return nil
}

func checkFiles(cfg *result.Config, p *Parameters) error {
	switch own := cfg.Workload.Data != nil; {
	case p.Data == dataStaged && cfg.Scratch == "":
		return errors.New("data is Staged, but there is no scratch volume for the files: set loader.scratch")
	case p.Data == dataStaged && own:
		return errors.New("data is Staged, which is for generated data: leave it out with dataFrom")
	case own && cfg.Parameters["scaleFactor"] != "":
		return errors.New("scaleFactor cannot be swept with dataFrom: every point would load the same files")
	case p.Indexes == indexesAfter && cfg.Workload.SchemaFile != "":
		return errors.New("indexes is After, which is for Benchrun's own tables: with schemaFrom, its SQL defines all keys")
	}
	return nil
}

func (w *tprochLoad) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	var localInfile bool
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.local_infile").Scan(&localInfile); err != nil {
		return workload.Plan{}, fmt.Errorf("reading local_infile: %w", err)
	}
	if !localInfile {
		return workload.Plan{}, workload.Refused{
			Reason: "LOAD DATA LOCAL needs local_infile=ON, but the server has OFF: set the variable local_infile to ON",
		}
	}
	return w.Plan(), w.makeTables(ctx, db)
}

func (w *tprochLoad) Plan() workload.Plan {
	plan := workload.Plan{Clients: w.params.clients(), Setup: []string{w.session()}, After: w.after()}
	switch {
	case w.files != nil:
		plan.Stage = w.files.run
		// Months have English names, whatever the server's are.
		plan.Setup = append(plan.Setup, "SET lc_time_names='en_US'")
	case w.stage != nil:
		plan.Stage = w.stage.run
	}
	return plan
}

func (w *tprochLoad) makeTables(ctx context.Context, db *sql.DB) error {
	if w.schema != nil {
		return w.makeUserTables(ctx, db)
	}
	statements := tproch.Schema()
	if w.params.Indexes == indexesBefore {
		statements = append(statements, tproch.Keys()...)
	}
	return workload.Execute(ctx, db, statements...)
}

// makeUserTables executes the user's SQL, which must make all tables and columns that are going to be loaded.
func (w *tprochLoad) makeUserTables(ctx context.Context, db *sql.DB) error {
	if err := w.schema.Make(ctx, db, ""); err != nil {
		return err
	}
	var all []userdata.Wanted
	for _, t := range tproch.Tables() {
		all = append(all, userdata.Wanted{Table: t.String(), Columns: t.Columns()})
	}
	var err error
	w.found, err = userdata.Find(ctx, db, all...)
	return err
}

func (w *tprochLoad) session() string {
	return fmt.Sprintf("SET autocommit=1, foreign_key_checks=%d, unique_checks=%d",
		bit(w.params.ForeignKeyChecks), bit(w.params.UniqueChecks))
}

func (w *tprochLoad) after() []workload.Phase {
	var phases []workload.Phase
	if w.params.Indexes == indexesAfter {
		// With the checks, a server looks up all rows' references when a foreign key is added.
		phases = append(phases, workload.Phase{Name: phaseIndex, Statements: slices.Concat([]string{w.session()}, tproch.Keys())})
	}
	if w.params.Analyze {
		var names []string
		for _, t := range tproch.Tables() {
			names = append(names, t.String())
		}
		phases = append(phases, workload.Phase{Name: phaseAnalyze, Statements: []string{"ANALYZE TABLE " + strings.Join(names, ", ")}})
	}
	return phases
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}
