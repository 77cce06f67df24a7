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
	"github.com/benchrun-dev/benchrun/internal/workload"
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
	files := workloadtest.Load(bulkinsert.Definition, fileList(500_000, 2000, 1))
	all = append(all, comparison{
		name: "BulkInsert, file list, 2,000 rows per statement", original: "mariadb client", wantedRate: "≥ 1",
		wantedCPU: "ours ≤ 0.35 µs", ours: loads(files), theirs: mariadbClient("filelist.sql", files),
	})
	all = append(all, protocols()...)
	all = append(all, autocommitted()...)
	all = append(all, tprochLoad(), tprochStreamed())
	all = append(all, stages()...)
	one, two := iiBench(1), iiBench(2)
	return append(all, comparison{
		name: "IIBench, 3 indexes, 1 inserter", original: "mariadb client", wantedRate: "≥ 1",
		wantedCPU: "ours ≤ 0.34 µs", ours: loads(one), theirs: mariadbClient("iibench.sql", one),
	}, comparison{
		name: "IIBench, 3 indexes, 1 inserter", original: "Python", wantedRate: "≥ 1",
		wantedCPU: "≤ 0.15", ours: loads(one), theirs: pythonPurchases(one),
	}, comparison{
		name: "IIBench, 3 indexes, 2 inserters", original: "the loader with 1 inserter", wantedRate: "≥ 1.7",
		wantedCPU: "ours ≤ 0.34 µs", ours: loads(two), theirs: loads(one),
	})
}

// commitSize compares single-row statements.
func commitSize(size int64, original string, theirs func(string, result.Workload) program, wantedCPU string) comparison {
	const rows = 10_000
	w := commits(rows, size)
	return comparison{
		name: fmt.Sprintf("CommitSize, %d rows per commit", size), original: original, wantedRate: "≥ 1", wantedCPU: wantedCPU,
		ours: loads(w), theirs: theirs(fmt.Sprintf("commit-%d.sql", size), w),
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

func commits(rows, size int64) result.Workload {
	return workloadtest.Load(commitsize.Definition, commitsize.Parameters{Rows: rows, RowsPerCommit: size})
}

// mariadbClient reads the workload's statements from a file.
func mariadbClient(file string, w result.Workload) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		l, err := read(w)
		if err != nil {
			return sample{}, err
		}
		path, err := b.statements(ctx, file, w)
		if err != nil {
			return sample{}, err
		}
		if err := b.emptyTables(ctx, w); err != nil {
			return sample{}, err
		}
		s, _, err := b.timed(ctx, l.rows, "mariadb --defaults-file=/bench/my.cnf "+schema+" < "+path)
		return s, err
	}
}

// emptyTables leaves the workload's tables empty and the server at rest: an attempt of one row makes them, as the loader
// does.
func (b *bench) emptyTables(ctx context.Context, w result.Workload) error {
	if err := b.rest(ctx); err != nil {
		return err
	}
	l, err := read(w)
	if err != nil {
		return err
	}
	if _, err := b.attempt(ctx, l.oneRow); err != nil {
		return err
	}
	_, err = b.exec(ctx, "mariadb --defaults-file=/bench/my.cnf -e 'TRUNCATE TABLE "+schema+"."+l.table+"'")
	return err
}

// load is what the other programs have to know of a workload.
type load struct {
	rows, perCommit int64
	table           string
	// oneRow is the same with one row.
	oneRow result.Workload
}

// read is what there is to know of one of the workloads that insert.
func read(w result.Workload) (load, error) {
	cfg := &result.Config{Workload: w}
	switch w.Type {
	case commitsize.Definition.Type:
		p, err := workload.Decode[commitsize.Parameters](cfg)
		if err != nil {
			return load{}, err
		}
		return load{rows: p.Rows, perCommit: p.RowsPerCommit, table: "demo", oneRow: commits(1, 1)}, nil
	case bulkinsert.Definition.Type:
		p, err := workload.Decode[bulkinsert.Parameters](cfg)
		if err != nil {
			return load{}, err
		}
		l := load{rows: p.Rows, perCommit: p.RowsPerStatement * p.StatementsPerTransaction, table: "inserts"}
		p.Rows = 1
		l.oneRow = workloadtest.Load(bulkinsert.Definition, p)
		return l, nil
	case iibench.Definition.Type:
		p, err := workload.Decode[iibench.Parameters](cfg)
		if err != nil {
			return load{}, err
		}
		l := load{rows: p.Rows, perCommit: p.RowsPerCommit, table: "purchases_index"}
		p.Rows = 1
		l.oneRow = workloadtest.Load(iibench.Definition, p)
		return l, nil
	}
	return load{}, fmt.Errorf("workload %s is not compared here", w.Type)
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
		theirs: sysbenchBulkInsert(rows, connections),
	}
}

var sysbenchTime = regexp.MustCompile(`total time: +([\d.]+)s`)

// sysbenchBulkInsert has a table for each connection.
func sysbenchBulkInsert(rows int64, threads int) program {
	return sysbench(rows, threads, "bulk_insert")
}

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

func iiBench(inserters int) result.Workload {
	return workloadtest.Load(iibench.Definition, iibench.Parameters{
		Table: "InsertBenchmark", Rows: 250_000, RowsPerCommit: 1000, RowsPerStatement: 1000, StorageEngine: "InnoDB",
		SecondaryIndexes: 3, IndexesAt: "Start", Clients: inserters, ReportEveryRows: 50_000,
	})
}
