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

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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
	// While no manager looks, something happens to what the loader has left on its node.
	DescribeTable("that does not arrive whole is no result",
		func(ctx SpecContext, damage func(SpecContext, *corev1.Pod), cause string) {
			apply(ctx, long("damaged", ""))
			measuring(ctx, "damaged")
			DeferCleanup(func(ctx SpecContext) { scaleManager(ctx, 1) })
			scaleManager(ctx, 0)
			damage(ctx, loaderEnded(ctx, "damaged-t1-a1"))
			scaleManager(ctx, 1)
			recorded(ctx, "damaged-t1-a1")
			letKubeletsGo(ctx)
			run := complete(ctx, "damaged")
			Expect(outcomes(ctx, "damaged")).To(Equal(map[string]string{
				"t1-a1": "Invalidated " + cause, "t1-a2": "Accepted", "t2-a1": "Accepted",
			}))
			Expect(run.Status.Points[0].N).To(BeEquivalentTo(2))
		},
		Entry("a line of the log is lost", onLog("sed -i '/benchrun-document-begin/{n;d}'"), "DocumentLost", SpecTimeout(runTime)),
		Entry("the log is cut", onLog("sed -i '/benchrun-document-begin/,$d'"), "DocumentLost", SpecTimeout(runTime)),
		Entry("the log says something else", onLog(`sed -i 's/\(benchrun-document [0-9]* \)..../\1AAAA/'`), "DocumentLost", SpecTimeout(runTime)),
		Entry("the termination message is garbage", garble, "Silent", SpecTimeout(runTime)),
	)
})

// onLog edits the log file of a loader on its node.
func onLog(edit string) func(SpecContext, *corev1.Pod) {
	return func(ctx SpecContext, pod *corev1.Pod) {
		GinkgoHelper()
		files := fmt.Sprintf("/var/log/pods/%s_%s_%s/loader/0.log", namespace, pod.Name, pod.UID)
		before := docker(ctx, "exec", pod.Spec.NodeName, "sha256sum", files)
		docker(ctx, "exec", pod.Spec.NodeName, "bash", "-c", edit+" "+files)
		Expect(docker(ctx, "exec", pod.Spec.NodeName, "sha256sum", files)).NotTo(Equal(before))
	}
}

// garble overwrites what the kubelet says that the loader has left. The kubelet is held, because it would put it right.
func garble(ctx SpecContext, pod *corev1.Pod) {
	GinkgoHelper()
	DeferCleanup(letKubeletsGo)
	kubectl(ctx, "cordon", pod.Spec.NodeName) // so that the manager does not come to a node without a kubelet
	docker(ctx, "exec", pod.Spec.NodeName, "pkill", "-STOP", "-x", "kubelet")
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	pod.Status.ContainerStatuses[0].State.Terminated.Message = "\x01\x02 Killed process 1 (loader)"
	Expect(cluster.Status().Update(ctx, pod)).To(Succeed())
}

func letKubeletsGo(ctx SpecContext) {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(cluster.List(ctx, &nodes)).To(Succeed())
	for _, node := range nodes.Items {
		docker(ctx, "exec", node.Name, "pkill", "-CONT", "-x", "kubelet")
		kubectl(ctx, "uncordon", node.Name)
	}
}

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
	It("that ends is not measured on", func(ctx SpecContext) {
		apply(ctx, long("ended-server", ""))
		measuring(ctx, "ended-server")
		kubectl(ctx, "exec", "ended-server-db1-0", "-c", "server", "--", "bash", "-c", "kill 1")
		complete(ctx, "ended-server")
		Expect(outcomes(ctx, "ended-server")).To(HaveKeyWithValue("t1-a1", "Invalidated DatabaseLost"))
		Expect(record(ctx, "ended-server-t1-a2").Instance).To(Equal(2))
	}, SpecTimeout(runTime))

	It("without enough memory says so", func(ctx SpecContext) {
		// Its data lie in memory, and grow.
		manifest := strings.NewReplacer(
			"storage: {size: 1Gi}", "storage: {medium: Memory, size: 2Gi}, settings: {bufferPoolSize: 64Mi, logFileSize: 16Mi}, "+
				"resources: {limits: {cpu: '1', memory: 330Mi}}",
			"type: CommitSize, commitSize: {rows: 100000000}", "type: BulkInsert, bulkInsert: {rows: 100000000}",
			"seconds: 8", "seconds: 300", "trials: {repetitions: 2}", "trials: {repetitions: 1, maxInvalid: 0}",
		).Replace(long("oom-server", ""))
		apply(ctx, manifest)
		why := failure(finished(ctx, "oom-server"))
		Expect(why).To(And(HavePrefix("TooManyInvalid: "), ContainSubstring("DatabaseLost: the server ran out of memory and was killed")))
		Expect(outcomes(ctx, "oom-server")).To(HaveKey("t1-a1"))
	}, SpecTimeout(runTime))

	DescribeTable("that runs with something else than was asked for ends the run with both values",
		func(ctx SpecContext, variable string, words ...string) {
			apply(ctx, small("other", "    variables: {"+variable+"}"))
			why := failure(finished(ctx, "other"))
			Expect(why).To(HavePrefix("SettingNotEffective: "))
			for _, word := range words {
				Expect(why).To(ContainSubstring(word))
			}
		},
		Entry("a value that it lowers", `table_open_cache: "500000"`, `table_open_cache`, "500000", SpecTimeout(runTime)),
		Entry("a variable that it has dropped", `innodb_buffer_pool_instances: "4"`, "innodb_buffer_pool_instances", SpecTimeout(runTime)),
	)
})

var _ = Describe("a name", func() {
	DescribeTable("that somebody else has is left alone",
		func(ctx SpecContext, kind, name, manifest string) {
			apply(ctx, manifest)
			before := kubectl(ctx, "get", kind, name, "-o", "jsonpath={.metadata.uid} {.metadata.resourceVersion}")
			apply(ctx, small("mine", ""))
			Expect(failure(finished(ctx, "mine"))).To(And(HavePrefix("NameTaken: "), ContainSubstring(name)))
			kubectl(ctx, "delete", "benchmarkrun/mine", "--wait=true")
			Eventually(func(g Gomega) {
				g.Expect(kubectl(ctx, "get", "pods,statefulsets", "-l", v1alpha1.LabelRun+"=mine", "-o", "name")).To(BeEmpty())
			}).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
			Expect(kubectl(ctx, "get", kind, name, "-o", "jsonpath={.metadata.uid} {.metadata.resourceVersion}")).To(Equal(before))
		},
		Entry("a ConfigMap of an attempt", "configmap", "mine-t1-a1",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine-t1-a1}\ndata: {a: b}", SpecTimeout(runTime)),
		Entry("a ConfigMap of an instance", "configmap", "mine-db1",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine-db1}\ndata: {a: b}", SpecTimeout(runTime)),
		Entry("a StatefulSet", "statefulset", "mine-db1", `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: mine-db1}
spec:
  replicas: 0
  serviceName: a
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}
`, SpecTimeout(runTime)),
		Entry("a Job", "job", "mine-t1-a1", `
apiVersion: batch/v1
kind: Job
metadata: {name: mine-t1-a1}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
`, SpecTimeout(runTime)),
	)
})
