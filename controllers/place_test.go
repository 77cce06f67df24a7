//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Containers that a policy has added to the Pods of a run stand beside its numbers, and so do volumes that stay after it.
func TestEnvtestPlaceOfAnAttempt(t *testing.T) {
	c := newCluster(t)
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "keeps-"}, Provisioner: "example.com/none",
		ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimRetain),
	}
	c.must(api.Create(t.Context(), class))
	t.Cleanup(func() {
		if err := api.Delete(context.Background(), class); err != nil {
			t.Error(err)
		}
	})
	c.policy = func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "agent", Image: "agent"})
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.Storage.Medium, r.Spec.Database.Storage.StorageClassName = v1alpha1.MediumVolume, class.Name
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	summary := c.summary("run")
	for _, want := range []string{
		"- other containers ran in the Pods: database: agent, loader: agent",
		"- the database's volumes were not deleted: the reclaim policy of storage class " + class.Name + " is Retain",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
}
