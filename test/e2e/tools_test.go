//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a user's tools", func() {
	It("explain the API", func(ctx SpecContext) {
		Expect(kubectl(ctx, "explain", "brun.spec.database")).To(And(
			ContainSubstring("the server to measure"), ContainSubstring("settings are the server settings"), ContainSubstring("variables are any other")))
		Expect(kubectl(ctx, "explain", "brun.spec.database.settings")).To(ContainSubstring("innodb_buffer_pool_size"))
		Expect(kubectl(ctx, "explain", "brun.spec.workload.commitSize.sweep")).To(And(
			ContainSubstring("rowsPerCommit\t<[]integer>"), ContainSubstring("lists sizes of transactions")))
		Expect(kubectl(ctx, "api-resources", "--categories=benchmarks")).To(ContainSubstring("brun"))
	}, SpecTimeout(time.Minute))

	It("refuse nonsense at kubectl apply, and say what is allowed", func(ctx SpecContext) {
		for overlay, sentence := range map[string]string{
			`sweep: {rowsPerCommit: [1, 201]}`:             "rowsPerCommit must not be above rows",
			`sweep: {rowsPerCommit: [1], rowPerCommit: 2}`: "unknown field",
			`sweep: {}`:                            "should have at least 1 properties",
			`sweep: {rowsPerCommit: [1, 1]}`:       "Duplicate value",
			`sweep: {rowsPerCommit: [1, "fifty"]}`: "must be of type integer",
		} {
			manifest := strings.Replace(small("nonsense", ""), `sweep: {rowsPerCommit: [1, 50]}`, overlay, 1)
			out, err := commandWith(ctx, manifest, "apply", "-f", "-")
			Expect(err).To(HaveOccurred(), overlay)
			Expect(out).To(ContainSubstring(sentence))
		}
	}, SpecTimeout(time.Minute))

	It("see within seconds what the schema cannot refuse, before anything is created", func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: impossible}
spec:
  database: {}
  workload: {type: Sysbench, sysbench: {script: tpcc, sweep: {tableSize: [1000]}}}
`)
		run := finished(ctx, "impossible")
		Expect(failure(run)).To(HavePrefix("InvalidSpecification: workload Sysbench: script tpcc has no such parameter"))
		Expect(run.Status.CompletionTime.Sub(run.CreationTimestamp.Time)).To(BeNumerically("<=", 5*time.Second))
		Expect(running(ctx)).To(BeEmpty())
	}, SpecTimeout(2*time.Minute))

	It("accept every sample, the CRD by client-side apply, and the kustomize packaging", func(ctx SpecContext) {
		kubectl(ctx, "apply", "--dry-run=server", "-f", filepath.Join(repository, "config", "samples"))
		kubectl(ctx, "apply", "--dry-run=server", "-f", filepath.Join(repository, "config", "crd", "bases"))
		namespace = "benchrun-system" // the packaging says so itself
		built := kubectl(ctx, "kustomize", filepath.Join(repository, "config", "default"))
		Expect(built).To(And(ContainSubstring("name: benchrun-manager"), ContainSubstring("namespace: benchrun-system")))
		Expect(kubectl(ctx, "create", "--dry-run=client", "-o", "name", "-k", filepath.Join(repository, "config", "default"))).
			To(ContainSubstring("deployment.apps/benchrun-manager"))
	}, SpecTimeout(2*time.Minute))
})
