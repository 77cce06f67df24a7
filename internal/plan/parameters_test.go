// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// parametersAt a point, of a workload that was encoded for it.
func parametersAt(w *v1alpha1.WorkloadSpec, p plan.Point) (json.RawMessage, error) {
	parameters, err := plan.ParametersOf(w)
	if err != nil {
		return nil, err
	}
	return parameters.At(p)
}

// What is encoded once serves all points, in any order, and is the same as what is encoded for one.
func TestParametersOfAllPoints(t *testing.T) {
	for _, workload := range []string{
		`{"type": "CommitSize", "commitSize": {"rows": 5, "sweep": {"rowsPerCommit": [1, 16]}}}`,
		`{"type": "Sysbench", "sysbench": {"options": {"a": "1", "b": "<&>"}, "sweep": {"options": {"b": ["\"3\"", "4"], "c": ["5"]}}}}`,
		`{"type": "Sysbench", "sysbench": {"script": "tpcc", "points": [{"options": {"a": "1"}}, {"options": {"a": "2"}, "scale": 7}],
		  "scale": 1}}`,
	} {
		spec := specOf(t, workload, "")
		p, err := plan.ForRun(spec)
		if err != nil {
			t.Fatal(err)
		}
		all, err := plan.ParametersOf(&spec.Workload)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for i := range p.Points {
				want, err := parametersAt(&spec.Workload, p.Points[i])
				if err != nil {
					t.Fatal(err)
				}
				var decoded map[string]any
				if got, err := all.At(p.Points[i]); err != nil || string(got) != string(want) || json.Unmarshal(got, &decoded) != nil {
					t.Errorf("%s at %v: %s, want %s, %v", workload, p.Points[i].Parameters, got, want, err)
				}
				if again, err := json.Marshal(decoded); err != nil || len(again) != len(want) {
					t.Errorf("%s is not written as JSON is: %s", want, again)
				}
			}
		}
		if p.Bytes < len(p.Points)*len(`{"rows":5}`) {
			t.Errorf("%d bytes", p.Bytes)
		}
	}
}
