//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

var _ = It("measures where connections are denied by default, with the policy of the documentation", Serial, func(ctx SpecContext) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "how-to", "use-a-restricted-cluster.md"))
	Expect(err).NotTo(HaveOccurred())
	documented := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	Expect(documented).NotTo(BeNil())

	enforce(ctx)
	apply(ctx, denyAll)
	apply(ctx, strings.Replace(small("denied", "")+modest, "trials: {", "trials: {startDeadlineSeconds: 30, ", 1))
	Expect(failure(finished(ctx, "denied"))).To(HavePrefix(v1alpha1.ReasonDatabaseUnreachable))

	applyText(ctx, string(documented[1]))
	apply(ctx, inTurns) // whose loaders ask the observer of one of them for their turns
	kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+(2*runTime).String(), "benchmarkcomparison/turns")
	var comparison v1alpha1.BenchmarkComparison
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "turns"}, &comparison)).To(Succeed())
	Expect(apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", comparison.Status)
	Expect(comparison.Status.Alternation).To(Equal(v1alpha1.AlternateSlices), comparison.Status.AlternationReason)
}, SpecTimeout(3*runTime))
