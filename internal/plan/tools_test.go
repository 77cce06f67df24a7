// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func sysbenchSpec(w v1alpha1.SysbenchWorkload, sweep v1alpha1.SweepSpec) *v1alpha1.BenchmarkRunSpec {
	spec := testutil.MakeRun("r", "ns").Obj().Spec
	spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &w}
	spec.Sweep = &sweep
	return &spec
}

// What a sweep leaves alone keeps what the workload says, or what sysbench takes if it says nothing.
func TestSysbenchPoints(t *testing.T) {
	axes := func(names ...string) v1alpha1.SweepSpec {
		s := v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor}
		for _, name := range names {
			s.Axes = append(s.Axes, v1alpha1.SweepAxis{Parameter: name, Values: []v1alpha1.ParameterValue{"7"}})
		}
		return s
	}
	options := map[string]v1alpha1.SysbenchOption{"range_size": "100"}
	for name, tc := range map[string]struct {
		workload v1alpha1.SysbenchWorkload
		axes     v1alpha1.SweepSpec
		want     []map[string]string
		err      string
	}{
		"usual values": {
			v1alpha1.SysbenchWorkload{Script: "oltp_read_write", Threads: 2, Options: options},
			axes("threads", "tableSize", "range_size"),
			[]map[string]string{
				{"threads": "7", "tableSize": "10000", "range_size": "100"},
				{"threads": "2", "tableSize": "7", "range_size": "100"},
				{"threads": "2", "tableSize": "10000", "range_size": "7"},
			},
			"",
		},
		"values that are named": {
			v1alpha1.SysbenchWorkload{Script: "tpcc", Threads: 1, Scale: ptr.To[int32](10), Tables: ptr.To[int32](3), Rate: ptr.To[int32](50)},
			axes("scale", "tables", "rate"),
			[]map[string]string{
				{"scale": "7", "tables": "3", "rate": "50"}, {"scale": "10", "tables": "7", "rate": "50"}, {"scale": "10", "tables": "3", "rate": "7"},
			},
			"",
		},
		"tpcc has no rows": {
			v1alpha1.SysbenchWorkload{Script: "tpcc"},
			axes("tableSize"), nil,
			`parameter "tableSize" cannot be swept; allowed: rate, scale, tables, threads`,
		},
		"bulk_insert has no size": {
			v1alpha1.SysbenchWorkload{Script: "bulk_insert"}, axes("tables"), nil, `parameter "tables" cannot be swept; allowed: rate, threads`,
		},
	} {
		p, err := plan.ForRun(sysbenchSpec(tc.workload, tc.axes))
		if err != nil {
			if err.Error() != tc.err {
				t.Errorf("%s: error is %v, want %s", name, err, tc.err)
			}
			continue
		}
		var got []map[string]string
		for _, point := range p.Points {
			got = append(got, point.Parameters)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSysbenchAtPoint(t *testing.T) {
	asked := sysbenchSpec(v1alpha1.SysbenchWorkload{
		Script: "oltp_read_write", Threads: 1, Options: map[string]v1alpha1.SysbenchOption{"range_size": "100"},
	}, v1alpha1.SweepSpec{}).Workload
	at := func(parameters map[string]string) (*v1alpha1.SysbenchWorkload, error) {
		w, err := plan.Workload(&asked, plan.Point{Parameters: parameters})
		if err != nil {
			return nil, err
		}
		return w.Sysbench, nil
	}
	got, err := at(map[string]string{"threads": "4", "rate": "0", "tables": "2", "tableSize": "3000000000", "range_size": "ten"})
	if err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.SysbenchWorkload{
		Script: "oltp_read_write", Threads: 4, Rate: ptr.To[int32](0), Tables: ptr.To[int32](2), TableSize: ptr.To[int64](3_000_000_000),
		Options: map[string]v1alpha1.SysbenchOption{"range_size": "ten"},
	}
	if diff := cmp.Diff(want, got); diff != "" || asked.Sysbench.Options["range_size"] != "100" {
		t.Errorf("asked %v (-want +got):\n%s", asked.Sysbench.Options, diff)
	}
	for _, wrong := range []map[string]string{
		{"threads": "0"}, {"threads": "many"}, {"rate": "-1"}, {"tables": "3000000000"}, {"seconds": "1"},
	} {
		if got, err := at(wrong); err == nil {
			t.Errorf("%v gives %+v", wrong, got)
		}
	}
}

func TestCustomPoints(t *testing.T) {
	spec := testutil.MakeRun("r", "ns").Obj().Spec
	spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{
		Parameters: map[string]v1alpha1.ParameterValue{"vu": "1", "scale": "5"},
	}}
	spec.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepList, Points: []v1alpha1.SweepPoint{
		{Parameters: map[string]v1alpha1.ParameterValue{"vu": "8"}}, {Parameters: map[string]v1alpha1.ParameterValue{"scale": "9"}},
	}}
	p, err := plan.ForRun(&spec)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Point{{Parameters: map[string]string{"vu": "8", "scale": "5"}}, {Parameters: map[string]string{"vu": "1", "scale": "9"}}}
	if diff := cmp.Diff(want, p.Points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	at, err := plan.Workload(&spec.Workload, p.Points[0])
	if err != nil || at.Custom.Parameters["vu"] != "8" || spec.Workload.Custom.Parameters["vu"] != "1" {
		t.Errorf("at the point %+v, asked %+v, %v", at, spec.Workload.Custom, err)
	}
}
