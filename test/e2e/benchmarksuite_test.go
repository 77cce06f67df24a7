//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

func getSuite(ctx SpecContext, name string) *v1alpha1.BenchmarkSuite {
	GinkgoHelper()
	var suite v1alpha1.BenchmarkSuite
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &suite)).To(Succeed())
	return &suite
}

var _ = Describe("a suite", func() {
	It("says whether a server that does not wait for the disk is faster, by how much, and why", func(ctx SpecContext) {
		sample, err := os.ReadFile(filepath.Join(repository, "config", "samples", "suite-durable-or-not.yaml"))
		Expect(err).NotTo(HaveOccurred())
		manifest := strings.Replace(string(sample), "limits: {seconds: 3}", "limits: {seconds: 1}", 1)
		apply(ctx, strings.Replace(manifest, "  rounds: 12\n", `  rounds: 12
  claims:
  - {name: faster, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "1"}}
  - {name: unknown, metric: coffee, ratio: {of: {variant: lazy}, to: {variant: durable}, atMost: "0.5"}}
  - {name: hundredfold, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "100"}}
`, 1))
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=10m", "benchmarksuite/durable-or-not")

		suite := getSuite(ctx, "durable-or-not")
		Expect(apimeta.IsStatusConditionTrue(suite.Status.Conditions, "Decided")).To(BeTrue(), "%+v", suite.Status)
		Expect(suite.Status.Comparisons).To(HaveLen(1))
		Expect(suite.Status.Comparisons[0].Verdict).To(BeEquivalentTo("Faster"))
		Expect(*suite.Status.Runs.Finished).To(Equal(2 * *suite.Status.Rounds.Measured))
		// Both variants ran on the same nodes, and on the same settings but the one that was to differ.
		Expect(strings.Join(suite.Status.Warnings, "\n")).NotTo(ContainSubstring("different"))
		Expect(suite.Status.Differences).To(HaveExactElements(ContainSubstring("innodb_flush_log_at_trx_commit (1 → 0)")))

		By("judging what was claimed")
		var verdicts []v1alpha1.ClaimVerdict
		for _, c := range suite.Status.Claims {
			verdicts = append(verdicts, c.Verdict)
		}
		Expect(verdicts).To(HaveExactElements(v1alpha1.ClaimHolds, v1alpha1.ClaimCannotSay, v1alpha1.ClaimDoesNotHold), "%+v", suite.Status.Claims)

		By("showing what users look at")
		Expect(kubectl(ctx, "get", "bsuite")).To(MatchRegexp(`durable-or-not\s+Decided\s+\d+/12\s+lazy is .* durable \(.*\)\s+\dm`))
		summary := configMap(ctx, suite.Status.Results.ConfigMap).Data["summary.md"]
		Expect(summary).To(And(HavePrefix("# durable-or-not: lazy is "), ContainSubstring("**faster**"), ContainSubstring("hundredfold **does not hold**"),
			MatchRegexp(`durable → lazy: innodbFsyncsPerTransaction 1(\.\d+)? → 0`)))

		By("leaving nothing that runs, and nothing at all when it is deleted")
		Eventually(func(g Gomega) { g.Expect(running(ctx)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
		kubectl(ctx, "delete", "bsuite", "durable-or-not")
		Eventually(func() string {
			return kubectl(ctx, "get", "brun,cm,pvc,secret", "-l", "app.kubernetes.io/name=benchrun")
		}).
			WithContext(ctx).WithTimeout(time.Minute).Should(ContainSubstring("No resources found"))
	}, SpecTimeout(15*time.Minute))

	It("ends before anything is measured if a variant cannot be", func(ctx SpecContext) {
		sample, err := os.ReadFile(filepath.Join(repository, "config", "samples", "suite-durable-or-not.yaml"))
		Expect(err).NotTo(HaveOccurred())
		apply(ctx, strings.Replace(string(sample), "flushLogAtTrxCommit: 0}", "bufferPoolSize: 8Gi}", 1))
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=1m", "benchmarksuite/durable-or-not")
		failed := apimeta.FindStatusCondition(getSuite(ctx, "durable-or-not").Status.Conditions, v1alpha1.ConditionFailed)
		Expect(failed.Reason).To(Equal("VariantInvalid"))
		Expect(failed.Message).To(And(ContainSubstring("lazy"), ContainSubstring("settings.bufferPoolSize must be below resources.limits.memory")))
		Expect(kubectl(ctx, "get", "brun")).To(ContainSubstring("No resources found"))
	}, SpecTimeout(2*time.Minute))
})
