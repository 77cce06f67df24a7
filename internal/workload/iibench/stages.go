// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// StageParameters are those of a stage in the API: one of its members is set.
type StageParameters struct {
	Name          string            `json:"name"`
	Insert        *InsertParameters `json:"insert,omitempty"`
	CreateIndexes int               `json:"createIndexes,omitempty"`
	Rest          *RestParameters   `json:"rest,omitempty"`
	Query         *QueryParameters  `json:"query,omitempty"`
}

// InsertParameters are those of a stage that inserts.
type InsertParameters struct {
	// Rows of all clients together.
	Rows            int64         `json:"rows"`
	RowsPerCommit   int64         `json:"rowsPerCommit"`
	RatePerSecond   workload.Rate `json:"ratePerSecond,omitempty"`
	DeletePerInsert bool          `json:"deletePerInsert,omitempty"`
}

// RestParameters are those of a stage in which the server comes to rest.
type RestParameters struct {
	AtLeastSeconds int `json:"atLeastSeconds,omitempty"`
}

// QueryParameters are those of a stage that queries.
type QueryParameters struct {
	// By is SecondaryRange or PrimaryKey.
	By              string        `json:"by"`
	Seconds         int           `json:"seconds"`
	RatePerSecond   workload.Rate `json:"ratePerSecond,omitempty"`
	RowsPerCommit   int64         `json:"rowsPerCommit"`
	DeletePerInsert bool          `json:"deletePerInsert,omitempty"`
}

const (
	tablesPerClient  = "PerClient"
	tablesShared     = "Shared"
	bySecondaryRange = "SecondaryRange"
	byPrimaryKey     = "PrimaryKey"
)

const (
	maxStages        = 20
	maxRowsPerCommit = 100_000
)

// stageName has 1 to 32 lower-case letters, digits, dots and hyphens, with a letter or digit at both ends.
var stageName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?$`)

// checkStages finds what is wrong with the parameters of a chain. Names in errors are the API's.
func checkStages(cfg *result.Config, p *Parameters) error {
	switch {
	case cfg.Pods > 1:
		return fmt.Errorf("stages are measured from one Pod: loader.pods is %d but must be 1", cfg.Pods)
	case cfg.LimitSeconds > 0:
		return errors.New("limits.seconds is not for stages: query stages have their own seconds")
	}
	if err := cmp.Or(
		workload.OneOf("table", p.Table, schemaInsertBenchmark, schemaTokutek2008),
		workload.OneOf("tables", p.Tables, "", tablesPerClient, tablesShared),
		workload.Within("clients", p.Clients, 1, 64),
	); err != nil {
		return err
	}
	switch {
	case p.Pacing != workload.Pacing{}:
		return errors.New("set ratePerSecond in the stages; thinkTimeMilliseconds, warmupSeconds and rampSeconds are not for stages")
	case p.QueryClients > 0 || p.KeepRows > 0 || p.IndexesAt == indexesAtEnd || p.AsPublished == contest2008:
		return errors.New("queryClients, keepRows, indexesAt and asPublished are not for stages: each says what it does itself")
	case len(p.Stages) > maxStages:
		return fmt.Errorf("there are %d stages but at most %d are allowed", len(p.Stages), maxStages)
	case p.Stages[0].Insert == nil || p.Stages[0].Insert.DeletePerInsert:
		return fmt.Errorf("stage %s is the first and must insert without deletePerInsert: the tables are empty", p.Stages[0].Name)
	}
	return cmp.Or(insert.CheckEngine(p.StorageEngine), checkEach(p, len(schemas[p.Table].indexes)))
}

func checkEach(p *Parameters, schemaIndexes int) error {
	names, indexes := map[string]bool{}, 0
	for i := range p.Stages {
		s := &p.Stages[i]
		if !stageName.MatchString(s.Name) || names[s.Name] {
			return fmt.Errorf("the name of stage %d is %q but must be another one than those before, of 1 to 32 lower-case letters, "+
				"digits, dots and hyphens", i+1, s.Name)
		}
		names[s.Name] = true
		if err := s.check(p, indexes, schemaIndexes); err != nil {
			return fmt.Errorf("stage %s: %w", s.Name, err)
		}
		indexes += s.CreateIndexes
	}
	return nil
}

// check a stage before which the tables have so many indexes, of so many that the schema has.
func (s *StageParameters) check(p *Parameters, indexes, most int) error {
	members := 0
	for _, set := range []bool{s.Insert != nil, s.CreateIndexes != 0, s.Rest != nil, s.Query != nil} {
		if set {
			members++
		}
	}
	switch {
	case members != 1:
		return errors.New("set exactly one of insert, createIndexes, rest and query")
	case s.Insert != nil:
		return s.Insert.check(p)
	case s.Query != nil:
		return s.Query.check(p, indexes)
	case s.Rest != nil:
		return workload.Within("rest.atLeastSeconds", s.Rest.AtLeastSeconds, 0, 3600)
	case indexes > 0:
		return errors.New("another stage has created the indexes already")
	}
	return workload.Within("createIndexes", s.CreateIndexes, 1, most)
}

func (s *InsertParameters) check(p *Parameters) error {
	if err := workload.AtLeast("insert.rowsPerCommit", s.RowsPerCommit, 1); err != nil {
		return err
	}
	// Of a table without a row none can be queried.
	if least := int64(p.Clients) * s.RowsPerCommit; s.Rows < least {
		return fmt.Errorf("insert.rows is %d but must be at least %d: rowsPerCommit (%d) for each of the clients (%d)", s.Rows, least,
			s.RowsPerCommit, p.Clients)
	}
	return checkInserts(p, "insert", s.RowsPerCommit, s.RatePerSecond, s.DeletePerInsert)
}

func (s *QueryParameters) check(p *Parameters, indexes int) error {
	err := cmp.Or(
		workload.OneOf("query.by", s.By, bySecondaryRange, byPrimaryKey),
		workload.Within("query.seconds", s.Seconds, 1, 86_400),
		workload.AtLeast("query.rowsPerCommit", s.RowsPerCommit, 1),
	)
	switch {
	case err != nil:
		return err
	case s.By == bySecondaryRange && indexes == 0:
		return fmt.Errorf("query.by %s needs a stage with createIndexes before it: the tables have no index", bySecondaryRange)
	case s.DeletePerInsert && s.RatePerSecond == 0:
		return errors.New("query.deletePerInsert needs query.ratePerSecond: without it nothing is inserted")
	}
	return checkInserts(p, "query", s.RowsPerCommit, s.RatePerSecond, s.DeletePerInsert)
}

// checkInserts are what stages that insert have in common.
func checkInserts(p *Parameters, member string, rowsPerCommit int64, rate workload.Rate, deletes bool) error {
	switch {
	case rowsPerCommit > maxRowsPerCommit:
		return fmt.Errorf("%s.rowsPerCommit is %d but must be at most %d", member, rowsPerCommit, maxRowsPerCommit)
	case deletes && p.Tables == tablesShared:
		return fmt.Errorf("%s.deletePerInsert needs tables: %s", member, tablesPerClient)
	}
	if err := (workload.Pacing{RatePerSecond: rate}).Check(); err != nil {
		return fmt.Errorf("%s.%w", member, err)
	}
	return nil
}

var autocommit = []string{"SET autocommit=1"}

// clientStage is a stage in which clients insert, delete and query. Each of these is done by as many connections as there are
// clients: first come those that insert, then those that delete, then those that query.
type clientStage struct {
	link
	number int
	// loads of the tables; nil if nothing is inserted. rows is how many, 0 if the time decides.
	loads []*insert.Load
	rows  int64
	rate  workload.Rate
	// deletes as many rows as are inserted; queries for as long as the stage lasts: from one of the indexes, or without any by the
	// primary key.
	deletes, queries bool
	indexes          []index
}

type part func(ctx context.Context, c *workload.Client, client int, t *chainTable) (result.StoppedBy, error)

func (s *clientStage) parts() []part {
	var parts []part
	if s.loads != nil {
		parts = append(parts, s.insert)
	}
	if s.deletes {
		parts = append(parts, s.remove)
	}
	if s.queries {
		parts = append(parts, s.query)
	}
	return parts
}

// Prepare implements workload.Workload: the tables are there.
func (s *clientStage) Prepare(context.Context, *sql.DB) (workload.Plan, error) {
	clients := s.params.Clients
	for _, t := range s.tables {
		t.inserting.Store(int64(clients / len(s.tables)))
		t.inserted = nil
		if s.deletes {
			// The table keeps the size that it has.
			t.inserted, t.reported = make(chan int64, 1), t.added.Load()
			t.keep = t.reported - t.deleted.Load()
		}
	}
	return workload.Plan{
		Clients: clients * len(s.parts()), Setup: autocommit, Rows: s.rows, Rate: s.rate, ByTime: s.queries,
	}, nil
}

func (s *clientStage) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	client := c.Index % s.params.Clients
	return s.parts()[c.Index/s.params.Clients](ctx, c, client, s.tables[client%len(s.tables)])
}

func (s *clientStage) insert(ctx context.Context, c *workload.Client, client int, t *chainTable) (result.StoppedBy, error) {
	defer t.endInserting()
	return s.loads[client%len(s.loads)].Insert(ctx, c)
}

func (s *clientStage) remove(ctx context.Context, c *workload.Client, _ int, t *chainTable) (result.StoppedBy, error) {
	return result.StoppedByRows, t.remove(ctx, c)
}

// maxStreams keeps the random numbers of the clients of a stage apart from those of other stages.
const maxStreams = 1000

func (s *clientStage) query(_ context.Context, c *workload.Client, client int, t *chainTable) (result.StoppedBy, error) {
	draws := s.chain.rows.Draws(queryStream - int64(s.number*maxStreams+client))
	return result.StoppedBySeconds, queries(c, true,
		func(dst []byte) []byte {
			if len(s.indexes) > 0 {
				return t.appendRangeQuery(dst, s.indexes, &draws)
			}
			return t.appendRowQuery(dst, t.deleted.Load(), t.added.Load(), &draws)
		},
		func(ended time.Duration) bool { return c.Expired(ended) })
}

type indexStage struct {
	link
	indexes []index
}

// Prepare implements workload.Workload: the tables are there.
func (s *indexStage) Prepare(context.Context, *sql.DB) (workload.Plan, error) {
	return workload.Plan{Clients: len(s.tables), Setup: autocommit, ByTime: true}, nil
}

func (s *indexStage) Measure(_ context.Context, c *workload.Client) (result.StoppedBy, error) {
	c.Enter()
	defer c.Leave()
	began := c.Recorder.Now()
	if err := c.Session.Exec([]byte(s.tables[c.Index].addIndexes(s.indexes))); err != nil {
		return "", fmt.Errorf("creating the secondary indexes: %w", err)
	}
	c.Recorder.Indexed(began, c.Recorder.Now())
	return result.StoppedByRows, nil
}
