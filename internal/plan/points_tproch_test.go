// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func tprochSpec(axes ...v1alpha1.SweepAxis) *v1alpha1.BenchmarkRunSpec {
	run := testutil.MakeRun("r", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{
			Type:       v1alpha1.WorkloadTPROCHLoad,
			TPROCHLoad: &v1alpha1.TPROCHLoadWorkload{ScaleFactor: "0.01", LoadMode: v1alpha1.TPROCHParallel},
		}
		r.Spec.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor, Axes: axes}
	}).Obj()
	return &run.Spec
}

// Around what the workload says, with its defaults, where one parameter at a time is varied.
func TestTPROCHPoints(t *testing.T) {
	p, err := plan.ForRun(tprochSpec(
		v1alpha1.SweepAxis{Parameter: "uniqueChecks", Values: []v1alpha1.ParameterValue{"false"}},
		v1alpha1.SweepAxis{Parameter: "foreignKeyChecks", Values: []v1alpha1.ParameterValue{"false"}},
		v1alpha1.SweepAxis{Parameter: "streams", Values: []v1alpha1.ParameterValue{"2"}},
		v1alpha1.SweepAxis{Parameter: "scaleFactor", Values: []v1alpha1.ParameterValue{"1"}},
		v1alpha1.SweepAxis{Parameter: "loadMode", Values: []v1alpha1.ParameterValue{"Chunked"}},
	))
	if err != nil {
		t.Fatal(err)
	}
	var want []plan.Point
	for _, varied := range [][2]string{
		{"uniqueChecks", "false"}, {"foreignKeyChecks", "false"}, {"streams", "2"}, {"scaleFactor", "1"}, {"loadMode", "Chunked"},
	} {
		point := plan.Point{Parameters: map[string]string{
			"uniqueChecks": "true", "foreignKeyChecks": "true", "streams": "4", "scaleFactor": "0.01", "loadMode": "Parallel",
		}}
		point.Parameters[varied[0]] = varied[1]
		want = append(want, point)
	}
	if diff := cmp.Diff(want, p.Points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestTPROCHRefusals(t *testing.T) {
	noMember := tprochSpec(v1alpha1.SweepAxis{Parameter: "streams", Values: []v1alpha1.ParameterValue{"1"}})
	noMember.Workload.TPROCHLoad = nil
	if _, err := plan.ForRun(noMember); err == nil || err.Error() != "workload type TPROCHLoad lacks its member" {
		t.Errorf("error is %v", err)
	}
	for parameter, cases := range map[string]map[string]string{
		"streams":          {"0": `streams must be a whole number from 1 on, not "0"`, "x": `streams must be a whole number from 1 on, not "x"`},
		"uniqueChecks":     {"on": `uniqueChecks must be true or false, not "on"`},
		"foreignKeyChecks": {"": `foreignKeyChecks must be true or false, not ""`},
		"rowsPerChunk":     {"1": `parameter "rowsPerChunk" of TPROCHLoad cannot be swept`},
	} {
		for value, want := range cases {
			at := plan.Point{Parameters: map[string]string{parameter: value}}
			if _, err := plan.Workload(&tprochSpec().Workload, at); err == nil || err.Error() != want {
				t.Errorf("%s=%s: error is %v, want %s", parameter, value, err, want)
			}
		}
	}
}
