// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

func TestConfigOfTPROCHLoad(t *testing.T) {
	defaults := v1alpha1.TPROCHLoadWorkload{
		ScaleFactor: "0.01", Data: "Streamed", LoadMode: "OneStatement", RowsPerChunk: 100000, Indexes: "Before",
		ForeignKeyChecks: ptr.To(true), UniqueChecks: ptr.To(true), Analyze: ptr.To(false),
	}
	others := v1alpha1.TPROCHLoadWorkload{
		ScaleFactor: "1.5", Data: "Staged", LoadMode: "Chunked", RowsPerChunk: 5, Indexes: "After", Streams: ptr.To[int32](3),
		ForeignKeyChecks: ptr.To(false), UniqueChecks: ptr.To(false), Analyze: ptr.To(true),
	}
	for name, tc := range map[string]struct {
		spec  v1alpha1.TPROCHLoadWorkload
		point map[string]string
		want  result.TPROCHLoad
	}{
		"defaults": {defaults, nil, result.TPROCHLoad{
			ScaleFactor: "0.01", Data: "Streamed", LoadMode: "OneStatement", ForeignKeyChecks: true, UniqueChecks: true, Indexes: "Before",
		}},
		"something else everywhere": {others, nil, result.TPROCHLoad{
			ScaleFactor: "1.5", Data: "Staged", LoadMode: "Chunked", RowsPerChunk: 5, Indexes: "After", Analyze: true,
		}},
		"swept": {others, map[string]string{
			"scaleFactor": "2", "uniqueChecks": "true", "foreignKeyChecks": "true", "streams": "7", "loadMode": "Parallel",
		}, result.TPROCHLoad{
			ScaleFactor: "2", Data: "Staged", LoadMode: "Parallel", Streams: 7, Indexes: "After", Analyze: true,
			ForeignKeyChecks: true, UniqueChecks: true,
		}},
		"four streams, unless it is said": {defaults, map[string]string{"loadMode": "Parallel"}, result.TPROCHLoad{
			ScaleFactor: "0.01", Data: "Streamed", LoadMode: "Parallel", Streams: 4, Indexes: "Before",
			ForeignKeyChecks: true, UniqueChecks: true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadTPROCHLoad, TPROCHLoad: &tc.spec}
			}).Obj()
			got, err := trial.Config(run, trial.Attempt{Trial: plan.Trial{Number: 1}, Point: plan.Point{Parameters: tc.point}, Number: 1})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(result.Workload{Type: "TPROCHLoad", TPROCHLoad: &tc.want}, got.Workload); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
		})
	}
}
