//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

var _ = Describe("data that are prepared once", func() {
	It("are what the servers of later rounds begin with, of either engine", func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: restored}
spec:
  alternation: Runs
  maxRounds: 2
  earlyStop: {policy: Disabled}
  seed: 11
  template:
    spec:
      database: {image: "mariadb:11.8", storage: {medium: NodeDisk, size: 1Gi}}
      workload: {type: Sysbench, sysbench: {script: tpcc, threads: 1, tables: 1, scale: 1, seconds: 2}}
      trials: {data: Restore}
  variants:
  - {name: mariadb}
  - {name: mysql, database: {engine: MySQL, image: "mysql:9.7"}}
`)
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=10m", "benchmarkcomparison/restored")
		comparison := getComparison(ctx, "restored")
		Expect(apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", comparison.Status)
		for _, variant := range []string{"mariadb", "mysql"} {
			for round, want := range map[int]result.ToolData{1: result.DataPrepared, 2: result.DataKept} {
				d := document(ctx, fmt.Sprintf("restored-r%d-%s-t1-a1", round, variant))
				Expect(d.Tool.Data).To(Equal(want), "%s, round %d", variant, round)
				Expect(d.Findings).NotTo(ContainElement(HaveField("Code", BeEquivalentTo("DataNotCopied"))), "%s, round %d", variant, round)
				Expect(d.Totals.Transactions).To(BeNumerically(">", 0))
			}
		}

		By("leaving no copy")
		Eventually(func(g Gomega) {
			var claims corev1.PersistentVolumeClaimList
			g.Expect(cluster.List(ctx, &claims, client.InNamespace(namespace))).To(Succeed())
			g.Expect(claims.Items).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
	}, SpecTimeout(12*time.Minute))
})
