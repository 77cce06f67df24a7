//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"maps"
	"slices"
	"strconv"
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
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// react is one turn of everything else in the cluster.
func (c *cluster) react() {
	c.t.Helper()
	var sets appsv1.StatefulSetList
	c.list(&sets)
	alive := map[string]bool{}
	for _, set := range sets.Items {
		alive[string(set.UID)] = true
		c.startPod(&set, "StatefulSet", set.Name+"-0", set.Spec.Template, func(p *corev1.Pod) { c.server(p) })
	}
	var jobs batchv1.JobList
	c.list(&jobs)
	for i := range jobs.Items {
		job := &jobs.Items[i]
		alive[string(job.UID)] = true
		if len(job.Status.Conditions) > 0 {
			continue
		}
		template := job.Spec.Template.DeepCopy()
		template.Labels[batchv1.JobNameLabel], template.Labels[batchv1.ControllerUidLabel] = job.Name, string(job.UID)
		if !c.counted[job.UID] {
			c.counted[job.UID] = true
			c.jobs[job.Name]++
		}
		works := c.loader
		if job.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentHostTuning {
			works = c.host.work
		}
		c.startPod(job, "Job", job.Name+"-pod-"+strconv.Itoa(c.jobs[job.Name]), *template, func(p *corev1.Pod) { works(job, p) })
		if len(job.Status.Conditions) > 0 {
			if job.Status.StartTime == nil {
				job.Status.StartTime = &metav1.Time{Time: c.clock.Now()}
			}
			c.must(api.Status().Update(c.t.Context(), job))
		}
	}
	c.collectGarbage(alive)
}

// startPod makes an owner's Pod, once, and lets happen to it what is to happen.
func (c *cluster) startPod(
	owner client.Object, kind, name string, template corev1.PodTemplateSpec, happen func(*corev1.Pod),
) {
	c.t.Helper()
	var existing corev1.Pod
	if err := api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, &existing); err == nil {
		return
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: c.namespace, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: map[string]string{"Job": "batch/v1", "StatefulSet": "apps/v1"}[kind],
				Kind:       kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true),
			}},
		},
		Spec: template.Spec,
	}
	if pod.Spec.NodeName == "" {
		pod.Spec.NodeName = "node-of-" + strings.ToLower(kind)
	}
	if kind == "StatefulSet" {
		pod.Spec.NodeName = c.databaseNode
	}
	if c.policy != nil {
		c.policy(pod)
	}
	c.must(api.Create(c.t.Context(), pod))
	happen(pod)
	c.must(api.Status().Update(c.t.Context(), pod))
}

// collectGarbage deletes Pods whose owner is gone.
func (c *cluster) collectGarbage(alive map[string]bool) {
	c.t.Helper()
	var pods corev1.PodList
	c.list(&pods)
	for i := range pods.Items {
		pod := &pods.Items[i]
		if len(pod.OwnerReferences) > 0 && !alive[string(pod.OwnerReferences[0].UID)] {
			var grace []client.DeleteOption
			if c.stopped[pod.Name]++; c.stopped[pod.Name] > c.stopping {
				grace = append(grace, client.GracePeriodSeconds(0))
			}
			c.must(client.IgnoreNotFound(api.Delete(c.t.Context(), pod, grace...)))
		}
	}
	c.releaseClaims() // no Pod that is left belongs to an instance that is being removed
}

// releaseClaims lets claims go that are being deleted and that no Pod uses.
func (c *cluster) releaseClaims() {
	c.t.Helper()
	var claims corev1.PersistentVolumeClaimList
	c.list(&claims)
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.DeletionTimestamp != nil && len(claim.Finalizers) > 0 {
			claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == "kubernetes.io/pvc-protection" })
			c.must(api.Update(c.t.Context(), claim))
		}
	}
}

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
	must.Same(t, "attempts", []string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted", "run-t2-a1 Accepted"}, c.attemptNames())
	var cm corev1.ConfigMap
	c.must(c.exists(&cm, "run-t1-a1"))
	record, err := result.DecodeRecord(cm.Data[result.RecordKey])
	c.must(err)
	if record.Cause != result.CauseEvicted || !strings.HasPrefix(record.Message, "Kueue suspended the loader's Job") {
		t.Errorf("record is %s: %s", record.Cause, record.Message)
	}
}
