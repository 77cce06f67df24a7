//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// inTurns is a comparison whose servers are up at the same time, where there is room for them.
const inTurns = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: turns}
spec:
  template:
    spec:
      database:
        image: mariadb:11.8
        storage: {size: 1Gi}
        resources: {requests: {cpu: 100m}, limits: {cpu: "1500m", memory: 672Mi}}
      workload: {type: CommitSize, commitSize: {rowsPerCommit: 10}, limits: {seconds: 2}}
      loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 256Mi}}}
      trials: {primeSeconds: 0}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
  maxRounds: 2
  earlyStop: {policy: Disabled}
`

var _ = It("measures whole runs where the servers of all variants do not fit at the same time", takesMinutes, func(ctx SpecContext) {
	apply(ctx, strings.Replace(inTurns, "requests: {cpu: 100m}", "requests: {cpu: 1100m}", 1))
	kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+(2*runTime).String(), "benchmarkcomparison/turns")
	var comparison v1alpha1.BenchmarkComparison
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "turns"}, &comparison)).To(Succeed())
	Expect(apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", comparison.Status)
	Expect(comparison.Status.Alternation).To(Equal(v1alpha1.AlternateRuns))
	Expect(comparison.Status.AlternationReason).To(ContainSubstring("Insufficient cpu"))
}, SpecTimeout(3*runTime))
