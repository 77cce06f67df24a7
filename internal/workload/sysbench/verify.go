// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"context"
	"fmt"
	"math"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Verify implements Tool.
func (t *sysbenchTool) Verify(ctx context.Context, in workload.VerifyInput) ([]result.Check, error) {
	server := workload.ServerCounted(in)
	if !server.Passed {
		return []result.Check{server}, nil // there may be no tables to look at
	}
	rows, err := t.rows(ctx, in)
	return append([]result.Check{server}, rows...), err
}

// rows compares the tables of sysbench's own scripts with what their definition leaves in them.
func (t *sysbenchTool) rows(ctx context.Context, in workload.VerifyInput) ([]result.Check, error) {
	if t.params.ScriptFrom != nil || t.params.Script == scriptTPCC {
		return nil, nil // the script's own check says
	}
	written := in.Reading.Totals.Transactions + in.Reading.Totals.Rows + t.warmupEvents
	tables, low, high := t.expected(written)
	got := int64(0)
	for i := range tables {
		var n int64
		if err := in.DB.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM sbtest%d", i+1)).Scan(&n); err != nil {
			return nil, fmt.Errorf("counting the rows of sbtest%d: %w", i+1, err)
		}
		got += n
	}
	detail := fmt.Sprintf("%d in %d tables", got, tables)
	if got < low || got > high {
		detail += fmt.Sprintf(", want %d to %d", low, high)
	}
	return []result.Check{{Name: "rows", Passed: got >= low && got <= high, Detail: detail}}, nil
}

// What sysbench's scripts take if nothing is said.
const (
	defaultTables    int32 = 1
	defaultTableSize int64 = 10_000
)

// expected is how many rows are in how many tables after so many events, at least and at most.
func (t *sysbenchTool) expected(events int64) (tables int32, low, high int64) {
	p := t.params
	tables, size := defaultTables, defaultTableSize
	if p.Tables != nil {
		tables = *p.Tables
	}
	if p.TableSize != nil {
		size = *p.TableSize
	}
	low = int64(tables) * size
	high = low
	switch t.script.lua {
	case scriptInsert:
		low, high = low+events, high+events
	case scriptDelete:
		low -= min(events, low)
	case scriptBulkInsert:
		tables, low, high = p.Threads, events, events
	}
	if p.Options["skip_trx"] == "on" || p.Options["auto_inc"] == "off" {
		low, high = 0, math.MaxInt64 // an event may do half of its work, or begin with empty tables
	}
	return tables, low, high
}
