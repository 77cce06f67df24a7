//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// template of a Pod with those labels.
func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "any", Image: "any"}}, NodeName: "any",
		},
	}
}

// stranger makes a Pod with those labels, controlled by an object or by nobody.
func (c *cluster) stranger(name string, labels map[string]string, controller *metav1.OwnerReference) {
	c.t.Helper()
	t := template(labels)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: t.Labels}, Spec: t.Spec}
	if controller != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	c.must(api.Create(c.t.Context(), pod))
}

// Whatever labels somebody gives to his own Pods, and whatever controls these: they do not hold the lane of a run, nor of a run
// that is gone. What a run has made does, until it is gone, too.
func TestEnvtestOnlyWhatARunHasMadeHoldsItsLane(t *testing.T) {
	for name, gone := range map[string]bool{"the run has finished": false, "the run is gone": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.loader = func(_ *batchv1.Job, pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }
			c.queue(nil, "first", "second")
			for c.jobs["first-t1-a1"] == 0 {
				c.turn("first", "second")
			}
			run := c.get("first")
			loader, server := plan.Labels(run, v1alpha1.ComponentLoader), plan.Labels(run, v1alpha1.ComponentDatabase)
			server[v1alpha1.LabelInstance] = "7"
			meta := func(name string, labels map[string]string) metav1.ObjectMeta {
				return metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: labels}
			}
			// These have names that the run does not need next. Without labels, no list of the run's objects has them.
			job := &batchv1.Job{ObjectMeta: meta("first-t9-a1", nil), Spec: batchv1.JobSpec{Template: template(loader)}}
			job.Spec.Suspend = ptr.To(true)
			set := &appsv1.StatefulSet{ObjectMeta: meta("first-db7", nil), Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: server}, Template: template(server),
			}}
			set.Spec.Template.Spec.RestartPolicy, set.Spec.Template.Spec.NodeName = corev1.RestartPolicyAlways, ""
			c.must(api.Create(t.Context(), job))
			c.must(api.Create(t.Context(), set))
			forged := func(apiVersion, kind, name string) *metav1.OwnerReference {
				return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "forged", Controller: ptr.To(true)}
			}
			c.stranger("alone", loader, nil)
			c.stranger("of-a-job", loader, metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job")))
			c.stranger("of-a-set", server, metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet")))
			c.stranger("of-another-kind", loader, forged("example.com/v1", "Job", "first-t3-a1"))
			if gone {
				c.must(api.Delete(t.Context(), run))
				c.tryAll("first", "second")
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
				for _, name := range []string{"first-t1-a1", "first-db1"} {
					c.must(api.Delete(t.Context(), c.owned(name), client.PropagationPolicy(metav1.DeletePropagationBackground)))
				}
				c.tryAll("first", "second") // the Pods are still there, and what controlled them is not
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
			} else {
				c.change("first", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) })
				c.tryAll("first", "first", "first", "second")
				c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
			}
			var pods corev1.PodList
			c.list(&pods)
			for i := range pods.Items {
				if ref := metav1.GetControllerOf(&pods.Items[i]); ref != nil && (ref.Name == "first-t1-a1" || ref.Name == "first-db1") {
					c.must(api.Delete(t.Context(), &pods.Items[i], client.GracePeriodSeconds(0)))
				}
			}
			for range 3 {
				c.tryAll("first", "second")
			}
			if got := c.condition("second", v1alpha1.ConditionAdmitted); got.Status != metav1.ConditionTrue {
				t.Errorf("the next run is not admitted: %s", got.Message)
			}
		})
	}
}
