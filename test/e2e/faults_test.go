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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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

	It("a manager that is killed again and again changes neither the results nor their number", Serial, func(ctx SpecContext) {
		apply(ctx, long("killed", ""))
		for range 6 {
			out, err := commandWith(ctx, "", "delete", "pod", "-n", "benchrun-system", "-l", "app.kubernetes.io/component=manager",
				"--grace-period=0", "--force")
			Expect(err).NotTo(HaveOccurred(), out)
			out, err = commandWith(ctx, "", "rollout", "status", "-n", "benchrun-system", "deployment/benchrun-manager", "--timeout=1m")
			Expect(err).NotTo(HaveOccurred(), out)
		}
		run := complete(ctx, "killed")
		Expect(outcomes(ctx, "killed")).To(Equal(undisturbed))
		Expect(run.Status.Progress).To(Equal("2/2"))
	}, SpecTimeout(runTime))

	It("a run that is suspended in mid-trial and resumed measures the trial from its start", func(ctx SpecContext) {
		apply(ctx, long("suspended", ""))
		measuring(ctx, "suspended")
		kubectl(ctx, "patch", "benchmarkrun/suspended", "--type=merge", "-p", `{"spec":{"suspend":true}}`)
		kubectl(ctx, "wait", "--for=condition=Suspended", "--timeout=1m", "benchmarkrun/suspended")
		Eventually(func(g Gomega) { g.Expect(running(ctx)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
		kubectl(ctx, "patch", "benchmarkrun/suspended", "--type=merge", "-p", `{"spec":{"suspend":false}}`)
		complete(ctx, "suspended")
		Expect(outcomes(ctx, "suspended")).To(Equal(undisturbed))
	}, SpecTimeout(runTime))

	It("a run that is deleted and applied again at once waits for the old one's objects", func(ctx SpecContext) {
		apply(ctx, long("again", ""))
		measuring(ctx, "again")
		kubectl(ctx, "delete", "benchmarkrun/again", "--wait=true")
		apply(ctx, long("again", ""))
		complete(ctx, "again")
		Expect(outcomes(ctx, "again")).To(Equal(undisturbed))
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
		Entry("a loader that is too large", "  seed: 7", "  loader: {resources: {limits: {cpu: 64, memory: 96Mi}}}", "LoaderNotStarted",
			"no eligible node has enough cpu (it requests 64); the most available is ", SpecTimeout(runTime)),
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
