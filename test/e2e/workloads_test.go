//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

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
		nothingRuns(ctx)
	},
	Entry(nil, "by-socket", "type: CommitSize, commitSize: {rows: 200, rowsPerCommit: 10}", SpecTimeout(runTime)),
	Entry(nil, "by-socket", "type: Sysbench, sysbench: {script: oltp_read_write, tables: 1, tableSize: 500, clients: 2, seconds: 2}",
		SpecTimeout(runTime)),
)

var _ = Describe("engines", func() {
	It("load the same rows, and their differences are named in the terms of both", takesMinutes, func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: engines}
spec:
  database:
    image: mariadb:11.8
    settings: {bufferPoolSize: 64Mi, redoLogSize: 48Mi, flushLogAtTrxCommit: 1, binaryLog: false}
    storage: {size: 2Gi}
    resources: {requests: {cpu: 250m, memory: 1200Mi}, limits: {cpu: "1", memory: 1200Mi}}
  workload: {type: CommitSize, commitSize: {rows: 2000, sweep: {rowsPerCommit: [1, 1000]}}}
  trials: {primeSeconds: 5}
  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
  variants:
  - {name: now}
  - {name: before, database: {image: "mariadb:10.11"}}
  - {name: mysql, database: {image: "mysql:9.7"}}
  rounds: {atMost: 2, until: All}
`)
		run := completed(ctx, "engines")

		By("loading rows with the same checksum in each engine")
		sums, versions := map[int]map[string]bool{1: {}, 2: {}}, map[string]bool{}
		for trial := 1; trial <= 4; trial++ { // two points in each round
			round := (trial + 1) / 2
			for variant, m := range sidesOf(ctx, fmt.Sprintf("engines-t%d-a1", trial)) {
				Expect(contradictions(m.Document)).To(BeEmpty(), "%s, trial %d", variant, trial)
				sums[round][check(m.Document, "checksum").Detail] = true
				versions[m.Server.Version] = true
			}
			Expect(sums[round]).To(HaveLen(1), "round %d: %v", round, sums[round])
		}
		Expect(versions).To(HaveLen(3), "%v", versions)

		By("naming the differences of two engines in the terms of both")
		Expect(run.Status.Differences).To(HaveLen(2))
		Expect(run.Status.Differences[1]).To(And(
			ContainSubstring("database.engine (MariaDB → MySQL)"), MatchRegexp(`\d+ more exist in MariaDB only, \d+ in MySQL only`),
			Not(ContainSubstring("innodb_redo_log_capacity"))))
		Expect(strings.Join(run.Status.FindingTexts(), "\n")).NotTo(ContainSubstring("binary log"))
	}, SpecTimeout(3*runTime))
})
