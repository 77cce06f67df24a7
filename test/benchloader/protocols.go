// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// protocols compare prepared statements and the bulk protocol with text, in transactions of 1,000 rows.
func protocols() []comparison {
	var all []comparison
	for _, perStatement := range []int64{1, 100, 1000} {
		rows := int64(300_000)
		if perStatement == 1 {
			rows = 50_000
		}
		for _, protocol := range []string{"Prepared", "Bulk"} {
			p := fileList(rows, perStatement, 1)
			p.StatementsPerTransaction = 1000 / perStatement
			text := workloadtest.Load(bulkinsert.Definition, p)
			p.Protocol = protocol
			all = append(all, comparison{
				name:     fmt.Sprintf("BulkInsert, file list, protocol %s, %d rows per statement", protocol, perStatement),
				original: "protocol Text", ours: loads(workloadtest.Load(bulkinsert.Definition, p)), theirs: loads(text),
			})
		}
	}
	return all
}

// autocommitted compares many connections that insert a row at a time, which the server commits.
func autocommitted() []comparison {
	const rows = 50_000
	var all []comparison
	for _, connections := range []int{64, 80} {
		all = append(all, comparison{
			name:     fmt.Sprintf("BulkInsert, file list, 1 row per statement, autocommit, %d connections", connections),
			original: "sysbench oltp_insert", wantedRate: "≥ 1",
			ours: loads(singleRows(rows, connections, "Autocommit")), theirs: sysbenchInsert(rows, connections),
		})
	}
	return append(all, comparison{
		name:     "BulkInsert, file list, 1 row per statement, autocommit, 64 connections",
		original: "a COMMIT after each row",
		ours:     loads(singleRows(rows, 64, "Autocommit")), theirs: loads(singleRows(rows, 64, "Explicit")),
	})
}

func singleRows(rows int64, connections int, commit string) result.Workload {
	p := fileList(rows, 1, connections)
	p.Commit = commit
	return workloadtest.Load(bulkinsert.Definition, p)
}

func fileList(rows, perStatement int64, connections int) bulkinsert.Parameters {
	return bulkinsert.Parameters{
		Table: "FileList", Tables: 1, Rows: rows, RowsPerStatement: perStatement, StatementsPerTransaction: 1,
		Concurrency: connections, StorageEngine: "InnoDB",
	}
}

// sysbenchInsert inserts rows of about the same length into a table without a secondary index. Its statements are text, and the
// server commits each.
func sysbenchInsert(rows int64, threads int) program {
	return sysbench(rows, threads, "oltp_insert --tables=1 --table-size=1 --create-secondary=off --db-ps-mode=disable")
}
