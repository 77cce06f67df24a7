// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// sweep makes a run's specification with a sweep of one axis, or of points if the mode is List.
func sweep(mode v1alpha1.SweepMode, values ...v1alpha1.ParameterValue) *v1alpha1.BenchmarkRunSpec {
	run := testutil.MakeRun("r", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload.CommitSize.RowsPerCommit = 7
		r.Spec.Sweep = &v1alpha1.SweepSpec{Mode: mode}
		if mode != v1alpha1.SweepList {
			r.Spec.Sweep.Axes = []v1alpha1.SweepAxis{{Parameter: "rowsPerCommit", Values: values}}
			return
		}
		for _, v := range values {
			r.Spec.Sweep.Points = append(r.Spec.Sweep.Points, v1alpha1.SweepPoint{
				Parameters: map[string]v1alpha1.ParameterValue{"rowsPerCommit": v},
			})
		}
	}).Obj()
	return &run.Spec
}

func points(values ...string) []plan.Point {
	var list []plan.Point
	for _, v := range values {
		list = append(list, plan.Point{Parameters: map[string]string{"rowsPerCommit": v}})
	}
	return list
}

func TestPoints(t *testing.T) {
	partly := sweep(v1alpha1.SweepList, "4")
	partly.Sweep.Points = append(partly.Sweep.Points, v1alpha1.SweepPoint{})
	cases := map[string]struct {
		spec *v1alpha1.BenchmarkRunSpec
		want []plan.Point
	}{
		"nothing swept":                        {&testutil.MakeRun("r", "ns").Obj().Spec, []plan.Point{{}}},
		"grid, in the order of the axis":       {sweep(v1alpha1.SweepGrid, "16", "1", "4"), points("16", "1", "4")},
		"no mode is grid":                      {sweep("", "2", "1"), points("2", "1")},
		"one factor":                           {sweep(v1alpha1.SweepOneFactor, "1", "7", "64"), points("1", "7", "64")},
		"one factor, each point once":          {sweep(v1alpha1.SweepOneFactor, "1", "64", "1"), points("1", "64")},
		"list":                                 {sweep(v1alpha1.SweepList, "8", "2"), points("8", "2")},
		"list, each point once":                {sweep(v1alpha1.SweepList, "8", "2", "8", "2"), points("8", "2")},
		"list, left out is what workload says": {partly, points("4", "7")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := plan.ForRun(tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, p.Points); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
			if want := plan.DefaultRepetitions * len(tc.want); len(p.Trials) != want {
				t.Errorf("%d trials, want %d", len(p.Trials), want)
			}
		})
	}
}

func TestRounds(t *testing.T) {
	cases := map[string]struct {
		trials v1alpha1.TrialsSpec
		want   int
	}{
		"neither":     {v1alpha1.TrialsSpec{}, 3},
		"repetitions": {v1alpha1.TrialsSpec{Repetitions: ptr.To[int32](5)}, 5},
		"precision":   {v1alpha1.TrialsSpec{Precision: &v1alpha1.PrecisionSpec{Min: 6, Max: 9}}, 9},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := sweep(v1alpha1.SweepGrid, "1", "2")
			spec.Trials = tc.trials
			p, err := plan.ForRun(spec)
			if err != nil {
				t.Fatal(err)
			}
			if p.Rounds != tc.want || len(p.Trials) != 2*tc.want {
				t.Errorf("%d rounds and %d trials, want %d and %d", p.Rounds, len(p.Trials), tc.want, 2*tc.want)
			}
		})
	}
}

func TestPlanRefusals(t *testing.T) {
	unknown := func(mode v1alpha1.SweepMode) *v1alpha1.BenchmarkRunSpec {
		spec := sweep(mode, "1")
		for i := range spec.Sweep.Axes {
			spec.Sweep.Axes[i].Parameter = "warehouses"
		}
		for i := range spec.Sweep.Points {
			spec.Sweep.Points[i].Parameters = map[string]v1alpha1.ParameterValue{"warehouses": "1"}
		}
		return spec
	}
	const allowed = `parameter "warehouses" cannot be swept; allowed: rowsPerCommit`
	noMember := sweep(v1alpha1.SweepGrid, "1")
	noMember.Workload.CommitSize = nil
	noType := sweep(v1alpha1.SweepGrid, "1")
	noType.Workload.Type = "Nonsense"
	cases := map[string]struct {
		spec *v1alpha1.BenchmarkRunSpec
		want string
	}{
		"unknown parameter, grid":       {unknown(v1alpha1.SweepGrid), allowed},
		"unknown parameter, one factor": {unknown(v1alpha1.SweepOneFactor), allowed},
		"unknown parameter, list":       {unknown(v1alpha1.SweepList), allowed},
		"no member":                     {noMember, "workload type CommitSize lacks its member"},
		"unknown workload":              {noType, `workload type "Nonsense" is not known`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := plan.ForRun(tc.spec); err == nil || err.Error() != tc.want {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

func TestWorkloadAtPoint(t *testing.T) {
	asked := testutil.MakeRun("r", "ns").Obj().Spec.Workload
	at, err := plan.Workload(&asked, points("42")[0])
	if err != nil {
		t.Fatal(err)
	}
	if at.CommitSize.RowsPerCommit != 42 || at.CommitSize.Rows != 100 {
		t.Errorf("workload at the point is %+v", at.CommitSize)
	}
	if asked.CommitSize.RowsPerCommit != 1 {
		t.Error("the specification was written to")
	}
	for _, value := range []string{"", "0", "-1", "1.5", "1e3", "many", "9223372036854775808"} {
		if _, err := plan.Workload(&asked, points(value)[0]); err == nil || !strings.Contains(err.Error(), `not "`+value+`"`) {
			t.Errorf("%q: error is %v", value, err)
		}
	}
	other := plan.Point{Parameters: map[string]string{"rows": "5"}}
	if _, err := plan.Workload(&asked, other); err == nil || err.Error() != `parameter "rows" of CommitSize cannot be swept` {
		t.Errorf("error is %v", err)
	}
}
