//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// queues are a LocalQueue and what is behind it; a name of the cluster's is that of the namespace.
const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: %[1]s}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %[1]s}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  stopPolicy: %[2]s
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: %[1]s
      resources:
      - {name: cpu, nominalQuota: %[3]s}
      - {name: memory, nominalQuota: 4Gi}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: bench}
spec: {clusterQueue: %[1]s}
`

// withQueues has Kueue manage the namespace of the spec, and makes queues for it.
func withQueues(ctx SpecContext, stopPolicy, cpu string) {
	GinkgoHelper()
	kubectl(ctx, "label", "namespace", namespace, "kueue-managed=true")
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			report(ctx)
			for _, args := range [][]string{
				{"describe", "workloads.kueue.x-k8s.io,localqueues"},
				{"describe", "clusterqueue", namespace},
				{"logs", "-n", "kueue-system", "deployment/kueue-controller-manager", "--tail=100"},
			} {
				out, err := command(ctx, args...)
				fmt.Fprintf(GinkgoWriter, "$ kubectl %s\n%s(%v)\n", strings.Join(args, " "), out, err)
			}
		}
		kubectl(ctx, "delete", "benchmarkruns", "--all", "--timeout=1m")
		nothingInQueue(ctx)
		kubectl(ctx, "delete", "clusterqueue/"+namespace, "resourceflavor/"+namespace, "--timeout=1m")
	})
	apply(ctx, fmt.Sprintf(queues, namespace, stopPolicy, cpu))
	kubectl(ctx, "wait", "--for=create", "localqueue/bench", "--timeout=30s")
}

// changeQueue patches the ClusterQueue.
func changeQueue(ctx SpecContext, path, value string) {
	GinkgoHelper()
	kubectl(ctx, "patch", "clusterqueue", namespace, "--type=json", "-p",
		fmt.Sprintf(`[{"op": "replace", "path": "/spec/%s", "value": "%s"}]`, path, value))
}

// inQueue puts the run of a manifest into the queue.
func inQueue(manifest string) string {
	return strings.Replace(manifest, "metadata: {name: ", "metadata: {labels: {kueue.x-k8s.io/queue-name: bench}, name: ", 1)
}

// workloads are the names of Kueue's Workloads in the namespace, and whether it has admitted them.
func workloads(ctx SpecContext) map[string]bool {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kueue.x-k8s.io/v1beta2")
	list.SetKind("WorkloadList")
	Expect(cluster.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	found := map[string]bool{}
	for i := range list.Items {
		name := list.Items[i].GetName()
		found[name] = false
		conditions, _, err := unstructured.NestedSlice(list.Items[i].Object, "status", "conditions")
		Expect(err).NotTo(HaveOccurred())
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Admitted" {
				found[name] = c["status"] == "True"
			}
		}
	}
	return found
}

// nothingInQueue waits until Kueue has let go of all that there was.
func nothingInQueue(ctx SpecContext) {
	GinkgoHelper()
	Eventually(workloads).WithContext(ctx).WithTimeout(patience).Should(BeEmpty())
	Eventually(running).WithContext(ctx).WithTimeout(patience).Should(BeEmpty())
}

// waitsForKueue waits until a run says that it does so, and these words.
func waitsForKueue(ctx SpecContext, name string, words ...string) {
	GinkgoHelper()
	says := And(HavePrefix("WaitingForKueue: "), ContainSubstring(`LocalQueue "bench"`))
	for _, w := range words {
		says = And(says, ContainSubstring(w))
	}
	Eventually(func() string {
		ready := apimeta.FindStatusCondition(getRun(ctx, name).Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil {
			return ""
		}
		return ready.Reason + ": " + ready.Message
	}).WithContext(ctx).WithTimeout(patience).Should(says)
	Expect(kubectl(ctx, "get", "brun", name)).To(ContainSubstring("WaitingForKueue"))
}

// Serial: its queues have room for requests of a known size.
var _ = Describe("Kueue", Serial, func() {
	It("admits the StatefulSet and the Jobs of a run with its label", func(ctx SpecContext) {
		withQueues(ctx, "None", "4")
		apply(ctx, inQueue(long("admitted", "")))
		measuring(ctx, "admitted")
		Expect(workloads(ctx)).To(And(HaveLen(2), HaveKeyWithValue(HavePrefix("statefulset-admitted-db1-"), true),
			HaveKeyWithValue(HavePrefix("job-admitted-t1-a1-"), true)))
		complete(ctx, "admitted")
		Expect(outcomes(ctx, "admitted")).To(Equal(undisturbed))
		nothingInQueue(ctx)
	}, SpecTimeout(runTime))

	It("whose queue is drained in mid-attempt lets the run wait for a new database, and go on", func(ctx SpecContext) {
		withQueues(ctx, "None", "4")
		apply(ctx, inQueue(long("drained", "")))
		measuring(ctx, "drained")
		changeQueue(ctx, "stopPolicy", "HoldAndDrain")
		waitsForKueue(ctx, "drained", "has not admitted the database's Pod yet")
		changeQueue(ctx, "stopPolicy", "None")
		complete(ctx, "drained")
		// Whichever of the two Pods ends first is the cause.
		Expect(outcomes(ctx, "drained")).To(And(HaveLen(3), HaveKeyWithValue("t1-a1", HavePrefix("Invalidated ")),
			HaveKeyWithValue("t1-a2", "Accepted"), HaveKeyWithValue("t2-a1", "Accepted")))
		Expect(record(ctx, "drained-t1-a2").Instance).To(Equal(2))
	}, SpecTimeout(runTime))
})
