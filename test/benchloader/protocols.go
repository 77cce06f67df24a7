// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
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
			ours: loads(singleRows(rows, connections, "Autocommit")), theirs: sysbench(rows, connections, sysbenchInsert),
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
		Clients: connections, StorageEngine: "InnoDB",
	}
}

// sysbenchInsert inserts rows of about the same length into a table without a secondary index. Its statements are text, and the
// server commits each.
const sysbenchInsert = "oltp_insert --tables=1 --table-size=1 --create-secondary=off --db-ps-mode=disable"

// tprochLoad compares LOAD DATA of the same files at scale 0.2, which is 216 MB, table by table with the server's default
// checks; or, streamed, rows that are made while they are loaded with those that lie in files.
func tprochLoad(data string) comparison {
	return comparison{
		name: "TPROCHLoad, scale 0.2, " + strings.ToLower(data), original: "mariadb --local-infile", wantedRate: "≥ 1",
		ours: loads(tprochWorkload("0.2", data)), theirs: localInfile(tprochWorkload("0.2", "Staged")),
	}
}

func tprochWorkload(scale, data string) result.Workload {
	return workloadtest.Load(tprochload.Definition, tprochload.Parameters{
		ScaleFactor: scale, Data: data, LoadMode: "OneStatement", ForeignKeyChecks: true, UniqueChecks: true, Indexes: "Before",
	})
}

// localInfile loads the staged files with one mariadb client, into empty tables of a server at rest. An attempt that
// stages makes the files, if none did before.
func localInfile(staged result.Workload) program {
	var rows int64
	return func(ctx context.Context, b *bench) (sample, error) {
		if rows == 0 {
			doc, err := b.attempt(ctx, staged)
			if err != nil {
				return sample{}, err
			}
			rows = doc.Totals.Rows
		}
		if err := b.rest(ctx); err != nil {
			return sample{}, err
		}
		// This makes the tables, and leaves the files alone.
		if _, err := b.attempt(ctx, tprochWorkload("0.01", "Streamed")); err != nil {
			return sample{}, err
		}
		truncate, load := []string{"SET foreign_key_checks=0"}, []string{}
		for _, t := range tproch.Tables() {
			truncate = append(truncate, "TRUNCATE TABLE "+t.String())
			load = append(load, "LOAD DATA LOCAL INFILE '/bench/"+strings.ToLower(t.String())+".tbl' INTO TABLE "+t.String()+
				" CHARACTER SET latin1 FIELDS TERMINATED BY '|'")
		}
		const infile = client + "--local-infile=1 " + schema
		if _, err := b.exec(ctx, infile+` -e "`+strings.Join(truncate, "; ")+`"`); err != nil {
			return sample{}, err
		}
		// The loader waits until the server is at rest before it measures: so does this, beside the tables.
		if _, err := b.attemptIn(ctx, schema+"_rest", commits(1, 1).Workload, 0); err != nil {
			return sample{}, err
		}
		s, _, err := b.timed(ctx, rows, infile+` -e "`+strings.Join(load, "; ")+`"`)
		return s, err
	}
}
