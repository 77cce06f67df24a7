// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

const (
	// stageRows are in the table before stages that delete and query, stageSeconds is for how long one queries.
	stageRows    = 100_000
	stageSeconds = 5
	// stageTable is that of the only client.
	stageTable = "purchases_index_1"
)

// chains of stages, of which the last one is measured.
type chains struct {
	load, change, ranges, points iibench.StageParameters
	// indexed are those before change, ranges and points.
	indexed []iibench.StageParameters
}

func newChains() *chains {
	query := func(name, by string) iibench.StageParameters {
		return iibench.StageParameters{Name: name, Query: &iibench.QueryParameters{By: by, Seconds: stageSeconds, RowsPerCommit: 1}}
	}
	load := iibench.StageParameters{Name: "l.i0", Insert: &iibench.InsertParameters{Rows: stageRows, RowsPerCommit: 100}}
	return &chains{
		load: load,
		change: iibench.StageParameters{Name: "l.i1", Insert: &iibench.InsertParameters{
			Rows: 50_000, RowsPerCommit: 50, DeletePerInsert: true,
		}},
		ranges: query("qr", "SecondaryRange"), points: query("qp", "PrimaryKey"),
		indexed: []iibench.StageParameters{
			load, {Name: "l.x", CreateIndexes: 3}, {Name: "rest", Rest: &iibench.RestParameters{}},
		},
	}
}

// stages of the insert benchmark, each after those that come before it, against a program that works as its author's does: text
// statements, in processes that each do one thing.
func stages() []comparison {
	c := newChains()
	row := func(name string, before []iibench.StageParameters, stage *iibench.StageParameters, theirs string) comparison {
		return comparison{
			name: "IIBench, stage " + name, original: "Python", wantedRate: "≥ 1", wantedUser: "≤ 0.2",
			ours: loadsStage(before, stage), theirs: pythonStage(before, theirs),
		}
	}
	return []comparison{
		row("l.i0, no indexes", nil, &c.load, fmt.Sprintf("insert %d 100 0", stageRows)),
		row("l.i1, 3 indexes, deletes", c.indexed, &c.change, "insert 50000 50 1"),
		row("qr, ranges of 10 rows", c.indexed, &c.ranges, fmt.Sprintf("query %d range", stageSeconds)),
		row("qp, single rows", c.indexed, &c.points, fmt.Sprintf("query %d row", stageSeconds)),
	}
}

func chainOf(stages ...iibench.StageParameters) result.Workload {
	return workloadtest.Load(iibench.Definition, iibench.Parameters{
		Table: "InsertBenchmark", StorageEngine: "InnoDB", Clients: 1, Stages: stages,
	})
}

// loadsStage is the loader with a chain, of which the last stage counts.
func loadsStage(before []iibench.StageParameters, stage *iibench.StageParameters) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		doc, err := b.attempt(ctx, chainOf(append(slices.Clip(before), *stage)...))
		if err != nil {
			return sample{}, err
		}
		of := &doc.Stages[len(doc.Stages)-1]
		return sample{
			rows: float64(max(of.Totals.Rows, of.Totals.Queries)), seconds: float64(of.Totals.Micros) / 1e6,
			cpuMicros:  float64(of.Client.UserMicros + of.Client.SystemMicros),
			userMicros: float64(of.Client.UserMicros), rss: float64(of.Client.MaxRSSBytes),
		}, nil
	}
}

var (
	operations = regexp.MustCompile(`(?m)^operations (\d+) in ([\d.]+) s, CPU ([\d.]+) s and ([\d.]+) s in the kernel$`)
	// oneRow makes the table.
	oneRow = iibench.StageParameters{Name: "l.i0", Insert: &iibench.InsertParameters{Rows: 1, RowsPerCommit: 1}}
)

// pythonStage is a program on the tables that the loader has left after the stages before.
func pythonStage(before []iibench.StageParameters, arguments string) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.rest(ctx); err != nil {
			return sample{}, err
		}
		made := before
		if made == nil {
			made = []iibench.StageParameters{oneRow}
		}
		if _, err := b.attempt(ctx, chainOf(made...)); err != nil {
			return sample{}, err
		}
		if before == nil {
			if err := b.truncate(ctx, stageTable); err != nil {
				return sample{}, err
			}
		}
		out, err := b.exec(ctx, fmt.Sprintf("python3 - %s %s <<'SCRIPT'%sSCRIPT", stageTable, arguments, purchasesScript))
		if err != nil {
			return sample{}, err
		}
		of, err := numbersIn(out, "operations", operations)
		if err != nil {
			return sample{}, err
		}
		return sample{rows: of[0], seconds: of[1], userMicros: of[2] * 1e6, cpuMicros: (of[2] + of[3]) * 1e6}, nil
	}
}
