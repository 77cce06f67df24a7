//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// resume a node, if it was stopped.
func resume(ctx SpecContext, node string) {
	GinkgoHelper()
	if strings.TrimSpace(docker(ctx, "inspect", "--format", "{{.State.Paused}}", node)) == "true" {
		docker(ctx, "unpause", node)
	}
}

// managerElsewhere keeps the manager's Pods away from a node: one that stops takes a manager with it, and no manager would be
// there to look.
func managerElsewhere(ctx SpecContext, node string) {
	GinkgoHelper()
	kubectl(ctx, "cordon", node)
	DeferCleanup(func(ctx SpecContext) { kubectl(ctx, "uncordon", node) })
	out, err := commandWith(ctx, "", "delete", "pod", "-n", "benchrun-system", "-l", "app.kubernetes.io/component=manager",
		"--field-selector=spec.nodeName="+node)
	Expect(err).NotTo(HaveOccurred(), out)
	managerRuns(ctx)
}

// recorded waits until an attempt has a record.
func recorded(ctx SpecContext, attempt string) {
	GinkgoHelper()
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "configmap/"+attempt)
}

var _ = Describe("a node", Serial, func() {
	DescribeTable("that stops in mid-trial costs the attempt, which is measured again when the node is back",
		func(ctx SpecContext, component, want string) {
			apply(ctx, strings.ReplaceAll(long("stopped", "  loader: {separateFromDatabase: Required}\n"), "seconds: 8", "seconds: 20"))
			measuring(ctx, "stopped")
			node := nodeOf(ctx, client.MatchingLabels{v1alpha1.LabelRun: "stopped", v1alpha1.LabelComponent: component})
			managerElsewhere(ctx, node)
			// A process that waits for its disk cannot be frozen just then.
			Eventually(func() error { return exec.CommandContext(ctx, "docker", "pause", node).Run() }).WithContext(ctx).
				WithTimeout(patience).Should(Succeed())
			DeferCleanup(func(ctx SpecContext) {
				resume(ctx, node)
				kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=2m", "node/"+node)
			})
			recorded(ctx, "stopped-t1-a1")
			resume(ctx, node)
			kubectl(ctx, "uncordon", node)
			complete(ctx, "stopped")
			Expect(outcomes(ctx, "stopped")).To(HaveKeyWithValue("t1-a1", want))
			Expect(record(ctx, "stopped-t1-a1").Message).To(ContainSubstring("node " + node + " does not answer"))
		},
		Entry("the loader's", v1alpha1.ComponentLoader, "Invalidated NodeLost", SpecTimeout(2*runTime)),
		Entry("the database's", v1alpha1.ComponentDatabase, "Invalidated DatabaseLost", SpecTimeout(2*runTime)),
	)

	It("that is drained waits, because the run has a guard; one that evicts without asking costs the attempt", func(ctx SpecContext) {
		apply(ctx, strings.ReplaceAll(long("drained", "  loader: {separateFromDatabase: Required}\n"), "seconds: 8", "seconds: 20"))
		measuring(ctx, "drained")
		node := nodeOf(ctx, client.MatchingLabels{v1alpha1.LabelRun: "drained", v1alpha1.LabelComponent: v1alpha1.ComponentLoader})
		managerElsewhere(ctx, node)
		out, err := command(ctx, "drain", node, "--pod-selector="+v1alpha1.LabelRun+"=drained", "--ignore-daemonsets", "--timeout=5s")
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring("would violate the pod's disruption budget"))

		taint := fmt.Sprintf("benchrun.dev/e2e=%s:NoExecute", namespace)
		DeferCleanup(func(ctx SpecContext) { _, _ = command(ctx, "taint", "node", node, taint+"-") }) // if it is still there
		kubectl(ctx, "taint", "node", node, taint)
		recorded(ctx, "drained-t1-a1")
		kubectl(ctx, "taint", "node", node, taint+"-")
		kubectl(ctx, "uncordon", node)
		complete(ctx, "drained")
		Expect(outcomes(ctx, "drained")).To(Equal(map[string]string{
			"t1-a1": "Invalidated Evicted", "t1-a2": "Accepted", "t2-a1": "Accepted",
		}))
	}, SpecTimeout(runTime))
})

var _ = Describe("a disk that is full", func() {
	// A server waits for room in a table of MyISAM, and asks again every minute: it never says no.
	It("that the server waits for ends the run at its deadline", func(ctx SpecContext) {
		apply(ctx, tooMuch("waits", "MyISAM", 60))
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "pod/waits-db1-0")
		Eventually(func() (string, error) {
			return command(ctx, "logs", "waits-db1-0", "-c", "server")
		}).WithContext(ctx).WithTimeout(3 * time.Minute).Should(ContainSubstring("Disk is full"))
		Expect(failure(finished(ctx, "waits"))).To(And(
			HavePrefix("DeadlineExceeded: trial 1: the attempt took longer than trials.deadlineSeconds allows (60 s): the loader was told to stop"),
			MatchRegexp(`in phase measure, \d+ rows`)))
		nothingRuns(ctx)
	}, SpecTimeout(runTime))
})
