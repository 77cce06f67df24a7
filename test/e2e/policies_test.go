//go:build faults || reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

// openShift gives the Pods of a namespace a user and a group of its range, as OpenShift does, whatever they ask for.
const openShift = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{spec: Object.spec{securityContext: Object.spec.securityContext{
          runAsUser: 1000680000, runAsGroup: 0, fsGroup: 1000680000}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`

// denyAll is the policy that many clusters put into each namespace.
const denyAll = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: default-deny}
spec: {podSelector: {}, policyTypes: [Ingress, Egress]}`
