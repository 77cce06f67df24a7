// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Chain is the records of the first n trials of a run, all accepted at the first attempt, as the operator writes them; and the
// reference to the newest for the run's status.
func Chain(run *v1alpha1.BenchmarkRun, p *plan.Plan, n int) ([]*corev1.ConfigMap, v1alpha1.RecordReference) {
	var (
		list   []*corev1.ConfigMap
		newest v1alpha1.RecordReference
	)
	for i, t := range p.Trials[:n] {
		record := Record(t.Number, 1, p.Points[t.Point].Parameters, 1000+float64(i%7))
		if newest.ConfigMap != "" {
			record.Previous = ptr.To(result.Reference(newest))
		}
		text, err := record.Encode()
		if err != nil {
			panic(err)
		}
		labels := plan.Labels(run, v1alpha1.ComponentAttempt)
		labels[v1alpha1.LabelTrial], labels[v1alpha1.LabelAttempt] = strconv.Itoa(t.Number), "1"
		labels[v1alpha1.LabelOutcome] = string(result.OutcomeAccepted)
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: run.Namespace, Name: plan.AttemptName(run, t.Number, 1), Labels: labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
			},
			Immutable: ptr.To(true), Data: map[string]string{result.RecordKey: text},
		}
		list = append(list, cm)
		newest = v1alpha1.RecordReference{ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(text))}
	}
	return list, newest
}
