//go:build faults || reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var managerKey = client.ObjectKey{Namespace: "benchrun-system", Name: "benchrun-manager"}

const loaderFlag = "--loader-image="

// operatorImages are those that the deployed manager consists of and gives to loaders.
func operatorImages(ctx context.Context) (manager, loader string) {
	GinkgoHelper()
	var d appsv1.Deployment
	Expect(cluster.Get(ctx, managerKey, &d)).To(Succeed())
	c := d.Spec.Template.Spec.Containers[0]
	for _, arg := range c.Args {
		if image, found := strings.CutPrefix(arg, loaderFlag); found {
			loader = image
		}
	}
	Expect(loader).NotTo(BeEmpty())
	return c.Image, loader
}

// upgrade the manager to these images, and wait until the new one is there alone.
func upgrade(ctx context.Context, manager, loader string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var d appsv1.Deployment
		g.Expect(cluster.Get(ctx, managerKey, &d)).To(Succeed())
		c := &d.Spec.Template.Spec.Containers[0]
		c.Image = manager
		for i, arg := range c.Args {
			if strings.HasPrefix(arg, loaderFlag) {
				c.Args[i] = loaderFlag + loader
			}
		}
		g.Expect(cluster.Update(ctx, &d)).To(Succeed())
	}).WithTimeout(patience).Should(Succeed())
	out, err := commandWith(ctx, "", "rollout", "status", "-n", managerKey.Namespace, "deployment/"+managerKey.Name, "--timeout=2m")
	Expect(err).NotTo(HaveOccurred(), out)
}

// restoreOperator at the spec's end to what it is now.
func restoreOperator(ctx context.Context) (manager, loader string) {
	GinkgoHelper()
	manager, loader = operatorImages(ctx)
	DeferCleanup(func(ctx SpecContext) { upgrade(ctx, manager, loader) })
	return manager, loader
}

// derive an image from another one, by lines of a Dockerfile that may use files of a folder, and load it into the nodes.
func derive(ctx context.Context, from, suffix, folder string, lines ...string) string {
	GinkgoHelper()
	name := from + "-" + suffix
	file := filepath.Join(GinkgoT().TempDir(), "Dockerfile")
	text := strings.Join(append([]string{"FROM " + from}, lines...), "\n") + "\n"
	Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	build := exec.CommandContext(ctx, "docker", "build", "--tag", name, "--file", file, folder)
	build.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	out, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	load := exec.CommandContext(ctx, filepath.Join(repository, "hack", "cluster.sh"), "load", name)
	out, err = load.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return name
}

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
