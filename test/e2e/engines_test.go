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

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
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
