// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/workload/statements"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// statementsSeconds is for how long own statements are sent.
const statementsSeconds = 5

// original is a program's own load, and the same as own statements.
type original struct {
	// name of the script, as its program and the transaction are called.
	name   string
	script string
	// setup makes the tables.
	setup string
	// prepare and run are the program's commands, with the number of its clients in the place of %d.
	prepare, run string
	// transactions it says that it has made.
	transactions *regexp.Regexp
}

const sysbenchTables = `CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0,
	c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', KEY k_1 (k));
INSERT INTO sbtest1 SELECT seq, 1 + seq * 7919 MOD 10000, RPAD(seq * 7919, 119, '#'), RPAD(seq, 59, '#') FROM seq_1_to_10000;
`

// readWrite is what oltp_read_write sends.
var readWrite = strings.Repeat("\\set id random(1, 10000)\nSELECT c FROM sbtest1 WHERE id = :id;\n", 10) +
	ranged("SELECT c FROM sbtest1 WHERE id BETWEEN :from AND :from + 99") +
	ranged("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN :from AND :from + 99") +
	ranged("SELECT c FROM sbtest1 WHERE id BETWEEN :from AND :from + 99 ORDER BY c") +
	ranged("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN :from AND :from + 99 ORDER BY c") +
	"\\set id random(1, 10000)\nUPDATE sbtest1 SET k = k + 1 WHERE id = :id;\n" +
	"\\set id random(1, 10000)\n\\set c random(1, 1000000000)\nUPDATE sbtest1 SET c = RPAD(:c, 119, '#') WHERE id = :id;\n" +
	"\\set id random(1, 10000)\n\\set k random(1, 10000)\nDELETE FROM sbtest1 WHERE id = :id;\n" +
	"INSERT INTO sbtest1 (id, k, c, pad) VALUES (:id, :k, RPAD(:c, 119, '#'), RPAD(:k, 59, '#'));\n"

func ranged(query string) string { return "\\set from random(1, 10000)\n" + query + ";\n" }

// ownStatements compares with sysbench, or on PostgreSQL with pgbench.
func ownStatements(postgres bool) []comparison {
	var all []comparison
	for _, o := range originals(postgres) {
		for _, clients := range []int32{1, 16} {
			all = append(all, comparison{
				name:     fmt.Sprintf("Statements, as %s, %d clients", o.name, clients),
				original: strings.Fields(o.run)[0], wantedRate: "≥ 1", wantedCPU: "≤ 0.7",
				ours: o.loads(clients), theirs: o.runs(clients),
			})
		}
	}
	return all
}

func originals(postgres bool) []original {
	if postgres {
		const run = "pgbench --no-vacuum --protocol=prepared --time=5 --client=%d --builtin="
		transactions := regexp.MustCompile(`number of transactions actually processed: (\d+)`)
		setup := "CREATE TABLE pgbench_branches (bid INT PRIMARY KEY, bbalance INT, filler CHAR(88));\n" +
			"CREATE TABLE pgbench_tellers (tid INT PRIMARY KEY, bid INT, tbalance INT, filler CHAR(84));\n" +
			"CREATE TABLE pgbench_accounts (aid INT PRIMARY KEY, bid INT, abalance INT, filler CHAR(84)) WITH (fillfactor = 100);\n" +
			"CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP, filler CHAR(22));\n" +
			"INSERT INTO pgbench_branches SELECT n, 0, NULL FROM generate_series(1, 5) n;\n" +
			"INSERT INTO pgbench_tellers SELECT n, (n - 1) / 10 + 1, 0, NULL FROM generate_series(1, 50) n;\n" +
			"INSERT INTO pgbench_accounts SELECT n, (n - 1) / 100000 + 1, 0, '' FROM generate_series(1, 500000) n;\n"
		aid := "\\set aid random(1, 500000)\n"
		return []original{
			{
				"select-only", aid + "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n", setup,
				"pgbench -i -q -s 5", run + "select-only", transactions,
			},
			{
				"tpcb-like", aid + "\\set bid random(1, 5)\n\\set tid random(1, 50)\n\\set delta random(-5000, 5000)\n" +
					"UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n" +
					"SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n" +
					"UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n" +
					"UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n" +
					"INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n",
				setup, "pgbench -i -q -s 5", run + "tpcb-like", transactions,
			},
		}
	}
	const common = "sysbench --config-file=/bench/sysbench.conf --table-size=10000 --rand-type=uniform --time=5 --threads=%d oltp_"
	transactions := regexp.MustCompile(`transactions: +(\d+)`)
	return []original{
		{
			"oltp_point_select", "\\set id random(1, 10000)\nSELECT c FROM sbtest1 WHERE id = :id;\n", sysbenchTables,
			common + "point_select prepare", common + "point_select run", transactions,
		},
		{"oltp_read_write", readWrite, sysbenchTables, common + "read_write prepare", common + "read_write run", transactions},
	}
}

// loads is the loader with the statements.
func (o original) loads(clients int32) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.rest(ctx); err != nil {
			return sample{}, err
		}
		if err := os.WriteFile(filepath.Join(b.dir, "setup.sql"), []byte(o.setup), 0o600); err != nil {
			return sample{}, fmt.Errorf("writing the tables' SQL: %w", err)
		}
		w := workloadtest.Load(statements.Definition, statements.Parameters{
			Setup: &statements.Setup{Name: "bench", Key: "setup.sql"}, Clients: clients, Protocol: "Prepared",
			Transactions: []statements.Transaction{{Name: "own", Weight: 1, Script: o.script}},
		})
		w.FilesPath = inContainer
		doc, err := b.attemptIn(ctx, schema, w, statementsSeconds)
		if err != nil {
			return sample{}, err
		}
		return sampleOf(doc, doc.Totals.Transactions), nil
	}
}

// runs is the program, on tables of its own.
func (o original) runs(clients int32) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.rest(ctx); err != nil {
			return sample{}, err
		}
		with := func(command string) string { return strings.Replace(command, "%d", strconv.Itoa(int(clients)), 1) }
		if _, err := b.exec(ctx, with(o.prepare)); err != nil {
			return sample{}, err
		}
		s, out, err := b.timed(ctx, 0, with(o.run))
		if err != nil {
			return s, err
		}
		made, err := numbersIn(out, "transactions", o.transactions)
		if err != nil {
			return s, err
		}
		s.rows, s.seconds = made[0], statementsSeconds
		return s, nil
	}
}
