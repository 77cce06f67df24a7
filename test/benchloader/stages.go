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

type stages []iibench.StageParameters

// measuredStage comes after others. The other program does the same with these arguments.
type measuredStage struct {
	name, arguments string
	before          stages
	stage           iibench.StageParameters
}

func measuredStages() []measuredStage {
	load := iibench.StageParameters{Name: "l.i0", Insert: &iibench.InsertParameters{Rows: stageRows, RowsPerCommit: 100}}
	change := iibench.StageParameters{
		Name: "l.i1", Insert: &iibench.InsertParameters{Rows: 50_000, RowsPerCommit: 50, DeletePerInsert: true},
	}
	query := func(name, by string) iibench.StageParameters {
		return iibench.StageParameters{Name: name, Query: &iibench.QueryParameters{By: by, Seconds: stageSeconds, RowsPerCommit: 1}}
	}
	indexed := stages{load, {Name: "l.x", CreateIndexes: 3}, {Name: "rest", Rest: &iibench.RestParameters{}}}
	return []measuredStage{
		{"l.i0, no indexes", fmt.Sprintf("insert %d 100 0", stageRows), nil, load},
		{"l.i1, 3 indexes, deletes", "insert 50000 50 1", indexed, change},
		{"qr, ranges of 10 rows", fmt.Sprintf("query %d range", stageSeconds), indexed, query("qr", "SecondaryRange")},
		{"qp, single rows", fmt.Sprintf("query %d row", stageSeconds), indexed, query("qp", "PrimaryKey")},
	}
}

// staged compares stages of the insert benchmark with a program that works as its author's does: text statements, in processes
// that each do one thing.
func staged() []comparison {
	var all []comparison
	for _, s := range measuredStages() {
		all = append(all, comparison{
			name: "IIBench, stage " + s.name, original: "Python", wantedRate: "≥ 1", wantedUser: "≤ 0.2",
			ours: loadsStage(s.before, s.stage), theirs: pythonStage(s.before, s.arguments),
		})
	}
	return all
}

func chainOf(stages ...iibench.StageParameters) result.Workload {
	return workloadtest.Load(iibench.Definition, iibench.Parameters{
		Table: "InsertBenchmark", StorageEngine: "InnoDB", Clients: 1, Stages: stages,
	})
}

// loadsStage is the loader with a chain, of which the last stage counts.
func loadsStage(before stages, stage iibench.StageParameters) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		doc, err := b.attempt(ctx, chainOf(append(slices.Clip(before), stage)...))
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
func pythonStage(before stages, arguments string) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.rest(ctx); err != nil {
			return sample{}, err
		}
		made := before
		if made == nil {
			made = stages{oneRow}
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
