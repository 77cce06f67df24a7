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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/database"
)

// notAllowed is the answer to whatever asks for users.
const notAllowed = "unable to validate against any security context constraint"

// asksForAUser is a Job that does.
const asksForAUser = `
apiVersion: batch/v1
kind: Job
metadata: {name: asks}
spec:
  template:
    spec:
      restartPolicy: Never
      securityContext: {runAsUser: 999, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - {name: asks, image: mariadb:11.8, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
`

// refusesUsers refuses in a namespace whatever makes Pods that ask for users or groups, as OpenShift refuses their Pods.
const refusesUsers = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets]}
    - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  failurePolicy: Fail
  variables:
  - {name: pod, expression: object.spec.template.spec}
  validations:
  - expression: >
      !has(variables.pod.securityContext.runAsUser) && !has(variables.pod.securityContext.fsGroup) &&
      variables.pod.containers.all(c, !has(c.securityContext.runAsUser))
    message: ` + notAllowed + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`

var _ = It("measures where the cluster says as which users Pods work, and refuses those that ask for others", Serial, func(ctx SpecContext) {
	DeferCleanup(func(ctx SpecContext) {
		kubectl(ctx, "delete", "--ignore-not-found", "mutatingadmissionpolicybindings,mutatingadmissionpolicies,"+
			"validatingadmissionpolicybindings,validatingadmissionpolicies", namespace)
	})
	applyText(ctx, fmt.Sprintf(openShift+refusesUsers, namespace))
	Eventually(func() string {
		out, _ := commandWith(ctx, asksForAUser, "apply", "--dry-run=server", "-f", "-")
		return out
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(ContainSubstring(notAllowed))

	apply(ctx, small("own", "")+modest)
	Eventually(func(g Gomega) {
		g.Expect(kubectl(ctx, "describe", "benchmarkrun/own")).To(ContainSubstring(notAllowed))
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(Succeed())

	withManagerFlag(ctx, "--cluster-users")
	complete(ctx, "own") // with a server, a probe and loaders that asked for no user: they were not refused
}, SpecTimeout(2*runTime))

var _ = Describe("bad luck", func() {
	It("a loader Pod that is deleted is measured again", func(ctx SpecContext) {
		apply(ctx, long("loader", ""))
		measuring(ctx, "loader")
		kubectl(ctx, "delete", "pod", "-l", "batch.kubernetes.io/job-name=loader-t1-a1", "--wait=false")
		run := complete(ctx, "loader")
		Expect(outcomes(ctx, "loader")).To(Equal(map[string]string{
			"t1-a1": "Invalidated PodDeleted", "t1-a2": "Accepted", "t2-a1": "Accepted",
		}))
		Expect(*run.Status.Trials.Invalidated).To(BeEquivalentTo(1))
	}, SpecTimeout(runTime))

	It("a database Pod that is deleted is replaced by a new instance", func(ctx SpecContext) {
		apply(ctx, long("database", ""))
		measuring(ctx, "database")
		kubectl(ctx, "delete", "pod", "database-db1-0", "--wait=false")
		complete(ctx, "database")
		Expect(outcomes(ctx, "database")).To(Equal(map[string]string{
			"t1-a1": "Invalidated DatabaseLost", "t1-a2": "Accepted", "t2-a1": "Accepted",
		}))
		Expect(record(ctx, "database-t1-a2").Instance).To(Equal(2))
	}, SpecTimeout(runTime))

	It("a loader without enough memory says so", func(ctx SpecContext) {
		apply(ctx, long("oom", "  loader: {resources: {limits: {cpu: '1', memory: 7Mi}}}\n"))
		Expect(failure(finished(ctx, "oom"))).To(And(HavePrefix("TooManyInvalid"), ContainSubstring("OutOfMemory")))
	}, SpecTimeout(runTime))

	It("a namespace that is deleted in mid-run is gone within two minutes", func(ctx SpecContext) {
		apply(ctx, long("namespace", ""))
		measuring(ctx, "namespace")
		ns := &corev1.Namespace{}
		Expect(cluster.Get(ctx, client.ObjectKey{Name: namespace}, ns)).To(Succeed())
		Expect(cluster.Delete(ctx, ns)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKey{Name: ns.Name}, ns))
		}).WithContext(ctx).WithTimeout(2 * time.Minute).WithPolling(time.Second).Should(BeTrue())
	}, SpecTimeout(runTime))

	DescribeTable("what cannot start fails within its deadline, in the cluster's words",
		func(ctx SpecContext, change, to, reason, words string) {
			manifest := strings.Replace(small("stuck", ""), "trials: {", "trials: {startDeadlineSeconds: 20, ", 1)
			Expect(manifest).To(ContainSubstring(change))
			apply(ctx, strings.Replace(manifest, change, to, 1))
			Expect(failure(finished(ctx, "stuck"))).To(And(
				HavePrefix(reason+": "), ContainSubstring("within trials.startDeadlineSeconds (20)"), ContainSubstring(words)))
		},
		Entry("an image that does not exist", "mariadb:11.8", "mariadb:0.0-no-such", "DatabaseNotStarted",
			"mariadb:0.0-no-such", SpecTimeout(runTime)),
		Entry("a storage class that does not exist", "{size: 1Gi}", "{size: 1Gi, storageClassName: none-such}", "DatabaseNotStarted",
			"the database's Pod cannot be scheduled", SpecTimeout(runTime)),
		Entry("a node that does not exist", "image: mariadb:11.8", "nodeSelector: {no: such}", "DatabaseNotStarted",
			"didn't match Pod's node affinity/selector", SpecTimeout(runTime)),
		Entry("a loader that fits nowhere", "  seed: 7", "  loader: {nodeSelector: {no: such}}", "LoaderNotStarted",
			"the loader's Pod cannot be scheduled", SpecTimeout(runTime)),
	)

	DescribeTable("a quota without room fails within the deadline, in the cluster's words",
		func(ctx SpecContext, pods int, reason, words string) {
			apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: pods}\nspec: {hard: {pods: '%d'}}", pods))
			kubectl(ctx, "wait", fmt.Sprintf("--for=jsonpath={.status.hard.pods}=%d", pods), "--timeout=30s", "resourcequota/pods")
			apply(ctx, strings.Replace(small("stuck", ""), "trials: {", "trials: {startDeadlineSeconds: 20, ", 1))
			Expect(failure(finished(ctx, "stuck"))).To(And(
				HavePrefix(reason+": "), ContainSubstring("within trials.startDeadlineSeconds (20)"), ContainSubstring(words)))
		},
		Entry("for the database", 0, "DatabaseNotStarted",
			`in StatefulSet stuck-db1 failed error: pods "stuck-db1-0" is forbidden: exceeded quota: pods`, SpecTimeout(runTime)),
		Entry("for the loader", 1, "LoaderNotStarted",
			`the loader's Pod is being created: Error creating: pods "stuck-t1-a1-0" is forbidden: exceeded quota: pods`,
			SpecTimeout(runTime)),
	)
})

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

var _ = Describe("a measurement that is not what was asked for", func() {
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

	It("an image tag that moves between two trials", func(ctx SpecContext) {
		const moving = "mariadb:moving"
		tag(ctx, "mariadb:11.8", moving)
		DeferCleanup(func(ctx SpecContext) {
			for _, node := range workers(ctx) {
				docker(ctx, "exec", node, "ctr", "-n", "k8s.io", "images", "rm", "docker.io/library/"+moving)
			}
		})
		apply(ctx, strings.NewReplacer("mariadb:11.8", moving, "repetitions: 2", "repetitions: 2, server: PerTrial").Replace(long("moved", "")))
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
