//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/csv"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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

// member is a comparison's member with the records of its trials.
type member struct {
	round, variant string
	records        []*result.Record
}

// membersOf a comparison of so many rounds whose runs have two trials each.
func membersOf(ctx SpecContext, comparison *v1alpha1.BenchmarkComparison) []member {
	GinkgoHelper()
	var list []member
	for round := 1; round <= int(comparison.Spec.MaxRounds); round++ {
		for _, v := range comparison.Spec.Variants {
			m := member{round: strconv.Itoa(round), variant: v.Name}
			for trial := 1; trial <= 2; trial++ {
				m.records = append(m.records, record(ctx, fmt.Sprintf("%s-r%d-%s-t%d-a1", comparison.Name, round, v.Name, trial)))
			}
			list = append(list, m)
		}
	}
	return list
}

var _ = Describe("engines", func() {
	It("load the same rows, and a comparison has the values of its runs at the points where they were measured", takesMinutes, func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: engines}
spec:
  template:
    spec:
      database:
        image: mariadb:11.8
        settings: {bufferPoolSize: 64Mi, logFileSize: 48Mi, flushLogAtTrxCommit: 1, binaryLog: false}
        storage: {size: 2Gi}
        resources: {requests: {cpu: 250m, memory: 1200Mi}, limits: {cpu: "1", memory: 1200Mi}}
      workload: {type: CommitSize, commitSize: {rows: 2000, sweep: {rowsPerCommit: [1, 1000]}}}
      trials: {primeSeconds: 5}
      loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
  variants:
  - {name: now}
  - {name: before, database: {image: "mariadb:10.11"}}
  - {name: mysql, database: {engine: MySQL, image: "mysql:9.7"}}
  maxRounds: 2
  earlyStop: {policy: Disabled}
`)
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+(2*runTime).String(), "benchmarkcomparison/engines")
		comparison := getComparison(ctx, "engines")
		Expect(apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", comparison.Status)
		members := membersOf(ctx, comparison)

		By("loading rows with the same checksum in each engine")
		sums, versions := map[string]map[string]bool{}, map[string]bool{}
		for _, m := range members {
			if sums[m.round] == nil {
				sums[m.round] = map[string]bool{}
			}
			for i := range m.records {
				d := document(ctx, fmt.Sprintf("engines-r%s-%s-t%d-a1", m.round, m.variant, i+1))
				Expect(contradictions(d)).To(BeEmpty())
				sums[m.round][check(d, "checksum").Detail] = true
				versions[d.Server.Version] = true
				Expect(strconv.FormatInt(d.Totals.Rows/d.Totals.Transactions, 10)).To(Equal(m.records[i].Parameters["rowsPerCommit"]), m.variant)
			}
		}
		Expect(sums).To(HaveLen(2))
		for round, of := range sums {
			Expect(of).To(HaveLen(1), "round %s: %v", round, of)
		}
		Expect(versions).To(HaveLen(3), "%v", versions)

		By("having each value at its point")
		want := map[string]string{}
		for _, m := range members {
			for _, r := range m.records {
				key := strings.Join([]string{m.round, m.variant, r.Parameters["rowsPerCommit"]}, " ")
				want[key] = strconv.FormatFloat(r.Summary.Metrics[0].Value, 'f', -1, 64)
			}
		}
		text := configMap(ctx, comparison.Status.Results.ConfigMap).Data["results.csv"]
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		Expect(err).NotTo(HaveOccurred())
		Expect(rows[0][:6]).To(Equal([]string{"round", "variant", "run", "rowsPerCommit", "metric", "value"}))
		got := map[string]string{}
		for _, row := range rows[1:] {
			got[strings.Join([]string{row[0], row[1], row[3]}, " ")] = row[5]
		}
		Expect(got).To(HaveLen(12))
		Expect(maps.Equal(got, want)).To(BeTrue(), "the comparison has %v, its runs have %v", got, want)

		By("naming the differences of two engines in the terms of both")
		Expect(comparison.Status.Differences).To(HaveLen(2))
		Expect(comparison.Status.Differences[1]).To(And(
			ContainSubstring("database.engine (MariaDB → MySQL)"), MatchRegexp(`\d+ more exist in MariaDB only, \d+ in MySQL only`),
			Not(ContainSubstring("innodb_redo_log_capacity"))))
		Expect(strings.Join(comparison.Status.Warnings, "\n")).NotTo(ContainSubstring("binary log"))
	}, SpecTimeout(3*runTime))
})
