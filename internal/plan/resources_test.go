// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestCPULimitMillis(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	for name, tc := range map[string]struct {
		resources corev1.ResourceRequirements
		want      int64
	}{
		"unset":  {corev1.ResourceRequirements{}, 1000},
		"a half": {corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}, 500},
		"none":   {corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}, 0},
		"requests only": {
			corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}, 0,
		},
	} {
		run.Spec.Database.Resources = tc.resources
		if got := plan.CPULimitMillis(&run.Spec.Database); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
