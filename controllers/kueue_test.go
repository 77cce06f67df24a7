//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// withQueue is a run in a queue of Kueue's.
func withQueue() *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("run", "").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Labels = map[string]string{v1alpha1.LabelKueueQueue: "bench"}
	}).Obj()
}

// kueueSays makes the event by which Kueue says why it does not admit a Workload.
func (c *cluster) kueueSays(workload, message string) {
	c.t.Helper()
	c.must(api.Create(c.t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kueue-", Namespace: c.namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "kueue.x-k8s.io/v1beta1", Kind: "Workload", Namespace: c.namespace, Name: workload,
		},
		Type: corev1.EventTypeWarning, Reason: "Pending", Message: message, LastTimestamp: metav1.Now(),
	}))
}

// gate makes the database's Pod as Kueue's webhooks have it made.
func (c *cluster) gate(set, workload string) *corev1.Pod {
	c.t.Helper()
	var s appsv1.StatefulSet
	c.must(c.exists(&s, set))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: set + "-0", Namespace: c.namespace}, Spec: *s.Spec.Template.Spec.DeepCopy(),
	}
	pod.Labels = map[string]string{v1alpha1.LabelKueueQueue: s.Labels[v1alpha1.LabelKueueQueue], kueuePodGroup: workload}
	maps.Copy(pod.Labels, s.Spec.Template.Labels)
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "StatefulSet", Name: s.Name, UID: s.UID, Controller: ptr.To(true),
	}}
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	c.must(api.Create(c.t.Context(), pod))
	return pod
}

// waitsForKueue checks what the run says while it waits.
func (c *cluster) waitsForKueue(says ...string) {
	c.t.Helper()
	c.reconcile("run")
	ready := c.condition("run", v1alpha1.ConditionReady)
	for _, words := range append(says, `LocalQueue "bench"`) {
		if ready.Reason != v1alpha1.ReasonWaitingForKueue || !strings.Contains(ready.Message, words) {
			c.t.Errorf("Ready is %s: %s; want %q", ready.Reason, ready.Message, words)
		}
	}
}

// A run waits until Kueue admits its database and then its loader, says so in Kueue's words, and goes on.
func TestEnvtestRunWaitsForKueue(t *testing.T) {
	c := newCluster(t)
	c.apply(withQueue())
	for range 8 {
		c.reconcile("run")
	}
	c.kueueSays("statefulset-run-db10-12345", "about somebody else")
	gated := c.gate("run-db1", "statefulset-run-db1-12345")
	c.waitsForKueue("the database's Pod")
	c.clock.Step(time.Minute)
	c.kueueSays("statefulset-run-db1-12345", "insufficient unused quota for cpu")
	c.waitsForKueue("the database's Pod", ": insufficient unused quota for cpu")

	c.must(api.Delete(t.Context(), gated, client.GracePeriodSeconds(0)))
	c.react() // the same Pod, admitted
	for range 4 {
		c.reconcile("run")
	}
	var job batchv1.Job
	c.must(c.exists(&job, "run-t1-a1"))
	job.Spec.Suspend = ptr.To(true)
	c.must(api.Update(t.Context(), &job))
	c.kueueSays("job-run-t1-a1-54321", "insufficient unused quota for memory")
	c.waitsForKueue("the loader's Job")
	c.clock.Step(time.Minute)
	c.waitsForKueue("trial 1 of 2", "the loader's Job", ": insufficient unused quota for memory")

	c.must(c.exists(&job, "run-t1-a1"))
	job.Spec.Suspend = ptr.To(false)
	c.must(api.Update(t.Context(), &job))
	c.until("run", v1alpha1.ConditionComplete)
}

// An attempt from which Kueue takes the quota away is invalidated, with this cause, and measured again.
func TestEnvtestKueueTakesQuotaBack(t *testing.T) {
	c := newCluster(t)
	c.apply(withQueue())
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		if job.Name != "run-t1-a1" {
			c.succeed(job, pod)
			return
		}
		job.Spec.Suspend = ptr.To(true)
		c.must(api.Update(t.Context(), job))
		pod.Status.Phase = corev1.PodRunning
	}
	c.until("run", v1alpha1.ConditionComplete)
	want := []string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted", "run-t2-a1 Accepted"}
	if !slices.Equal(c.attemptNames(), want) {
		t.Errorf("attempts are %v, want %v", c.attemptNames(), want)
	}
	var cm corev1.ConfigMap
	c.must(c.exists(&cm, "run-t1-a1"))
	record, err := result.DecodeRecord(cm.Data[result.RecordKey])
	c.must(err)
	if record.Cause != result.CauseEvicted || !strings.HasPrefix(record.Message, "Kueue suspended the loader's Job") {
		t.Errorf("record is %s: %s", record.Cause, record.Message)
	}
}
