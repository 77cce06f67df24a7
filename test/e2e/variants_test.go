//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// completed is a run that has measured all that it needs.
func completed(ctx SpecContext, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+(2*runTime).String(), "benchmarkrun/"+name)
	run := getRun(ctx, name)
	Expect(apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", run.Status)
	return run
}

// measures is a variant as the document of an attempt has it.
type measures struct {
	*result.Document
	side result.SideRecord
}

// sidesOf an attempt are what it measured, by the names of the variants.
func sidesOf(ctx SpecContext, attempt string) map[string]measures {
	GinkgoHelper()
	d, sides := document(ctx, attempt), map[string]measures{}
	for i, side := range record(ctx, attempt).Sides {
		one := d
		if len(d.Sides) > 0 {
			one = &d.Sides[i].Document
		}
		sides[side.Variant] = measures{one, side}
	}
	return sides
}

// durableAndLazy is a run of two rounds, with its name, what takes turns, its rows and limits, and its trials.
const durableAndLazy = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  alternation: %s
  rounds: {atMost: 2, until: All}
  database:
    image: mariadb:11.8
    settings: {bufferPoolSize: 64Mi, redoLogSize: 96Mi}
    storage: {size: 1Gi}
    resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
  workload: {type: CommitSize, commitSize: %s%s}
  loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
  trials: %s
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`

var _ = Describe("a run with variants", func() {
	// Other specs run beside it. It stays with slices, so that what others do to the CPUs and the disk is the same for both, and may
	// take more rounds than the sample.
	It("says whether a server that does not wait for the disk is faster, by how much, and why", takesMinutes, func(ctx SpecContext) {
		sample := need(os.ReadFile(filepath.Join(repository, "config", "samples", "durable-or-not.yaml")))
		apply(ctx, strings.Replace(string(sample), "  variants:\n", `  alternation: Slices
  rounds: {atMost: 12}
  claims:
  - {name: not-half, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "0.5"}}
  - {name: unknown, metric: coffee, ratio: {of: {variant: lazy}, to: {variant: durable}, atMost: "0.5"}}
  - {name: hundred-thousandfold, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "100000"}}
  variants:
`, 1))
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout=10m", "benchmarkrun/durable-or-not")

		status := getRun(ctx, "durable-or-not").Status
		Expect(apimeta.FindStatusCondition(status.Conditions, "Complete")).To(HaveField("Reason", "Decided"), "%+v", status)
		Expect(status.Alternation).To(BeEquivalentTo("Slices"))
		Expect(status.Pairs).To(HaveLen(1))
		Expect(status.Pairs[0].Verdict).To(BeEquivalentTo("Faster"))
		Expect(status.Answer).To(And(HaveField("Verdict", status.Pairs[0].Verdict), HaveField("RatioStatus", status.Pairs[0].RatioStatus)))
		// Both variants ran on the same nodes, and on the same settings but the one that was to differ.
		Expect(strings.Join(status.FindingTexts(), "\n")).NotTo(ContainSubstring("different"))
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
		Expect(summary).To(And(HavePrefix("# durable-or-not: lazy is "), ContainSubstring("**faster**"),
			ContainSubstring("hundred-thousandfold **does not hold**"),
			MatchRegexp(`\| lazy \| +innodbFsyncsPerTransaction \| +fsyncs/transaction \| +1(\.\d+)? \| +0(\.\d+)? \|`)))

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
			WithContext(ctx).WithTimeout(patience).Should(ContainSubstring("No resources found"))
	}, SpecTimeout(15*time.Minute))

	It("halts sysbench between its slices", takesMinutes, func(ctx SpecContext) {
		run := fmt.Sprintf(durableAndLazy, "halted", "Slices", "{}", "", "{}")
		apply(ctx, strings.Replace(run, "type: CommitSize, commitSize: {}",
			"type: Sysbench, sysbench: {script: oltp_read_write, clients: 4, tables: 1, tableSize: 1000, seconds: 4, warmupSeconds: 1}", 1))
		completed(ctx, "halted")
		for variant, m := range sidesOf(ctx, "halted-t2-a1") {
			Expect(m.Turns).To(HaveField("Slices", BeNumerically(">=", 3)), variant)
			Expect(m.Totals.Transactions).To(And(BeNumerically(">", 0), BeNumerically("<", m.Work().Transactions)), "%s: %+v", variant, m.Turns)
			Expect(m.Checks).To(ContainElement(And(HaveField("Name", "slices"), HaveField("Passed", true))), variant)
		}
	}, SpecTimeout(10*time.Minute))

	It("measures its variants in slices, and an attempt again that was disturbed", takesMinutes, func(ctx SpecContext) {
		apply(ctx, fmt.Sprintf(durableAndLazy, "sliced", "Slices", "{rowsPerCommit: 1}", ", limits: {seconds: 3}", "{primeSeconds: 1}"))
		By("losing the loader of the second round while it measures")
		const loader = "batch.kubernetes.io/job-name=sliced-t2-a1"
		kubectl(ctx, "wait", "--for=create", "--timeout=3m", "pod", "-l", loader)
		kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=1m", "pod", "-l", loader)
		kubectl(ctx, "delete", "pod", "-l", loader, "--wait=false")
		run := completed(ctx, "sliced")
		Expect(run.Status.Progress).To(Equal("2/2"))
		Expect(record(ctx, "sliced-t2-a1").Outcome).To(Equal(result.OutcomeInvalidated))

		By("measuring both at the same time, on one node, each for as long as was asked for")
		for _, attempt := range []string{"sliced-t1-a1", "sliced-t2-a2"} {
			sides := sidesOf(ctx, attempt)
			a, b := sides["durable"], sides["lazy"]
			for variant, m := range sides {
				Expect(m.Turns).NotTo(BeNil(), variant)
				Expect(m.Turns.Slices).To(BeNumerically(">=", 3), variant)
				Expect(m.Totals.Micros).To(BeNumerically("~", 3e6, 5e5), variant)
			}
			Expect(max(a.Turns.Micros, b.Turns.Micros)).To(BeNumerically(">=", 6e6))
			Expect(a.side.Place.DatabaseNode).To(Equal(b.side.Place.DatabaseNode))
			Expect(a.side.Place.DatabasePodUID).NotTo(Equal(b.side.Place.DatabasePodUID))
		}
		Expect(configMap(ctx, run.Status.Results.ConfigMap).Data["summary.md"]).
			To(ContainSubstring("2 of at most 2 rounds, paired, in slices of 0.5 s"))

		By("leaving nothing that runs")
		nothingRuns(ctx)
	}, SpecTimeout(12*time.Minute))
})
