//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func getComparison(ctx SpecContext, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	var comparison v1alpha1.BenchmarkRun
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &comparison)).To(Succeed())
	return &comparison
}

// sideBySide expects that two attempts measured servers of their own on the same nodes.
func sideBySide(ctx SpecContext, attempt, other string) {
	GinkgoHelper()
	a, b := record(ctx, attempt).Place, record(ctx, other).Place
	Expect(b.DatabaseNode).To(Equal(a.DatabaseNode))
	Expect(b.LoaderNode).To(Equal(a.LoaderNode))
	Expect(b.DatabasePodUID).NotTo(Equal(a.DatabasePodUID))
}

var _ = Describe("a comparison", func() {
	// Other specs run beside it. It measures in slices, so that what others do to the CPUs and the disk is the same for both, and
	// may take more rounds than the sample.
	It("says whether a server that does not wait for the disk is faster, by how much, and why", takesMinutes, func(ctx SpecContext) {
		sample, err := os.ReadFile(filepath.Join(repository, "config", "samples", "durable-or-not.yaml"))
		Expect(err).NotTo(HaveOccurred())
		apply(ctx, strings.Replace(string(sample), "  rounds: {atMost: 6}\n", `  rounds: {atMost: 12}
  claims:
  - {name: not-half, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "0.5"}}
  - {name: unknown, metric: coffee, ratio: {of: {variant: lazy}, to: {variant: durable}, atMost: "0.5"}}
  - {name: hundred-thousandfold, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "100000"}}
`, 1))
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=10m", "benchmarkrun/durable-or-not")

		status := getRun(ctx, "durable-or-not").Status
		Expect(apimeta.FindStatusCondition(status.Conditions, "Complete")).To(HaveField("Reason", "Decided"), "%+v", status)
		Expect(status.Alternation).To(BeEquivalentTo("Slices"))
		Expect(status.Pairs).To(HaveLen(1))
		Expect(status.Pairs[0].Verdict).To(BeEquivalentTo("Faster"))
		// Both variants ran on the same nodes, and on the same settings but the one that was to differ.
		Expect(strings.Join(status.Warnings, "\n")).NotTo(ContainSubstring("different"))
		Expect(status.Differences).To(HaveExactElements(ContainSubstring("innodb_flush_log_at_trx_commit (1 → 0)")))

		// The bounds are so far from what is measured that six rounds decide, however busy the machine is: three claims share
		// their error.
		By("judging what was claimed")
		var verdicts []v1alpha1.ClaimVerdict
		for _, c := range status.Claims {
			verdicts = append(verdicts, c.Verdict)
		}
		Expect(verdicts).To(HaveExactElements(v1alpha1.ClaimHolds, v1alpha1.ClaimCannotSay, v1alpha1.ClaimDoesNotHold), "%+v", status.Claims)

		By("showing what users look at: one line for one question")
		Expect(kubectl(ctx, "get", "brun", "--no-headers")).
			To(MatchRegexp(`^durable-or-not\s+Decided\s+\d+/12\s+lazy \S+ (as fast|faster) \(.*\)\s+\d+m\S*\s+\S+\n$`))
		summary := configMap(ctx, status.Results.ConfigMap).Data["summary.md"]
		Expect(summary).To(And(HavePrefix("# durable-or-not: written and flushed once a second is "), ContainSubstring("**faster**"),
			ContainSubstring("hundred-thousandfold **does not hold**"),
			MatchRegexp(`durable → lazy: innodbFsyncsPerTransaction 1(\.\d+)? → 0`)))

		By("measuring both on the same nodes, by one loader, on servers of their own in each round")
		first, last := record(ctx, "durable-or-not-t1-a1"), record(ctx, "durable-or-not-t2-a1")
		Expect(first.Sides).To(HaveLen(2))
		Expect(first.Sides[0].Place.DatabaseNode).To(Equal(first.Sides[1].Place.DatabaseNode))
		Expect(first.Sides[0].Place.DatabasePodUID).NotTo(Equal(first.Sides[1].Place.DatabasePodUID))
		Expect(last.Sides[0].Place.DatabasePodUID).NotTo(Equal(first.Sides[0].Place.DatabasePodUID))

		By("leaving nothing that runs, and nothing at all when it is deleted")
		nothingRuns(ctx)
		kubectl(ctx, "delete", "brun", "durable-or-not")
		Eventually(func() string {
			return kubectl(ctx, "get", "brun,cm,pvc,secret", "-l", "app.kubernetes.io/name=benchrun")
		}).
			WithContext(ctx).WithTimeout(time.Minute).Should(ContainSubstring("No resources found"))
	}, SpecTimeout(15*time.Minute))

	It("lets the trials of its variants take turns", takesMinutes, func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: turns}
spec:
  alternation: Trials
  trialsPerRound: 3
  maxRounds: 2
  earlyStop: {policy: Disabled}
  template:
    spec:
      database:
        image: mariadb:11.8
        settings: {bufferPoolSize: 64Mi, logFileSize: 96Mi}
        storage: {size: 1Gi}
        resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
      workload: {type: CommitSize, commitSize: {rows: 200, rowsPerCommit: 1}}
      loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
      trials: {primeSeconds: 1}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`)
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=5m", "benchmarkcomparison/turns")
		comparison := getComparison(ctx, "turns")
		Expect(apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", comparison.Status)
		Expect(*comparison.Status.Rounds.Measured).To(BeEquivalentTo(2))

		By("measuring the same trials of a round next to each other, on one node, one at a time")
		for round := 1; round <= 2; round++ {
			var trials []*result.Document
			for trial := 1; trial <= 3; trial++ {
				for _, variant := range []string{"durable", "lazy"} {
					trials = append(trials, document(ctx, fmt.Sprintf("turns-r%d-%s-t%d-a1", round, variant, trial)))
				}
			}
			slices.SortFunc(trials, func(a, b *result.Document) int { return a.Identity.Started.Compare(b.Identity.Started) })
			for i, d := range trials {
				Expect(d.Identity.Trial).To(Equal(i/2+1), "round %d", round)
				if i > 0 {
					Expect(d.Identity.Started).To(BeTemporally(">=", trials[i-1].Identity.Ended), "round %d", round)
				}
			}
			sideBySide(ctx, fmt.Sprintf("turns-r%d-durable-t3-a1", round), fmt.Sprintf("turns-r%d-lazy-t1-a1", round))
		}
		Expect(configMap(ctx, comparison.Status.Results.ConfigMap).Data["summary.md"]).
			To(ContainSubstring("2 of at most 2 rounds, paired, alternating trials (3 per round), "))

		By("leaving nothing that runs")
		nothingRuns(ctx)
	}, SpecTimeout(10*time.Minute))

	It("measures its variants in slices, and a round again in which one was disturbed", takesMinutes, func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: sliced}
spec:
  alternation: Slices
  sliceMilliseconds: 500
  maxRounds: 2
  earlyStop: {policy: Disabled}
  template:
    spec:
      database:
        image: mariadb:11.8
        settings: {bufferPoolSize: 64Mi, logFileSize: 96Mi}
        storage: {size: 1Gi}
        resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
      workload: {type: CommitSize, commitSize: {rowsPerCommit: 1}, limits: {seconds: 3}}
      loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
      trials: {primeSeconds: 1}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`)
		By("losing a loader of the second round while it measures")
		const loader = "batch.kubernetes.io/job-name=sliced-r2-lazy-t1-a1"
		kubectl(ctx, "wait", "--for=create", "--timeout=3m", "pod", "-l", loader)
		kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=1m", "pod", "-l", loader)
		first := kubectl(ctx, "get", "brun", "sliced-r2-durable", "-o", "jsonpath={.metadata.uid}")
		kubectl(ctx, "delete", "pod", "-l", loader, "--wait=false")
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=5m", "benchmarkcomparison/sliced")
		comparison := getComparison(ctx, "sliced")
		Expect(apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", comparison.Status)
		Expect(*comparison.Status.Rounds.Measured).To(BeEquivalentTo(2))
		Expect(kubectl(ctx, "get", "brun", "sliced-r2-durable", "-o", "jsonpath={.metadata.uid}")).NotTo(Equal(first))

		By("measuring both at the same time, on one node, each for as long as was asked for")
		for round := 1; round <= 2; round++ {
			durable, lazy := fmt.Sprintf("sliced-r%d-durable-t1-a1", round), fmt.Sprintf("sliced-r%d-lazy-t1-a1", round)
			a, b := document(ctx, durable), document(ctx, lazy)
			Expect(a.Identity.Started).To(BeTemporally("<", b.Identity.Ended))
			Expect(b.Identity.Started).To(BeTemporally("<", a.Identity.Ended))
			for _, d := range []*result.Document{a, b} {
				Expect(d.Turns).NotTo(BeNil())
				Expect(d.Turns.Slices).To(BeNumerically(">=", 3))
				Expect(d.Totals.Micros).To(BeNumerically("~", 3e6, 5e5))
			}
			Expect(max(a.Turns.Micros, b.Turns.Micros)).To(BeNumerically(">=", 6e6))
			sideBySide(ctx, durable, lazy)
		}
		Expect(configMap(ctx, comparison.Status.Results.ConfigMap).Data["summary.md"]).
			To(ContainSubstring("2 of at most 2 rounds, paired, in slices of 0.5 s"))

		By("leaving nothing that runs")
		nothingRuns(ctx)
	}, SpecTimeout(12*time.Minute))
})
