//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// four is a run of one trial of eight seconds with four loader Pods.
func four(name, loader string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}}
  workload: {type: BulkInsert, bulkInsert: {table: Narrow, rows: 1000000000, rowsPerStatement: 100, concurrency: 4}, limits: {seconds: 8}}
  trials: {repetitions: 1, startDeadlineSeconds: 40}
  loader: {pods: 4, resources: {limits: {cpu: %s, memory: 96Mi}}}
`, name, loader)
}

var _ = Describe("four loader Pods", func() {
	// A worker of the kind cluster has two CPUs: with 1.1 each, the database's one and the system's, there is room for two.
	It("of which one never starts end the run by the barrier", func(ctx SpecContext) {
		apply(ctx, four("barrier", "1100m"))
		Expect(failure(finished(ctx, "barrier"))).To(And(
			HavePrefix("BarrierTimeout: "), ContainSubstring("not all loaders ran within trials.startDeadlineSeconds (40): "),
			MatchRegexp(`[12] of 4 loaders are running; Pod [0-3] is not: the loader's Pod cannot be scheduled: .*Insufficient cpu`)))
	}, SpecTimeout(runTime))

	It("of which a quota allows two say so", func(ctx SpecContext) {
		apply(ctx, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: pods}\nspec: {hard: {pods: '3'}}")
		kubectl(ctx, "wait", "--for=jsonpath={.status.hard.pods}=3", "--timeout=30s", "resourcequota/pods")
		apply(ctx, four("quota", "200m"))
		Expect(failure(finished(ctx, "quota"))).To(And(
			HavePrefix("BarrierTimeout: "), MatchRegexp("2 of 4 loaders are running; Pod [0-3] is being created: .*exceeded quota: pods")))
	}, SpecTimeout(runTime))

	It("of which one is deleted are measured again", func(ctx SpecContext) {
		apply(ctx, four("deleted", "200m"))
		measuring(ctx, "deleted")
		pods := strings.Fields(kubectl(ctx, "get", "pods", "-l", "batch.kubernetes.io/job-completion-index=2,batch.kubernetes.io/job-name=deleted-t1-a1",
			"-o", "name"))
		Expect(pods).To(HaveLen(1))
		kubectl(ctx, "delete", pods[0], "--wait=false")
		complete(ctx, "deleted")
		Expect(outcomes(ctx, "deleted")).To(Equal(map[string]string{"t1-a1": "Invalidated PodDeleted", "t1-a2": "Accepted"}))
	}, SpecTimeout(runTime))
})
