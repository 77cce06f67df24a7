//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/database"
)

// disturbedOnce are the outcomes of a run of two trials, whose first was disturbed once.
func disturbedOnce(cause string) map[string]string {
	return map[string]string{"t1-a1": "Invalidated " + cause, "t1-a2": "Accepted", "t2-a1": "Accepted"}
}

// throttledMicros is for how long a run's first server was held back so far, in the words of either version of control
// groups.
func throttledMicros(ctx context.Context, run string) int64 {
	GinkgoHelper()
	text := kubectl(ctx, "exec", run+"-db1-0", "-c", database.ServerContainer, "--", "sh", "-c",
		"cat /sys/fs/cgroup/cpu.stat 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.stat")
	match := regexp.MustCompile(`throttled_(usec|time) (\d+)`).FindStringSubmatch(text)
	if match == nil {
		return 0 // there was no limit yet
	}
	n, err := strconv.ParseInt(match[2], 10, 64)
	Expect(err).NotTo(HaveOccurred())
	if match[1] == "time" {
		n /= 1000
	}
	return n
}

// resize the CPU limit of a run's first server in its Pod.
func resize(ctx context.Context, run, cpu string) {
	GinkgoHelper()
	kubectl(ctx, "patch", "pod", run+"-db1-0", "--subresource=resize", "--type=strategic", "-p", fmt.Sprintf(
		`{"spec":{"containers":[{"name":%q,"resources":{"limits":{"cpu":%q}}}]}}`, database.ServerContainer, cpu))
}

// tag moves a tag to another image, on every worker.
func tag(ctx context.Context, image, name string) {
	GinkgoHelper()
	for _, node := range workers(ctx) {
		docker(ctx, "exec", node, "ctr", "-n", "k8s.io", "images", "tag", "--force", "docker.io/library/"+image, "docker.io/library/"+name)
	}
}

// sql is what somebody else does on a run's first server.
func sql(ctx context.Context, run, statement string) {
	GinkgoHelper()
	kubectl(ctx, "exec", run+"-db1-0", "-c", database.ServerContainer, "--", "sh", "-c",
		`mariadb --user=root --password="$(cat /etc/benchrun/credentials/password)" --execute="$1"`, "sh", statement)
}

var _ = Describe("a measurement that is not what was asked for", func() {
	It("a server variable that is set in mid-trial", func(ctx SpecContext) {
		apply(ctx, long("variable", ""))
		measuring(ctx, "variable")
		sql(ctx, "variable", "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
		complete(ctx, "variable")
		// The next attempts measure what the server says then: it is compared with what was asked, and this setting was not.
		Expect(outcomes(ctx, "variable")).To(Equal(disturbedOnce("VariablesChanged")))
		Expect(record(ctx, "variable-t1-a1").Message).To(ContainSubstring("innodb_flush_log_at_trx_commit"))
	}, SpecTimeout(runTime))

	It("rows that are deleted in mid-trial", func(ctx SpecContext) {
		apply(ctx, long("rows", ""))
		measuring(ctx, "rows")
		sql(ctx, "rows", "DELETE FROM bench.demo LIMIT 3")
		complete(ctx, "rows")
		Expect(outcomes(ctx, "rows")).To(Equal(disturbedOnce("CheckFailed")))
	}, SpecTimeout(runTime))

	It("a CPU limit that somebody else sets in mid-trial", func(ctx SpecContext) {
		apply(ctx, strings.NewReplacer("seconds: 8", "seconds: 25",
			"storage: {size: 1Gi}", "storage: {size: 1Gi}, resources: {requests: {cpu: 50m}, limits: {memory: 672Mi}}").Replace(long("cpu", "")))
		measuring(ctx, "cpu")
		resize(ctx, "cpu", "100m")
		Eventually(func() int64 { return throttledMicros(ctx, "cpu") }).WithContext(ctx).WithTimeout(time.Minute).
			WithPolling(300*time.Millisecond).Should(BeNumerically(">", 500_000), "the time for which the server was held back")
		resize(ctx, "cpu", "8")
		complete(ctx, "cpu")
		Expect(outcomes(ctx, "cpu")).To(Equal(disturbedOnce("Throttled")))
		Expect(record(ctx, "cpu-t1-a1").Message).To(And(
			HavePrefix("the server was throttled at its CPU limit (8) for "), ContainSubstring("the run requests no CPU limit")))
	}, SpecTimeout(runTime))

	It("a server that its own limit holds back beyond what the run allows fails, and says what to do", func(ctx SpecContext) {
		manifest := strings.NewReplacer("seconds: 8", "seconds: 4", "repetitions: 2", "repetitions: 1, maxInvalid: 1, maxThrottledPercent: 1",
			"storage: {size: 1Gi}", "storage: {size: 1Gi}, resources: {limits: {cpu: 100m, memory: 672Mi}}").Replace(long("narrow", ""))
		apply(ctx, manifest)
		Expect(failure(finished(ctx, "narrow"))).To(And(
			HavePrefix("TooManyInvalid: invalidated attempts: 2 (trials.maxInvalid allows 1); the last one was of trial 1: Throttled: "),
			ContainSubstring("the server was throttled at its CPU limit (100m) for "),
			ContainSubstring("trials.maxThrottledPercent allows 1%: raise database.resources.limits.cpu, or allow more")))
	}, SpecTimeout(runTime))

	It("an image tag that moves between two trials", func(ctx SpecContext) {
		const moving = "mariadb:moving"
		tag(ctx, "mariadb:11.8", moving)
		DeferCleanup(func(ctx SpecContext) {
			for _, node := range workers(ctx) {
				docker(ctx, "exec", node, "ctr", "-n", "k8s.io", "images", "rm", "docker.io/library/"+moving)
			}
		})
		apply(ctx, strings.NewReplacer("mariadb:11.8", moving, "repetitions: 2", "repetitions: 2, server: Fresh").Replace(long("moved", "")))
		measuring(ctx, "moved")
		tag(ctx, "mariadb:10.11", moving)
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/moved-t2-a1")
		tag(ctx, "mariadb:11.8", moving)
		complete(ctx, "moved")
		Expect(outcomes(ctx, "moved")).To(Equal(map[string]string{
			"t1-a1": "Accepted", "t2-a1": "Invalidated ImageChanged", "t2-a2": "Accepted",
		}))
	}, SpecTimeout(runTime))
})

var _ = Describe("an observer", func() {
	It("that is killed in mid-trial changes nothing but what is known", func(ctx SpecContext) {
		apply(ctx, long("unobserved", ""))
		measuring(ctx, "unobserved")
		var pod corev1.Pod
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "unobserved-db1-0"}, &pod)).To(Succeed())
		// The two containers share processes and user: one can end the other's.
		kubectl(ctx, "exec", "unobserved-db1-0", "-c", database.ServerContainer, "--", "sh", "-c",
			`for p in /proc/[0-9]*; do if grep -aq observe "$p/cmdline" && [ "$p" != "/proc/$$" ]; then kill -9 "${p#/proc/}"; fi; done`)
		Eventually(func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(&pod), &pod)).To(Succeed())
			for _, s := range pod.Status.InitContainerStatuses {
				if s.Name == database.ObserverContainer {
					g.Expect(s.RestartCount).To(BeNumerically(">", 0))
				}
			}
		}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(300 * time.Millisecond).Should(Succeed())
		complete(ctx, "unobserved")
		Expect(outcomes(ctx, "unobserved")).To(Equal(undisturbed))
	}, SpecTimeout(runTime))
})

// Serial: the Pods of a spec beside it would be named too.
var _ = Describe("a node that is not the run's alone", Serial, func() {
	It("a Pod that comes in mid-trial is named beside the number", func(ctx SpecContext) {
		apply(ctx, long("visited", ""))
		measuring(ctx, "visited")
		var db corev1.Pod
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "visited-db1-0"}, &db)).To(Succeed())
		apply(ctx, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: visitor}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: sleeper
    image: mariadb:11.8
    command: [sleep, "600"]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, db.Spec.NodeName))
		run := complete(ctx, "visited")
		Expect(outcomes(ctx, "visited")).To(Equal(undisturbed))
		Expect(record(ctx, "visited-t1-a1").Neighbors.Arrived.Names).To(ContainElement(namespace + "/visitor"))
		Expect(run.Status.Points[0].Warnings).To(ContainElement(
			ContainSubstring("Pods started on the database node during the attempt: " + namespace + "/visitor")))
		Expect(record(ctx, "visited-t2-a1").Neighbors.Arrived.Names).NotTo(ContainElement(namespace+"/visitor"), "it was there before")
	}, SpecTimeout(runTime))
})
