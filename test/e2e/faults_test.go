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

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// twice is a run of two trials of a workload; the overlay is put into its spec.
func twice(name, workload, overlay string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}}
  workload: {%s}
  trials: {repetitions: 2}
%s`, name, workload, overlay)
}

// long takes eight seconds for each of its two trials, and quick hardly any time.
func long(name, overlay string) string {
	return twice(name, "type: CommitSize, commitSize: {rows: 100000000}, limits: {seconds: 8}", overlay)
}

func quick(name, overlay string) string {
	return twice(name, "type: CommitSize, commitSize: {rows: 100}", overlay)
}

// measuring waits until the first attempt of a run is in the middle of it.
func measuring(ctx SpecContext, run string) {
	GinkgoHelper()
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/"+run+"-t1-a1")
	Eventually(func() (string, error) {
		return command(ctx, "logs", "-n", namespace, "job/"+run+"-t1-a1")
	}).WithContext(ctx).WithTimeout(2*time.Minute).WithPolling(300*time.Millisecond).Should(ContainSubstring("measure"), "the loader's log")
}

// outcomes are the records of all attempts of a run, by name.
func outcomes(ctx SpecContext, run string) map[string]string {
	GinkgoHelper()
	var configs corev1.ConfigMapList
	Expect(cluster.List(ctx, &configs, client.InNamespace(namespace), client.MatchingLabels{
		v1alpha1.LabelRun: run, v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
	})).To(Succeed())
	found := map[string]string{}
	for _, cm := range configs.Items {
		r, err := result.DecodeRecord(cm.Data[result.RecordKey])
		Expect(err).NotTo(HaveOccurred())
		found[strings.TrimPrefix(cm.Name, run+"-")] = strings.TrimSpace(string(r.Outcome) + " " + string(r.Cause))
	}
	return found
}

var undisturbed = map[string]string{"t1-a1": "Accepted", "t2-a1": "Accepted"}

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

	It("a manager that is killed again and again changes neither the results nor their number", func(ctx SpecContext) {
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
			"no node that it may use has enough cpu (it requests 64); the most that is left is ", SpecTimeout(runTime)),
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
