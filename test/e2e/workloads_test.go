//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// loads is a run of one trial; rest goes into its spec.
func loads(name, workload, rest string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}, variables: {local_infile: "ON"}}
  workload: {%s}
  trials: {repetitions: 1}
  seed: 7
%s`, name, workload, rest)
}

var _ = DescribeTable("a workload loads by a Unix socket, from the database's node",
	func(ctx SpecContext, name, workload string) {
		const small = "resources: {requests: {cpu: 100m}, limits: {cpu: '1', memory: 672Mi}}"
		manifest := loads(name, workload, "  loader: {transport: UnixSocket, separateFromDatabase: None, "+
			"resources: {requests: {cpu: 50m}, limits: {cpu: '1', memory: 256Mi}}}")
		apply(ctx, strings.Replace(manifest, "storage: {size: 1Gi}", "storage: {size: 1Gi}, "+small, 1))
		run := complete(ctx, name)
		place := record(ctx, name+"-t1-a1").Place
		Expect(place.Loaders()).To(Equal([]string{place.DatabaseNode}))
		Expect(run.Status.Environment.DatabaseNode).To(Equal(place.DatabaseNode))
		d := document(ctx, name+"-t1-a1")
		Expect(d.Config.Server.Socket).To(Equal(result.SocketPath + "/mysqld.sock"))
		Expect(contradictions(d)).To(BeEmpty())
		Eventually(func(g Gomega) { g.Expect(running(ctx)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
	},
	Entry(nil, "by-socket", "type: CommitSize, commitSize: {rows: 200, rowsPerCommit: 10}", SpecTimeout(runTime)),
	Entry(nil, "by-socket", "type: Sysbench, sysbench: {script: oltp_read_write, tables: 1, tableSize: 500, threads: 2, seconds: 2}",
		SpecTimeout(runTime)),
)

var _ = DescribeTable("a workload runs to its end, with numbers that add up",
	func(ctx SpecContext, name, workload, rest, metric string, rows int64) {
		apply(ctx, loads(name, workload, rest))
		run := complete(ctx, name)
		Expect(run.Status.Points).To(HaveLen(1))
		Expect(run.Status.Points[0].Metric).To(Equal(metric))
		Expect(run.Status.Headline).NotTo(BeEmpty())
		d := document(ctx, name+"-t1-a1")
		Expect(contradictions(d)).To(BeEmpty())
		if rows > 0 {
			Expect(d.Totals.Rows).To(Equal(rows))
		}
		var phases []string
		for _, p := range d.Phases {
			phases = append(phases, p.Name)
		}
		Expect(strings.Join(phases, " ")).To(MatchRegexp("connect readback (prime )?prepare .*measure.*verify"))
	},
	Entry("BulkInsert", "bulk", "type: BulkInsert, bulkInsert: {table: FileList, rows: 50000, rowsPerStatement: 500, concurrency: 4}", "",
		"rowsPerSecond", int64(50000), SpecTimeout(runTime)),
	Entry("IIBench", "iibench", "type: IIBench, iiBench: {schema: Tokutek2008, rows: 30000, reportEveryRows: 10000}", "",
		"terminalRowsPerSecond", int64(30000), SpecTimeout(runTime)),
	Entry("TPROCHLoad, staged", "staged", `type: TPROCHLoad, tprochLoad: {scaleFactor: "0.01", data: Staged}`, "  loader: {scratch: {size: 256Mi}}\n",
		"totalSeconds", int64(0), SpecTimeout(runTime)),
	Entry("Sysbench", "sysbench", "type: Sysbench, sysbench: {script: oltp_read_write, tables: 2, tableSize: 1000, threads: 2, warmupSeconds: 1, seconds: 4}",
		"", "transactionsPerSecond", int64(0), SpecTimeout(runTime)),
	Entry("Custom", "custom", `type: Custom, custom: {image: "mariadb:11.8", command: [echo, "rate 42.5 per second"], `+
		`result: {pattern: 'rate (?P<rate>[0-9.]+)', metrics: [{name: rate, unit: ops/s, better: Higher}]}}`, "",
		"rate", int64(0), SpecTimeout(runTime)),
)
