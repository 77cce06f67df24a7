// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
)

// autocommit sessions end a transaction with its only statement.
var autocommit = []string{"SET autocommit=1"}

// clientStage is a stage in which clients insert, delete and query. Each of these is done by as many connections as there are
// clients: first come those that insert, then those that delete, then those that query.
type clientStage struct {
	*chain
	number int
	// loads of the tables; nil if nothing is inserted. rows is how many, 0 if the time decides.
	loads []*insert.Load
	rows  int64
	rate  pace.Rate
	// deletes as many rows as are inserted; queries for as long as the stage lasts: from one of the indexes, or without any by the
	// primary key.
	deletes, queries bool
	indexes          []index
}

// part is what a connection does, for a client and on its table.
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

// tableOf a client.
func (s *clientStage) tableOf(client int) (int, *chainTable) {
	i := client % len(s.tables)
	return i, s.tables[i]
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

// Measure implements workload.Workload.
func (s *clientStage) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	client := c.Index % s.params.Clients
	_, table := s.tableOf(client)
	return s.parts()[c.Index/s.params.Clients](ctx, c, client, table)
}

func (s *clientStage) insert(ctx context.Context, c *workload.Client, client int, t *chainTable) (result.StoppedBy, error) {
	defer func() {
		if t.inserting.Add(-1) == 0 && t.inserted != nil {
			close(t.inserted)
		}
	}()
	i, _ := s.tableOf(client)
	return s.loads[i].Insert(ctx, c)
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

// Verify implements workload.Workload.
func (s *clientStage) Verify(ctx context.Context, db *sql.DB, totals result.Totals, _ []int64) ([]result.Check, error) {
	return s.checkIDs(ctx, db, totals)
}

// indexStage is a stage in which a client for each table builds its indexes.
type indexStage struct {
	*chain
	indexes []index
}

// Prepare implements workload.Workload: the tables are there.
func (s *indexStage) Prepare(context.Context, *sql.DB) (workload.Plan, error) {
	return workload.Plan{Clients: len(s.tables), Setup: autocommit, ByTime: true}, nil
}

// Measure implements workload.Workload.
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

// Verify implements workload.Workload.
func (s *indexStage) Verify(ctx context.Context, db *sql.DB, totals result.Totals, _ []int64) ([]result.Check, error) {
	return s.checkIDs(ctx, db, totals)
}
