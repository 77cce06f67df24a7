//go:build reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// trialSeconds is how long a trial of these cases measures: time enough for what happens in the middle of it.
const trialSeconds = 20

// mid is a run of two trials, each with a middle. It asks for little, so that its Pods find room whatever else is on the nodes.
func mid(name string) string {
	return strings.NewReplacer("seconds: 8", fmt.Sprintf("seconds: %d", trialSeconds), "storage: {size: 1Gi}",
		"storage: {size: 1Gi}, resources: {requests: {cpu: 100m}, limits: {cpu: '1', memory: 672Mi}}").Replace(long(name, modest))
}

// eventuallyInNode waits until a line succeeds in a node's shell.
func eventuallyInNode(ctx context.Context, node, line string) {
	GinkgoHelper()
	Eventually(func() error {
		return exec.CommandContext(ctx, "docker", "exec", node, "bash", "-c", line).Run()
	}).WithContext(ctx).WithTimeout(patience).WithPolling(300*time.Millisecond).Should(Succeed(), line)
}

func controlPlane(ctx context.Context) string {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(cluster.List(ctx, &nodes, client.HasLabels{"node-role.kubernetes.io/control-plane"})).To(Succeed())
	Expect(nodes.Items).NotTo(BeEmpty())
	return nodes.Items[0].Name
}

// apiServerIsBack waits until the API server answers again for some time: it may be restarted once more with etcd.
func apiServerIsBack(ctx context.Context) {
	GinkgoHelper()
	ready := 0
	Eventually(func() int {
		if _, err := commandWith(ctx, "", "-n", "default", "get", "--raw=/readyz"); err != nil {
			ready = 0
		} else {
			ready++
		}
		return ready
	}).WithContext(ctx).WithTimeout(3 * time.Minute).WithPolling(time.Second).Should(BeNumerically(">=", 3))
}

var _ = Describe("reliability", Serial, func() {
	It("kubelet", func(ctx SpecContext) {
		d := disturb(ctx, "kubelet of the loader's node killed four times in mid-trial")
		apply(ctx, mid("kubelet"))
		measuring(ctx, "kubelet")
		node := nodeOf(ctx, client.MatchingLabels{v1alpha1.LabelRun: "kubelet", v1alpha1.LabelComponent: v1alpha1.ComponentLoader})
		for range 4 {
			pid := strings.TrimSpace(inNode(ctx, node, "pgrep -x kubelet"))
			inNode(ctx, node, "kill -9 "+pid)
			eventuallyInNode(ctx, node, "pid=$(pgrep -x kubelet) && [ $pid != "+pid+" ] && : </dev/tcp/127.0.0.1/10248")
		}
		d.ended()
		Expect(failure(d.tell(ctx, "kubelet"))).To(BeEmpty())
	}, SpecTimeout(runTime))

	It("control plane", func(ctx SpecContext) {
		d := disturb(ctx, "etcd and the API server killed in mid-trial, twice")
		apply(ctx, mid("control"))
		measuring(ctx, "control")
		for range 2 {
			inNode(ctx, controlPlane(ctx), "pkill -9 -x etcd; pkill -9 -x kube-apiserver")
			apiServerIsBack(ctx)
		}
		d.ended()
		Expect(failure(d.tell(ctx, "control"))).To(BeEmpty())
	}, SpecTimeout(2*runTime))

	It("namespace", func(ctx SpecContext) {
		d := disturb(ctx, "namespace deleted in mid-trial")
		apply(ctx, mid("gone"))
		measuring(ctx, "gone")
		ns := &corev1.Namespace{}
		Expect(cluster.Get(ctx, client.ObjectKey{Name: namespace}, ns)).To(Succeed())
		Expect(cluster.Delete(ctx, ns)).To(Succeed())
		d.ended()
		Eventually(func() bool {
			return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(ns), ns))
		}).WithContext(ctx).WithTimeout(patience).WithPolling(300 * time.Millisecond).Should(BeTrue())
		d.row("the namespace is gone, with all that the run made; its lane is free", time.Since(d.over), "–", "–", "–")
		Eventually(func() (string, error) {
			return commandWith(ctx, "", "-n", managerKey.Namespace, "get", "leases", "-o", "name")
		}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).ShouldNot(ContainSubstring(ns.Name))
	}, SpecTimeout(runTime))

	It("upgrade", func(ctx SpecContext) {
		d := disturb(ctx, "CRD and manager upgraded in mid-trial, to another loader image")
		manager, loader := restoreOperator(ctx)
		upgraded := derive(ctx, loader, "upgraded", GinkgoT().TempDir(), "LABEL benchrun.dev/e2e=upgraded")
		apply(ctx, mid("upgraded"))
		measuring(ctx, "upgraded")
		const crd = "customresourcedefinition/benchmarkruns.benchrun.dev"
		described := "/spec/versions/0/schema/openAPIV3Schema/description"
		was := kubectl(ctx, "get", crd, "-o", "jsonpath={.spec.versions[0].schema.openAPIV3Schema.description}")
		describe := func(ctx context.Context, text string) {
			kubectl(ctx, "patch", crd, "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":%q,"value":%q}]`, described, text))
		}
		DeferCleanup(func(ctx SpecContext) { describe(ctx, was) })
		describe(ctx, was+" Upgraded.")
		upgrade(ctx, manager, upgraded)
		d.ended()
		Expect(failure(d.tell(ctx, "upgraded"))).To(BeEmpty())
	}, SpecTimeout(runTime))

	It("manager", func(ctx SpecContext) {
		d := disturb(ctx, "manager killed six times")
		apply(ctx, mid("killed"))
		measuring(ctx, "killed")
		for range 6 {
			kill, err := commandWith(ctx, "", "delete", "pod", "-n", managerKey.Namespace, "-l", "app.kubernetes.io/component=manager",
				"--grace-period=0", "--force")
			Expect(err).NotTo(HaveOccurred(), kill)
			managerRuns(ctx)
		}
		d.ended()
		Expect(failure(d.tell(ctx, "killed"))).To(BeEmpty())
	}, SpecTimeout(runTime))

	It("clock", func(ctx SpecContext) {
		d := disturb(ctx, "manager's clock 301 s ahead, and set right in mid-trial")
		manager, loader := restoreOperator(ctx)
		ahead := derive(ctx, manager, "ahead", managerAhead(ctx), "COPY manager /manager")
		upgrade(ctx, ahead, loader)
		apply(ctx, mid("ahead"))
		measuring(ctx, "ahead")
		// The manager counts by the API server's clock.
		Expect(getRun(ctx, "ahead").Status.StartTime.Time).To(BeTemporally("~", time.Now(), 2*time.Minute))
		upgrade(ctx, manager, loader)
		d.ended()
		Expect(failure(d.tell(ctx, "ahead"))).To(BeEmpty())
	}, SpecTimeout(2*runTime))

	It("disk full", func(ctx SpecContext) {
		d := disturb(ctx, "disk full")
		d.ended()
		apply(ctx, tooMuch("full", "InnoDB", 300))
		Expect(failure(d.tell(ctx, "full"))).To(HavePrefix("LoaderFailed: "))
	}, SpecTimeout(runTime))

	It("architecture", func(ctx SpecContext) {
		d := disturb(ctx, "loader image of another architecture")
		manager, loader := restoreOperator(ctx)
		foreign := derive(ctx, loader, "foreign", foreignLoader(), "COPY loader /loader")
		upgrade(ctx, manager, foreign)
		d.ended()
		apply(ctx, strings.Replace(mid("foreign"), "trials: {", "trials: {startDeadlineSeconds: 30, ", 1))
		Expect(failure(d.tell(ctx, "foreign"))).NotTo(BeEmpty())
	}, SpecTimeout(runTime))
})

// dropBetweenPods has the nodes do what denyAll asks for. The network of the nodes that hack/ builds does not enforce policies.
func dropBetweenPods(ctx SpecContext) {
	GinkgoHelper()
	const rule = "FORWARD -s 10.244.0.0/16 -d 10.244.0.0/16 -j DROP"
	for _, node := range workers(ctx) {
		inNode(ctx, node, "iptables -I "+rule)
		DeferCleanup(func(ctx SpecContext) { inNode(ctx, node, "iptables -D "+rule) })
	}
}

// crowd is a Pod of a user who knows the password, and holds that many connections for some seconds.
func crowd(ctx context.Context, run string, connections, seconds int) string {
	GinkgoHelper()
	secret := run + "-" + string(getRun(ctx, run).UID)[:8]
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: crowd}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: credentials, secret: {secretName: %s}}]
  containers:
  - name: clients
    image: mariadb:11.8
    volumeMounts: [{name: credentials, mountPath: /credentials}]
    command:
    - bash
    - -c
    - >
      export MYSQL_PWD=$(cat /credentials/password);
      for i in $(seq %d); do mariadb --host=%s-db1 --user=root --skip-ssl --execute="SELECT SLEEP(%d)" & done; wait
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, secret, connections, run, seconds)
}

var _ = Describe("reliability", Serial, func() {
	It("network policy", func(ctx SpecContext) {
		d := disturb(ctx, "default-deny NetworkPolicy (the nodes drop what it forbids: this network enforces none)")
		apply(ctx, denyAll)
		var policies networkingv1.NetworkPolicyList
		Expect(cluster.List(ctx, &policies, client.InNamespace(namespace))).To(Succeed())
		Expect(policies.Items).To(HaveLen(1), "no other policy allows what this one denies")
		dropBetweenPods(ctx)
		d.ended()
		apply(ctx, strings.Replace(mid("denied"), "trials: {", "trials: {startDeadlineSeconds: 45, ", 1))
		Expect(failure(d.tell(ctx, "denied"))).NotTo(BeEmpty())
	}, SpecTimeout(2*runTime))

	It("connections", func(ctx SpecContext) {
		d := disturb(ctx, "160 connections of somebody else fill max_connections from mid-trial on, for 45 s")
		apply(ctx, mid("crowded"))
		measuring(ctx, "crowded")
		apply(ctx, crowd(ctx, "crowded", 160, 45))
		kubectl(ctx, "wait", "--for=jsonpath={.status.phase}=Running", "--timeout=1m", "pod/crowd")
		Eventually(func() (string, error) { return command(ctx, "logs", "crowd") }).WithContext(ctx).WithTimeout(patience).
			WithPolling(300 * time.Millisecond).Should(ContainSubstring("1040"))
		kubectl(ctx, "wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=3m", "pod/crowd")
		var pod corev1.Pod
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "crowd"}, &pod)).To(Succeed())
		d.over = pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time
		Expect(failure(d.tell(ctx, "crowded"))).To(BeEmpty())
	}, SpecTimeout(2*runTime))

	It("users", func(ctx SpecContext) {
		d := disturb(ctx, "users of OpenShift: 1000680000 for all Pods of the namespace")
		DeferCleanup(func(ctx SpecContext) {
			kubectl(ctx, "delete", "--ignore-not-found", "mutatingadmissionpolicybindings,mutatingadmissionpolicies", namespace)
		})
		apply(ctx, fmt.Sprintf(openShift, namespace))
		Eventually(func() string {
			return kubectl(ctx, "run", "who", "--image=mariadb:11.8", "--dry-run=server", "-o", "yaml",
				`--overrides={"spec":{"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"who","image":"mariadb:11.8","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`)
		}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).Should(ContainSubstring("runAsUser: 1000680000"))
		d.ended()
		apply(ctx, mid("shifted"))
		Expect(failure(d.tell(ctx, "shifted"))).To(BeEmpty())
	}, SpecTimeout(runTime))

	It("finalizer", func(ctx SpecContext) {
		d := disturb(ctx, "run deleted in mid-trial that has somebody else's finalizer; the next in its lane")
		letGo := func(ctx SpecContext) {
			_, _ = command(ctx, "patch", "benchmarkrun/held", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`) // if it is there
		}
		DeferCleanup(letGo)
		applyInLane(ctx, strings.Replace(mid("held"), "{name: held}", "{name: held, finalizers: [e.com/x]}", 1))
		measuring(ctx, "held")
		applyInLane(ctx, quick("next", modest))
		kubectl(ctx, "wait", "--for=condition=Admitted=False", "--timeout=1m", "benchmarkrun/next")
		kubectl(ctx, "delete", "benchmarkrun/held", "--wait=false")
		d.ended()
		Expect(failure(d.tell(ctx, "next"))).To(BeEmpty())
		Expect(kubectl(ctx, "get", "pods,jobs,statefulsets", "-l", v1alpha1.LabelRun+"=held", "-o", "name")).To(BeEmpty())
		letGo(ctx)
		kubectl(ctx, "wait", "--for=delete", "--timeout=1m", "benchmarkrun/held")
	}, SpecTimeout(runTime))

	It("churn", func(ctx SpecContext) {
		const runs, lanes, rounds, sizes = 20, 4, 2, 2
		d := disturb(ctx, "20 runs of two variants in slices, in four lanes, beside Pods of somebody else that come to their node and "+
			"go, three at a time")
		node := workers(ctx)[0]
		others := startChurn(ctx, node, 10_000)
		var names []string
		for i := range runs {
			names = append(names, fmt.Sprintf("run%d", i+1))
			apply(ctx, alternating(names[i], fmt.Sprintf("%s-%d", namespace, i%lanes+1), node, rounds))
		}
		begun := time.Now()
		var sum account
		for _, a := range d.ledger.allComplete(ctx, names, rounds*sizes, 90*time.Minute) {
			sum.Measured, sum.Planned = sum.Measured+a.Measured, sum.Planned+a.Planned
			sum.Invalidated, sum.Lost, sum.Doubled = sum.Invalidated+a.Invalidated, sum.Lost+a.Lost, sum.Doubled+a.Doubled
		}
		d.ended()
		d.row(fmt.Sprintf("%d `Complete` in %s, %d attempts invalidated; %d Pods came and went", runs, time.Since(begun).Round(time.Second),
			sum.Invalidated, others.came(ctx)), 0, fmt.Sprintf("%d of %d", sum.Measured, sum.Planned), fmt.Sprint(sum.Lost), fmt.Sprint(sum.Doubled))
	}, SpecTimeout(100*time.Minute))
})
