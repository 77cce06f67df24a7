//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scaleManager sets how many managers there are, and waits until there are so many.
func scaleManager(ctx SpecContext, replicas int) {
	GinkgoHelper()
	out, err := commandWith(ctx, "", "scale", "-n", "benchrun-system", "deployment/benchrun-manager", fmt.Sprintf("--replicas=%d", replicas))
	Expect(err).NotTo(HaveOccurred(), out)
	if replicas > 0 {
		managerRuns(ctx)
		return
	}
	out, err = commandWith(ctx, "", "wait", "-n", "benchrun-system", "--for=delete", "pod", "-l", "app.kubernetes.io/component=manager", "--timeout=1m")
	Expect(err).NotTo(HaveOccurred(), out)
}

// loaderEnded waits until the loader of an attempt has ended, and returns its Pod.
func loaderEnded(ctx SpecContext, attempt string) *corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Eventually(func(g Gomega) {
		g.Expect(cluster.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{"batch.kubernetes.io/job-name": attempt})).To(Succeed())
		g.Expect(pods.Items).To(HaveLen(1))
		g.Expect(pods.Items[0].Status.Phase).To(Equal(corev1.PodSucceeded))
	}).WithContext(ctx).WithTimeout(2 * time.Minute).WithPolling(300 * time.Millisecond).Should(Succeed())
	return &pods.Items[0]
}

var _ = Describe("a result on its way out of its Pod", Serial, func() {
	It("that does not arrive whole is no result", func(ctx SpecContext) {
		apply(ctx, long("damaged", ""))
		measuring(ctx, "damaged")
		DeferCleanup(func(ctx SpecContext) { scaleManager(ctx, 1) })
		scaleManager(ctx, 0)

		By("losing a line of the log on its node while no manager looks")
		pod := loaderEnded(ctx, "damaged-t1-a1")
		file := fmt.Sprintf("/var/log/pods/%s_%s_%s/loader/0.log", namespace, pod.Name, pod.UID)
		before := docker(ctx, "exec", pod.Spec.NodeName, "sha256sum", file)
		inNode(ctx, pod.Spec.NodeName, "sed -i '/benchrun-document-begin/{n;d}' "+file)
		Expect(docker(ctx, "exec", pod.Spec.NodeName, "sha256sum", file)).NotTo(Equal(before))

		scaleManager(ctx, 1)
		run := complete(ctx, "damaged")
		Expect(outcomes(ctx, "damaged")).To(Equal(disturbedOnce("DocumentLost")))
		Expect(run.Status.Points[0].N).To(BeEquivalentTo(2))
	}, SpecTimeout(runTime))
})

var _ = Describe("managers", Serial, func() {
	It("of which there are two, and whose leader is killed, measure as one does", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { scaleManager(ctx, 1) })
		scaleManager(ctx, 2)
		apply(ctx, long("two", ""))
		measuring(ctx, "two")
		lease, err := commandWith(ctx, "", "get", "lease", "-n", "benchrun-system", "manager.benchrun.dev", "-o", "jsonpath={.spec.holderIdentity}")
		Expect(err).NotTo(HaveOccurred(), lease)
		leader, _, _ := strings.Cut(lease, "_")
		out, err := commandWith(ctx, "", "delete", "pod", "-n", "benchrun-system", leader, "--grace-period=0", "--force")
		Expect(err).NotTo(HaveOccurred(), out)
		complete(ctx, "two")
		Expect(outcomes(ctx, "two")).To(Equal(undisturbed))
		Expect(*getRun(ctx, "two").Status.Trials.Invalidated).To(BeZero())
	}, SpecTimeout(runTime))
})

var _ = Describe("a server", func() {
	It("without enough memory says so", func(ctx SpecContext) {
		// Its data lie in memory, and grow.
		manifest := strings.NewReplacer(
			"storage: {size: 1Gi}", "storage: {medium: Memory, size: 2Gi}, settings: {bufferPoolSize: 64Mi, redoLogSize: 16Mi}, "+
				"resources: {limits: {cpu: '1', memory: 330Mi}}",
			"type: CommitSize, commitSize: {rows: 100000000}", "type: BulkInsert, bulkInsert: {rows: 100000000}",
			"seconds: 8", "seconds: 300", "trials: {repetitions: 2}", "trials: {repetitions: 1, maxInvalid: 0}",
		).Replace(long("oom-server", ""))
		apply(ctx, manifest)
		why := failure(finished(ctx, "oom-server"))
		Expect(why).To(And(HavePrefix("TooManyInvalid: "), ContainSubstring("DatabaseLost: the server ran out of memory and was killed")))
		Expect(outcomes(ctx, "oom-server")).To(HaveKey("t1-a1"))
	}, SpecTimeout(runTime))
})
