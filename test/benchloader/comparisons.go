// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// comparisons are the rows of the table. To add one: a program of ours, mostly loads(workload), and one of theirs.
func comparisons() []comparison {
	var all []comparison
	for _, size := range []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} {
		all = append(all, commitSize(size, "mariadb client", mariadbClient, "≤ 0.7"))
	}
	for _, size := range []int64{1, 16, 1024} {
		all = append(all, commitSize(size, "Python", python, ""))
	}
	all = append(all, narrow(1, "≥ 1.1"), narrow(2, "≥ 1"), narrow(4, "≥ 1"))
	files := bulkInserts(fileList(500_000, 2000, 1))
	all = append(all, comparison{
		name: "BulkInsert, file list, 2,000 rows per statement", original: "mariadb client", wantedRate: "≥ 1",
		wantedCPU: "ours ≤ 0.35 µs", ours: loads(files.Workload), theirs: mariadbClient("filelist.sql", files),
	})
	all = append(all, protocols()...)
	all = append(all, autocommitted()...)
	all = append(all, tprochLoad("Staged"), tprochLoad("Streamed"))
	all = append(all, staged()...)
	all = append(all, ownStatements(false)...)
	one, two := iiBench(1), iiBench(2)
	return append(all, comparison{
		name: "IIBench, 3 indexes, 1 inserter", original: "mariadb client", wantedRate: "≥ 1",
		wantedCPU: "ours ≤ 0.34 µs", ours: loads(one.Workload), theirs: mariadbClient("iibench.sql", one),
	}, comparison{
		name: "IIBench, 3 indexes, 1 inserter", original: "Python", wantedRate: "≥ 1",
		wantedCPU: "≤ 0.15", ours: loads(one.Workload), theirs: pythonPurchases(one),
	}, comparison{
		name: "IIBench, 3 indexes, 2 inserters", original: "the loader with 1 inserter", wantedRate: "≥ 1.7",
		wantedCPU: "ours ≤ 0.34 µs", ours: loads(two.Workload), theirs: loads(one.Workload),
	})
}

// commitSize compares single-row statements.
func commitSize(size int64, original string, theirs func(string, inserts) program, wantedCPU string) comparison {
	const rows = 10_000
	w := commits(rows, size)
	return comparison{
		name: fmt.Sprintf("CommitSize, %d rows per commit", size), original: original, wantedRate: "≥ 1", wantedCPU: wantedCPU,
		ours: loads(w.Workload), theirs: theirs(fmt.Sprintf("commit-%d.sql", size), w),
	}
}

// withBefore is each workload once, by the loader and by an earlier one.
func withBefore(all []comparison) []comparison {
	var list []comparison
	for _, c := range all {
		if !slices.ContainsFunc(list, func(other comparison) bool { return other.name == c.name }) {
			before := comparison{name: c.name, original: "the loader before", ours: c.ours, theirs: byBefore(c.ours)}
			if c.wantedUser != "" {
				before.wantedUser = "≤ 1"
			}
			list = append(list, before)
		}
	}
	return list
}

// inserts is a workload, and what the other programs have to know of it.
type inserts struct {
	result.Workload
	rows, perCommit int64
	table           string
	// oneRow is the same with one row.
	oneRow result.Workload
}

func commits(rows, size int64) inserts {
	of := func(rows, size int64) result.Workload {
		return workloadtest.Load(commitsize.Definition, commitsize.Parameters{Rows: rows, RowsPerCommit: size})
	}
	return inserts{of(rows, size), rows, size, "demo", of(1, 1)}
}

func bulkInserts(p bulkinsert.Parameters) inserts {
	all, rows, perCommit := workloadtest.Load(bulkinsert.Definition, p), p.Rows, p.RowsPerStatement*p.StatementsPerTransaction
	p.Rows = 1
	return inserts{all, rows, perCommit, "inserts", workloadtest.Load(bulkinsert.Definition, p)}
}

func iiBench(inserters int) inserts {
	const rows, perCommit = 250_000, 1000
	of := func(rows int64) result.Workload {
		return workloadtest.Load(iibench.Definition, iibench.Parameters{
			Table: "InsertBenchmark", Rows: rows, RowsPerCommit: perCommit, RowsPerStatement: 1000, StorageEngine: "InnoDB",
			SecondaryIndexes: 3, IndexesAt: "Start", Clients: inserters, ReportEveryRows: 50_000,
		})
	}
	return inserts{of(rows), rows, perCommit, "purchases_index", of(1)}
}

// client is MariaDB's, with the schema to follow.
const client = "mariadb --defaults-file=/bench/my.cnf "

// mariadbClient reads the workload's statements from a file.
func mariadbClient(file string, w inserts) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		path, err := b.statements(ctx, file, w.Workload)
		if err != nil {
			return sample{}, err
		}
		return b.insert(ctx, w, client+schema+" < "+path)
	}
}

// insert runs a shell command that inserts the workload's rows into tables that are empty, on a server at rest: an attempt of one
// row makes them, as the loader does.
func (b *bench) insert(ctx context.Context, w inserts, command string) (sample, error) {
	if err := b.rest(ctx); err != nil {
		return sample{}, err
	}
	if _, err := b.attempt(ctx, w.oneRow); err != nil {
		return sample{}, err
	}
	if err := b.truncate(ctx, w.table); err != nil {
		return sample{}, err
	}
	s, _, err := b.timed(ctx, w.rows, command)
	return s, err
}

func (b *bench) truncate(ctx context.Context, table string) error {
	_, err := b.exec(ctx, client+"-e 'TRUNCATE TABLE "+schema+"."+table+"'")
	return err
}

// narrow compares rows of two integers in statements of 512 KiB.
func narrow(connections int, wanted string) comparison {
	rows := int64(1_500_000)
	return comparison{
		name:     fmt.Sprintf("BulkInsert, two integers, 512 KiB statements, %d connections", connections),
		original: "sysbench bulk_insert", wantedRate: wanted, wantedCPU: "≤ 0.25",
		ours: loads(workloadtest.Load(bulkinsert.Definition, bulkinsert.Parameters{
			Table: "Narrow", Tables: connections, Rows: rows, RowsPerStatement: 30_000, StatementsPerTransaction: 1,
			Clients: connections, StorageEngine: "InnoDB",
		})),
		theirs: sysbench(rows, connections, "bulk_insert"), // it has a table for each connection
	}
}

var sysbenchTime = regexp.MustCompile(`total time: +([\d.]+)s`)

// sysbench runs one of its scripts, with the script's options, for so many events of a row each. Its own time is taken, which
// begins when all are connected.
func sysbench(rows int64, threads int, script string) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.rest(ctx); err != nil {
			return sample{}, err
		}
		command := fmt.Sprintf("sysbench --config-file=/bench/sysbench.conf --threads=%d --events=%d --time=0 %s",
			threads, rows, script)
		if _, err := b.exec(ctx, command+" prepare"); err != nil {
			return sample{}, err
		}
		s, out, err := b.timed(ctx, rows, command+" run")
		if err != nil {
			return s, err
		}
		match := sysbenchTime.FindStringSubmatch(out)
		if match == nil {
			return s, fmt.Errorf("sysbench says no time: %s", out)
		}
		s.seconds, err = strconv.ParseFloat(match[1], 64)
		return s, err
	}
}
