//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"time"

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
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(ContainSubstring(notAllowed))

	apply(ctx, small("own", "")+modest)
	Eventually(func(g Gomega) {
		g.Expect(kubectl(ctx, "describe", "benchmarkrun/own")).To(ContainSubstring(notAllowed))
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(Succeed())

	withManagerFlag(ctx, "--cluster-users")
	complete(ctx, "own") // with a server, a probe and loaders that asked for no user: they were not refused
}, SpecTimeout(2*runTime))
