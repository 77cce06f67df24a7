//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Servers that take long to stop: those of the next round start meanwhile, and nothing is measured beside one that stops.
func TestEnvtestRoundsOverlap(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*testing.T) *takingTurns{"slices": newSlices, "trials": newAlternation} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := made(t)
			a.stopping = 4
			beside := false
			a.together = func([]string) {
				var pods corev1.PodList
				a.list(&pods)
				first := func(pod string) bool { return strings.HasPrefix(pod, "s-r1-") }
				second := func(pod string) bool { return strings.HasPrefix(pod, "s-r2-") }
				beside = beside || slices.ContainsFunc(databasePods(&pods, true), first) &&
					slices.ContainsFunc(databasePods(&pods, false), second)
			}
			succeed := a.loader
			a.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				var pods corev1.PodList
				a.list(&pods)
				if stops := databasePods(&pods, true); len(stops) > 0 {
					a.t.Errorf("%s measures while these stop: %v", job.Name, stops)
				}
				succeed(job, pod)
			}
			a.until("s", v1alpha1.ConditionFinished, "s")
			if conditions := a.comparisonNamed("s").Status.Conditions; !apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete) {
				t.Errorf("it ended with %+v", conditions)
			}
			if !beside {
				t.Error("no server started while one stopped")
			}
		})
	}
}

// databasePods are the names of the databases' Pods that are being deleted, or are not.
func databasePods(pods *corev1.PodList, deleted bool) []string {
	var names []string
	for _, pod := range pods.Items {
		if pod.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentDatabase && (pod.DeletionTimestamp != nil) == deleted {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}
