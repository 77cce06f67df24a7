//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// TestEnvtestInvalidSpecification: what the API's schema cannot refuse ends the run at first sight. Nothing is created.
func TestEnvtestInvalidSpecification(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		says   string
	}{
		"too many trials": {
			func(r *v1alpha1.BenchmarkRun) {
				values := make([]v1alpha1.CommitSizeRowsPerCommit, 100)
				for i := range values {
					values[i] = v1alpha1.CommitSizeRowsPerCommit(i + 1)
				}
				r.Spec.Workload.CommitSize.Sweep.RowsPerCommit = values
				r.Spec.Trials.Repetitions = ptr.To[int32](51)
			},
			"a run has at most 5000 trials",
		},
		"a script without such a parameter": {
			func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
					Script: "tpcc", Threads: 1, Seconds: ptr.To[int32](1), Percentile: 95, RandType: "uniform",
					Sweep: &v1alpha1.SysbenchSweep{TableSize: []v1alpha1.SysbenchTableSize{5}},
				}}
			},
			"workload Sysbench: script tpcc has no such parameter",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(testutil.MakeRun("run", "").Sweep(1, 2).With(tc.change).Obj())
			c.settle("run")
			run := c.get("run")
			failed := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
			if failed == nil || failed.Reason != v1alpha1.ReasonInvalidSpecification || !strings.Contains(failed.Message, tc.says) {
				t.Fatalf("condition is %+v, want %s", failed, tc.says)
			}
			for _, list := range []client.ObjectList{
				&corev1.PodList{}, &batchv1.JobList{}, &appsv1.StatefulSetList{}, &corev1.SecretList{}, &corev1.ServiceList{},
				&policyv1.PodDisruptionBudgetList{},
			} {
				c.must(api.List(t.Context(), list, client.InNamespace(c.namespace)))
				if n := apimeta.LenList(list); n != 0 {
					t.Errorf("%d objects in %T", n, list)
				}
			}
		})
	}
}
