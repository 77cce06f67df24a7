//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// conditionText is a condition of a run as "Status Reason: Message".
func conditionText(ctx context.Context, run, condition string) string {
	c := apimeta.FindStatusCondition(getRun(ctx, run).Status.Conditions, condition)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// allowNoMoreConfigMaps by the quota "none".
func allowNoMoreConfigMaps(ctx context.Context) {
	GinkgoHelper()
	var configs corev1.ConfigMapList
	Expect(cluster.List(ctx, &configs, client.InNamespace(namespace))).To(Succeed())
	kubectl(ctx, "create", "quota", "none", fmt.Sprintf("--hard=count/configmaps=%d", len(configs.Items)))
}

var _ = Describe("what is somebody else's", func() {
	It("a claim that has the name of the database's volume is left alone", func(ctx SpecContext) {
		apply(ctx, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim-db1}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
		apply(ctx, quick("claim", ""))
		Expect(failure(finished(ctx, "claim"))).To(HavePrefix(
			"NameTaken: PersistentVolumeClaim claim-db1 exists and does not belong to this run: delete it, or use another name for the run"))
		var claim corev1.PersistentVolumeClaim
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "claim-db1"}, &claim)).To(Succeed())
		Expect(claim.DeletionTimestamp).To(BeNil())
		Expect(claim.OwnerReferences).To(BeEmpty())
		kubectl(ctx, "delete", "pvc", "claim-db1")
	}, SpecTimeout(runTime))

	It("a record that is made by hand does not count", func(ctx SpecContext) {
		apply(ctx, long("forged", ""))
		measuring(ctx, "forged")
		run := getRun(ctx, "forged")
		text, err := testutil.Record(2, 1, nil, 999_999).Encode()
		Expect(err).NotTo(HaveOccurred())
		immutable := true
		Expect(cluster.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: "by-hand", Namespace: namespace, Labels: map[string]string{
					v1alpha1.LabelRun: run.Name, v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
					v1alpha1.LabelTrial: "2", v1alpha1.LabelAttempt: "1", v1alpha1.LabelOutcome: "Accepted",
				},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
			},
			Immutable: &immutable, Data: map[string]string{result.RecordKey: text},
		})).To(Succeed())
		done := complete(ctx, "forged")
		Expect(*done.Status.Trials.Measured).To(BeEquivalentTo(2))
		Expect(done.Status.Headline).NotTo(ContainSubstring("999999"))
		Expect(configMap(ctx, "forged-t2-a1").Immutable).To(HaveValue(BeTrue()))
	}, SpecTimeout(runTime))
})

var _ = Describe("an end that holds", func() {
	It("a finished run keeps its numbers when its ConfigMaps are deleted", func(ctx SpecContext) {
		apply(ctx, quick("kept", "  cleanup: Never"))
		before := complete(ctx, "kept").Status
		Expect(conditionText(ctx, "kept", v1alpha1.ConditionResultsAvailable)).To(Equal(
			"True ResultsPublished: the results are in ConfigMap kept-results"))
		kubectl(ctx, "delete", "configmap", "-l", "benchrun.dev/run=kept,benchrun.dev/component=attempt")
		Eventually(func() string { return conditionText(ctx, "kept", v1alpha1.ConditionResultsAvailable) }).WithTimeout(time.Minute).Should(Equal(
			"False ResultsDeleted: ConfigMaps with records of attempts were deleted: 2 of 2"))
		after := getRun(ctx, "kept").Status
		Expect([]string{after.Progress, after.Headline}).To(Equal([]string{"2/2", before.Headline}))

		// The database stays, and does not hold up the drain of its node.
		Eventually(func(g Gomega) {
			var budgets policyv1.PodDisruptionBudgetList
			g.Expect(cluster.List(ctx, &budgets, client.InNamespace(namespace))).To(Succeed())
			g.Expect(budgets.Items).To(BeEmpty())
		}).WithTimeout(time.Minute).Should(Succeed())
		kubectl(ctx, "get", "pod", "kept-db1-0")
	}, SpecTimeout(runTime))

	It("results that a quota refuses are written when it is raised", func(ctx SpecContext) {
		apply(ctx, long("full", ""))
		measuring(ctx, "full")
		allowNoMoreConfigMaps(ctx)
		Eventually(func() string { return conditionText(ctx, "full", v1alpha1.ConditionResultsAvailable) }).WithTimeout(2 * time.Minute).Should(And(
			HavePrefix("False ResultsNotWritten: acting: trial 1 has measured "), ContainSubstring("ConfigMap full-t1-a1 cannot be written"),
			ContainSubstring("exceeded quota: none")))
		kubectl(ctx, "get", "job", "full-t1-a1")
		kubectl(ctx, "delete", "quota", "none")
		complete(ctx, "full")
		Expect(outcomes(ctx, "full")).To(Equal(undisturbed))
	}, SpecTimeout(runTime))

	It("results that a quota refuses for ever end the run at its deadline", func(ctx SpecContext) {
		apply(ctx, long("never", "  deadlineSeconds: 90"))
		measuring(ctx, "never")
		allowNoMoreConfigMaps(ctx)
		Expect(failure(finished(ctx, "never"))).To(And(
			HavePrefix("DeadlineExceeded: the run did not finish within 1m30s (spec.deadlineSeconds): "), ContainSubstring("trial 1 has measured "),
			ContainSubstring("exceeded quota: none")))
		kubectl(ctx, "delete", "quota", "none")
		kubectl(ctx, "wait", "--for=delete", "--timeout=2m", "statefulset/never-db1")
	}, SpecTimeout(runTime))
})

var _ = DescribeTable("a program's odd words end with a status, or with a sentence before anything is made",
	func(ctx SpecContext, custom, says string) {
		apply(ctx, fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: odd}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}}
  workload:
    type: Custom
    custom: %s
  trials: {repetitions: 1}`, custom))
		run := finished(ctx, "odd")
		if says != "" {
			Expect(failure(run)).To(ContainSubstring(says))
			return
		}
		Expect(failure(run)).To(BeEmpty())
		Expect(run.Status.Points).To(HaveLen(1))
	},
	Entry("a number that has forty digits", `{image: mariadb:11.8, command: [echo, "x 1e40"], result: {pattern: "x (?P<x>.*)", metrics: [{name: x, unit: x, better: Higher}]}}`,
		"", SpecTimeout(runTime)),
	Entry("an unknown name in env", `{image: mariadb:11.8, command: [echo, "1"], env: {A: "${nope}"}, result: {pattern: "(?P<x>.*)", metrics: [{name: x, unit: x, better: Higher}]}}`,
		"InvalidSpecification: ", SpecTimeout(runTime)),
)
