//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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
			works = c.hosts.work
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
