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
		Expect(kubectl(ctx, "explain", "brun.spec.sweep.axes")).To(ContainSubstring("rowsPerCommit"))
		Expect(kubectl(ctx, "api-resources", "--categories=benchmarks")).To(ContainSubstring("brun"))
	}, SpecTimeout(time.Minute))

	It("refuse nonsense at kubectl apply, and say what is allowed", func(ctx SpecContext) {
		for overlay, sentence := range map[string]string{
			`values: ["1", "201"]`:         "each value of rowsPerCommit must be a whole number from 1 to workload.commitSize.rows",
			`values: ["1"], value: "2"`:    "unknown field",
			`values: ["1", "1"]`:           "Duplicate value",
			`values: [` + "\"1\"" + `, x]`: "must be a whole number",
		} {
			manifest := strings.Replace(small("nonsense", ""), `values: ["1", "50"]`, overlay, 1)
			out, err := commandWith(ctx, manifest, "apply", "-f", "-")
			Expect(err).To(HaveOccurred())
			Expect(out).To(ContainSubstring(sentence))
		}
	}, SpecTimeout(time.Minute))

	It("accept every sample, the CRD by client-side apply, and the kustomize packaging", func(ctx SpecContext) {
		kubectl(ctx, "apply", "--dry-run=server", "-k", filepath.Join(repository, "config", "samples"))
		kubectl(ctx, "apply", "--dry-run=server", "-f", filepath.Join(repository, "config", "crd", "bases"))
		namespace = "benchrun-system" // the packaging says so itself
		built := kubectl(ctx, "kustomize", filepath.Join(repository, "config", "default"))
		Expect(built).To(And(ContainSubstring("name: benchrun-manager"), ContainSubstring("namespace: benchrun-system")))
		Expect(kubectl(ctx, "create", "--dry-run=client", "-o", "name", "-k", filepath.Join(repository, "config", "default"))).
			To(ContainSubstring("deployment.apps/benchrun-manager"))
	}, SpecTimeout(2*time.Minute))
})
