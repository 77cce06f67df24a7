// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestPlanComparison(t *testing.T) {
	sweep := func(values ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.CommitSizeSweep {
		return &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkComparison)
		pairs  []PlannedPair
		says   string
	}{
		"one point": {func(*v1alpha1.BenchmarkComparison) {}, []PlannedPair{{Variant: 1}}, ""},
		"another baseline": {
			func(s *v1alpha1.BenchmarkComparison) { s.Spec.Baseline = "lazy" }, []PlannedPair{{Variant: 0}}, "",
		},
		"a part of the points": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Workload.CommitSize.Sweep = sweep(1, 4, 16)
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: sweep(16, 8, 4)}}
		}, []PlannedPair{{Variant: 1, Of: 0, With: 2}, {Variant: 1, Of: 2, With: 1}}, ""},
		"no point in common": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Workload.CommitSize.Sweep = sweep(1)
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: sweep(2)}}
		}, nil, "variant lazy has no point in common with the baseline durable: nothing can be compared"},
		"no plan": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor}
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{
				Points: []v1alpha1.CommitSizePoint{{RowsPerCommit: ptr.To(v1alpha1.CommitSizeRowsPerCommit(2))}},
			}}
		}, nil, "variant lazy: sweep.mode OneFactor goes with workload.commitSize.sweep: points are measured as they are listed"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := PlanComparison(testutil.Pair(tc.change), planRun)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != tc.says {
				t.Errorf("it says %q, want %q", message, tc.says)
			}
			if diff := cmp.Diff(tc.pairs, p.Pairs, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
		})
	}
}
