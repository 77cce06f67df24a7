//go:build reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// dropBetweenPods has the nodes do what denyAll asks for. The network of the nodes that hack/ builds does not enforce policies.
func dropBetweenPods(ctx SpecContext) {
	GinkgoHelper()
	const rule = "FORWARD -s 10.244.0.0/16 -d 10.244.0.0/16 -j DROP"
	for _, node := range workers(ctx) {
		inNode(ctx, node, "iptables -I "+rule)
		DeferCleanup(func(ctx SpecContext) { inNode(ctx, node, "iptables -D "+rule) })
	}
}

// crowd is a Pod of somebody who knows the password, and holds that many connections for some seconds.
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
		Eventually(func() (string, error) { return command(ctx, "logs", "crowd") }).WithContext(ctx).WithTimeout(time.Minute).
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
		}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(ContainSubstring("runAsUser: 1000680000"))
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
		const runs, lanes, trials = 20, 4, 36
		d := disturb(ctx, "20 runs in four lanes beside Pods of somebody else that come to their node and go, three at a time")
		node := workers(ctx)[0]
		others := startChurn(ctx, node, 10_000)
		var names []string
		for i := range runs {
			names = append(names, fmt.Sprintf("run%d", i+1))
			apply(ctx, sixSizes(names[i], fmt.Sprintf("%s-%d", namespace, i%lanes+1), node, 6))
		}
		begun := time.Now()
		var sum account
		for _, a := range d.ledger.allComplete(ctx, names, trials, 90*time.Minute) {
			sum.Measured, sum.Planned = sum.Measured+a.Measured, sum.Planned+a.Planned
			sum.Invalidated, sum.Lost, sum.Doubled = sum.Invalidated+a.Invalidated, sum.Lost+a.Lost, sum.Doubled+a.Doubled
		}
		d.ended()
		d.row(fmt.Sprintf("%d `Complete` in %s, %d attempts invalidated; %d Pods came and went", runs, time.Since(begun).Round(time.Second),
			sum.Invalidated, others.came(ctx)), 0, fmt.Sprintf("%d of %d", sum.Measured, sum.Planned), fmt.Sprint(sum.Lost), fmt.Sprint(sum.Doubled))
	}, SpecTimeout(100*time.Minute))
})
