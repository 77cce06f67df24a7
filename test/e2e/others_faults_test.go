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
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// sleeper is a Pod of another owner with these labels.
func sleeper(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](0),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1000),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "sleeper", Image: "mariadb:11.8", Command: []string{"sleep", "600"},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// forgedJob is a Job for trial 2 of a run, made by hand out of that for trial 1: it has the run as its owner, starts when trial 1
// has long been measured, and asks for another number of rows per commit.
func forgedJob(ctx SpecContext, run string) *batchv1.Job {
	GinkgoHelper()
	var job batchv1.Job
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: run + "-t1-a1"}, &job)).To(Succeed())
	template := job.Spec.Template
	forged := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: run + "-t2-a1", Namespace: namespace, Labels: job.Labels, OwnerReferences: job.OwnerReferences},
		Spec: batchv1.JobSpec{
			Parallelism: job.Spec.Parallelism, Completions: job.Spec.Completions, CompletionMode: job.Spec.CompletionMode,
			BackoffLimit: job.Spec.BackoffLimit, ActiveDeadlineSeconds: job.Spec.ActiveDeadlineSeconds,
		},
	}
	for _, labels := range []map[string]string{forged.Labels, template.Labels} {
		labels[v1alpha1.LabelTrial] = "2"
		for _, own := range []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name"} {
			delete(labels, own)
		}
	}
	changed := 0
	loader := &template.Spec.Containers[0]
	for i := range loader.Env {
		if e := &loader.Env[i]; strings.Contains(e.Value, `"rowsPerCommit":1`) {
			e.Value = strings.NewReplacer(`"rowsPerCommit":1`, `"rowsPerCommit":100`, `"trial":1`, `"trial":2`, run+"-t1-a1", run+"-t2-a1").
				Replace(e.Value)
			changed++
		}
	}
	Expect(changed).To(Equal(1), "the loader's configuration")
	wait := sleeper("wait", nil).Spec.Containers[0]
	wait.Command = []string{"sleep", "25"}
	template.Spec.InitContainers = append(template.Spec.InitContainers, wait)
	forged.Spec.Template = template
	return forged
}

var _ = Describe("somebody else", func() {
	It("who has a Pod with the UID of a deleted run does not keep its lane", func(ctx SpecContext) {
		applyInLane(ctx, long("holder", ""))
		measuring(ctx, "holder")
		Expect(cluster.Create(ctx, sleeper("not-its-own", map[string]string{
			v1alpha1.LabelRun: "holder", v1alpha1.LabelRunUID: string(getRun(ctx, "holder").UID), v1alpha1.LabelComponent: v1alpha1.ComponentLoader,
		}))).To(Succeed())
		kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=1m", "pod/not-its-own")
		applyInLane(ctx, quick("behind", ""))
		kubectl(ctx, "delete", "benchmarkrun/holder", "--wait=false")
		kubectl(ctx, "wait", "--for=condition=Admitted", "--timeout=90s", "benchmarkrun/behind")
		complete(ctx, "behind")
		kubectl(ctx, "get", "pod", "not-its-own")
	}, SpecTimeout(runTime))

	It("who allows one Job at a time lets a run go on to its end", func(ctx SpecContext) {
		kubectl(ctx, "create", "quota", "one", "--hard=count/jobs.batch=1")
		kubectl(ctx, "wait", "--for=jsonpath={.status.hard}", "--timeout=30s", "resourcequota/one")
		apply(ctx, strings.Replace(quick("narrow", ""), "repetitions: 2", "repetitions: 24", 1))
		Expect(complete(ctx, "narrow").Status.Progress).To(Equal("24/24"))
	}, SpecTimeout(runTime))

	It("who makes a Job for a trial by hand does not get its number into the results", func(ctx SpecContext) {
		apply(ctx, strings.Replace(long("forged", ""), "rows: 100000000", "rows: 100000000, rowsPerCommit: 1", 1))
		measuring(ctx, "forged")
		Expect(cluster.Create(ctx, forgedJob(ctx, "forged"))).To(Succeed())
		run := finished(ctx, "forged")
		records := outcomes(ctx, "forged")
		if records["t2-a1"] == "Accepted" {
			Expect(string(document(ctx, "forged-t2-a1").Config.Workload.Parameters)).To(ContainSubstring(`"rowsPerCommit":1,`))
		} else {
			Expect(failure(run)).To(HavePrefix("NameTaken: "))
		}
		Expect(records).To(HaveKeyWithValue("t1-a1", "Accepted"))
	}, SpecTimeout(runTime))

	It("who takes the name of an attempt that is not planned changes nothing", func(ctx SpecContext) {
		apply(ctx, long("labelled", ""))
		measuring(ctx, "labelled")
		Expect(cluster.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: "labelled-t999-a1", Namespace: namespace, Labels: map[string]string{
				v1alpha1.LabelRun: "labelled", v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
			},
		}})).To(Succeed())
		Expect(complete(ctx, "labelled").Status.Progress).To(Equal("2/2"))
	}, SpecTimeout(runTime))

	It("who upgrades the manager to another loader image in mid-run changes nothing", Serial, func(ctx SpecContext) {
		manager, loader := restoreOperator(ctx)
		upgraded := derive(ctx, loader, "upgraded", GinkgoT().TempDir(), "LABEL benchrun.dev/e2e=upgraded")
		apply(ctx, long("upgraded", ""))
		measuring(ctx, "upgraded")
		upgrade(ctx, manager, upgraded)
		complete(ctx, "upgraded")
		Expect(outcomes(ctx, "upgraded")).To(Equal(undisturbed))
	}, SpecTimeout(runTime))

	It("who has 200 large Jobs with a label of ours does not stop the manager", Serial, func(ctx SpecContext) {
		large := strings.Repeat("x", 900_000)
		for i := range 200 {
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("large-%d", i), Namespace: namespace, Labels: map[string]string{v1alpha1.LabelComponent: "x"},
				},
				Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: sleeper("large", nil).Spec}},
			}
			job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			job.Spec.Template.Spec.Containers[0].Args = []string{large}
			Expect(cluster.Create(ctx, job)).To(Succeed())
		}
		// A manager that starts reads all of them.
		out, err := commandWith(ctx, "", "rollout", "restart", "-n", managerKey.Namespace, "deployment/"+managerKey.Name)
		Expect(err).NotTo(HaveOccurred(), out)
		managerRuns(ctx)
		apply(ctx, long("small", ""))
		complete(ctx, "small")
		var pods corev1.PodList
		Expect(cluster.List(ctx, &pods, client.InNamespace(managerKey.Namespace),
			client.MatchingLabels{"app.kubernetes.io/component": "manager"})).To(Succeed())
		for _, pod := range pods.Items {
			for _, s := range pod.Status.ContainerStatuses {
				Expect(s.RestartCount).To(BeZero(), "restarts of the manager: %+v", s.LastTerminationState)
			}
		}
	}, SpecTimeout(runTime+time.Minute))
})
