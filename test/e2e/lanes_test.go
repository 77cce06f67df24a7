//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

var _ = It("measures the runs of a lane one after the other, also if the first is deleted", func(ctx SpecContext) {
	applyInLane(ctx, strings.ReplaceAll(small("first", ""), "rows: 200", "rows: 1000000000"))
	kubectl(ctx, "wait", "--for=condition=Admitted", "--timeout=1m", "benchmarkrun/first")
	applyInLane(ctx, small("second", ""))
	kubectl(ctx, "wait", "--for=condition=Admitted=False", "--timeout=1m", "benchmarkrun/second")
	Expect(kubectl(ctx, "get", "benchmarkrun/second")).To(ContainSubstring("Queued"))
	Expect(kubectl(ctx, "get", "benchmarkrun/second", "-o", `jsonpath={.status.conditions[?(@.type=="Admitted")].message}`)).To(Equal(
		"waiting for run " + namespace + "/first, which holds lane " + namespace + "; next in the queue"))
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/first-t1-a1")
	Expect(kubectl(ctx, "get", "all,secrets,configmaps,pvc", "-l", v1alpha1.LabelRun+"=second", "-o", "name")).To(BeEmpty())
	kubectl(ctx, "delete", "benchmarkrun/first", "--wait=false")
	kubectl(ctx, "wait", "--for=condition=Admitted", "--timeout=2m", "benchmarkrun/second")
	// A Pod whose containers have ended may still be listed.
	Expect(kubectl(ctx, "get", "pods", "-l", v1alpha1.LabelRun+"=first", "--field-selector", "status.phase!=Succeeded,status.phase!=Failed",
		"-o", "name")).To(BeEmpty())
	complete(ctx, "second")
	Eventually(func() (string, error) {
		return commandWith(ctx, "", "get", "leases", "-n", "benchrun-system", "-l", v1alpha1.LabelLane+"="+namespace, "-o", "name")
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(BeEmpty())
}, SpecTimeout(runTime))

// comparisonOfTwo is a comparison of two variants and two rounds, whose runs take seconds.
func comparisonOfTwo(name string) string {
	return `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: ` + name + `}
spec:
  template:
    spec:
      database:
        image: mariadb:11.8
        storage: {size: 1Gi}
      workload: {type: CommitSize, commitSize: {rows: 200, rowsPerCommit: 10}}
  variants:
  - {name: a}
  - {name: b}
  maxRounds: 2
  earlyStop: {policy: Disabled}
`
}

var _ = It("measures two comparisons and a run in one lane one after the other", takesMinutes, func(ctx SpecContext) {
	applyInLane(ctx, comparisonOfTwo("one"))
	kubectl(ctx, "wait", "--for=condition=Admitted", "--timeout=1m", "benchmarkcomparison/one")
	applyInLane(ctx, small("lone", ""))
	kubectl(ctx, "wait", "--for=condition=Admitted=False", "--timeout=1m", "benchmarkrun/lone")
	applyInLane(ctx, comparisonOfTwo("two"))
	kubectl(ctx, "wait", "--for=condition=Admitted=False", "--timeout=1m", "benchmarkcomparison/two")
	waiting := "waiting for comparison " + namespace + "/one, which holds lane " + namespace
	for object, want := range map[string]string{
		"brun/lone": waiting + "; next in the queue", "bcmp/two": "in the queue of lane " + namespace + "; others are ahead of it",
	} {
		Expect(kubectl(ctx, "get", object, "-o", `jsonpath={.status.conditions[?(@.type=="Admitted")].message}`)).To(Equal(want))
	}
	Expect(kubectl(ctx, "get", "bcmp/two")).To(ContainSubstring("Queued"))
	for _, object := range []string{"benchmarkcomparison/one", "benchmarkrun/lone", "benchmarkcomparison/two"} {
		kubectl(ctx, "wait", "--for=condition=Complete", "--timeout="+runTime.String(), object)
	}

	By("having begun each after the one before had ended")
	one, lone, two := getComparison(ctx, "one"), getRun(ctx, "lone"), getComparison(ctx, "two")
	Expect(lone.Status.StartTime.Time).To(BeTemporally(">=", one.Status.CompletionTime.Time))
	Expect(two.Status.StartTime.Time).To(BeTemporally(">=", lone.Status.CompletionTime.Time))
	var runs v1alpha1.BenchmarkRunList
	Expect(cluster.List(ctx, &runs, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelComparison})).To(Succeed())
	Expect(runs.Items).To(HaveLen(8))
	for _, run := range runs.Items {
		of := getComparison(ctx, run.Labels[v1alpha1.LabelComparison])
		Expect(run.Status.StartTime.Time).To(BeTemporally(">=", of.Status.StartTime.Time))
		Expect(run.Status.CompletionTime.Time).To(BeTemporally("<=", of.Status.CompletionTime.Time))
		Expect(metav1.IsControlledBy(&run, of)).To(BeTrue())
	}
	Eventually(func() (string, error) {
		return commandWith(ctx, "", "get", "leases", "-n", "benchrun-system", "-l", v1alpha1.LabelLane+"="+namespace, "-o", "name")
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(BeEmpty())
}, SpecTimeout(4*runTime))
