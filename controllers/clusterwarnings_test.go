//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"regexp"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A loader that finds no room ends the run with the resource that it lacks and with what would fit.
func TestEnvtestLoaderThatFitsNowhere(t *testing.T) {
	c := newCluster(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small", Labels: map[string]string{"of": c.namespace}}}
	c.must(api.Create(t.Context(), node))
	t.Cleanup(func() { c.must(api.Delete(context.WithoutCancel(t.Context()), node)) })
	node.Spec.Taints = nil // the API server's: no kubelet has said that it is ready
	c.must(api.Update(t.Context(), node))
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("900m"), corev1.ResourceMemory: resource.MustParse("4Gi"),
	}
	c.must(api.Status().Update(t.Context(), node))
	c.loader = func(_ *batchv1.Job, p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available: 1 Insufficient cpu.",
		}}
	}
	c.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Loader.NodeSelector = map[string]string{"of": c.namespace}
	}).Obj())
	looks := &countedNodes{Reader: api}
	c.reconciler.Live = &Live{Reader: looks}
	for range 6 {
		c.reconcile("run")
		c.react()
	}
	c.clock.Step(10 * time.Second)
	c.reconcile("run")
	first := looks.n
	for range 6 {
		c.reconcile("run")
	}
	if first == 0 || looks.n > first {
		t.Errorf("nodes were listed %d times at first, and %d times more in the same minute", first, looks.n-first)
	}
	c.clock.Step(10 * time.Minute) // far beyond the deadline: objects carry the API server's time, not this clock's
	failed := apimeta.FindStatusCondition(c.until("run", v1alpha1.ConditionFailed).Status.Conditions, v1alpha1.ConditionFailed)
	want := regexp.MustCompile(`^trial 1: no loader ran .*: 0/1 nodes are available: 1 Insufficient cpu\.: no eligible node has enough cpu ` +
		`\(it requests 1\); the most available is 900m of cpu, on node small: set loader\.resources\.requests to what fits`)
	if failed.Reason != v1alpha1.ReasonLoaderNotStarted || !want.MatchString(failed.Message) {
		t.Errorf("failed with %s: %s", failed.Reason, failed.Message)
	}
	c.settle("run")
}

// countedNodes counts how often nodes are listed.
type countedNodes struct {
	client.Reader
	n int
}

func (c *countedNodes) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, nodes := list.(*corev1.NodeList); nodes {
		c.n++
	}
	return c.Reader.List(ctx, list, opts...)
}

// Pods whose requests are below their limits share their node's CPUs with others, and the results say so.
func TestEnvtestBurstableIsReported(t *testing.T) {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	burstable := corev1.ResourceRequirements{Limits: limits, Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   string
	}{
		"guaranteed": {func(*v1alpha1.BenchmarkRun) {}, ""},
		"loader":     {func(r *v1alpha1.BenchmarkRun) { r.Spec.Loader.Resources = burstable }, "Pods are not Guaranteed (loader Burstable): other Pods on their nodes may take CPU and memory from them"},
		"both": {func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Loader.Resources, r.Spec.Database.Resources = burstable, burstable
		}, "Pods are not Guaranteed (database Burstable, loader Burstable): other Pods on their nodes may take CPU and memory from them"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(testutil.MakeRun("run", "").Repetitions(1).With(tc.change).Obj())
			run := c.until("run", v1alpha1.ConditionComplete)
			warnings := run.Status.Points[0].Warnings
			if tc.want == "" && len(warnings) > 0 || tc.want != "" && !slices.Contains(warnings, tc.want) {
				t.Errorf("warnings are %q, want %q", warnings, tc.want)
			}
		})
	}
}
