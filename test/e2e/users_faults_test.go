//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
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
	}).WithContext(ctx).WithTimeout(patience).Should(ContainSubstring(notAllowed))

	apply(ctx, small("own", "")+modest)
	Eventually(func(g Gomega) {
		g.Expect(kubectl(ctx, "describe", "benchmarkrun/own")).To(ContainSubstring(notAllowed))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())

	withManagerFlag(ctx, "--cluster-users")
	complete(ctx, "own") // with a server, a probe and loaders that asked for no user: they were not refused
}, SpecTimeout(2*runTime))

// stuck is a run that fails within its deadline for that reason, in these words. Where its loader does not start, its server has to.
func stuck(ctx SpecContext, manifest, reason, words string) {
	GinkgoHelper()
	deadline := map[string]string{"DatabaseNotStarted": "20", "LoaderNotStarted": "90"}[reason]
	apply(ctx, strings.Replace(manifest, "trials: {", "trials: {startDeadlineSeconds: "+deadline+", ", 1))
	Expect(failure(finished(ctx, "stuck"))).To(And(
		HavePrefix(reason+": "), ContainSubstring("within trials.startDeadlineSeconds (%s)", deadline), ContainSubstring(words)))
}

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

	It("a server without enough memory says so", func(ctx SpecContext) {
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

	DescribeTable("what cannot start fails within its deadline, in the cluster's words",
		func(ctx SpecContext, change, to, reason, words string) {
			manifest := small("stuck", "")
			Expect(manifest).To(ContainSubstring(change))
			stuck(ctx, strings.Replace(manifest, change, to, 1), reason, words)
		},
		Entry("an image that does not exist", "mariadb:11.8", "mariadb:0.0-no-such", "DatabaseNotStarted",
			"mariadb:0.0-no-such", SpecTimeout(runTime)),
		Entry("a storage class that does not exist", "{size: 1Gi}", "{size: 1Gi, storageClassName: none-such}", "DatabaseNotStarted",
			`a volume of the database cannot be provisioned: storageclass.storage.k8s.io "none-such" not found`, SpecTimeout(runTime)),
		Entry("a loader that fits nowhere", "  seed: 7", "  loader: {nodeSelector: {no: such}}", "LoaderNotStarted",
			"the loader's Pod cannot be scheduled", SpecTimeout(runTime)),
	)

	DescribeTable("a quota without room fails within the deadline, in the cluster's words",
		func(ctx SpecContext, pods int, reason, words string) {
			apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: pods}\nspec: {hard: {pods: '%d'}}", pods))
			kubectl(ctx, "wait", fmt.Sprintf("--for=jsonpath={.status.hard.pods}=%d", pods), "--timeout=30s", "resourcequota/pods")
			stuck(ctx, small("stuck", ""), reason, words)
		},
		Entry("for the database", 0, "DatabaseNotStarted",
			`in StatefulSet stuck-db1 failed error: pods "stuck-db1-0" is forbidden: exceeded quota: pods`, SpecTimeout(runTime)),
		Entry("for the loader", 1, "LoaderNotStarted",
			`the loader's Pod is being created: Error creating: pods "stuck-t1-a1-0" is forbidden: exceeded quota: pods`,
			SpecTimeout(runTime)),
	)
})
