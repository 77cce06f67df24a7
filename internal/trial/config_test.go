// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/custom"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

// members are the workloads' parameters as their authors write them, and as the loader reads them.
var members = map[v1alpha1.WorkloadType]struct{ api, loader any }{
	v1alpha1.WorkloadBulkInsert: {v1alpha1.BulkInsertWorkload{}, bulkinsert.Parameters{}},
	v1alpha1.WorkloadCommitSize: {v1alpha1.CommitSizeWorkload{}, commitsize.Parameters{}},
	v1alpha1.WorkloadCustom:     {v1alpha1.CustomWorkload{}, custom.Parameters{}},
	v1alpha1.WorkloadIIBench:    {v1alpha1.IIBenchWorkload{}, iibench.Parameters{}},
	v1alpha1.WorkloadSysbench:   {v1alpha1.SysbenchWorkload{}, sysbench.Parameters{}},
	v1alpha1.WorkloadTPROCHLoad: {v1alpha1.TPROCHLoadWorkload{}, tprochload.Parameters{}},
}

// A field of a workload's API is a field of the loader's parameters and the other way round: nothing is dropped on the way.
func TestParametersAreTheAPIs(t *testing.T) {
	union := reflect.TypeFor[v1alpha1.WorkloadSpec]()
	count := 0
	for field := range union.Fields() {
		if field.Type.Kind() == reflect.Pointer && field.Name != "DataFrom" && field.Name != "SchemaFrom" {
			count++
		}
	}
	if count != len(members) {
		t.Errorf("the API has %d workloads, this test %d", count, len(members))
	}
	for name, m := range members {
		t.Run(string(name), func(t *testing.T) {
			api := fields(reflect.TypeOf(m.api))
			delete(api, "sweep")
			delete(api, "points")
			if name == v1alpha1.WorkloadIIBench { // the plan writes out the stages of SmallDatum
				delete(api, "scale")
			}
			if diff := cmp.Diff(api, fields(reflect.TypeOf(m.loader))); diff != "" {
				t.Errorf("parameters (-API +loader):\n%s", diff)
			}
		})
	}
}

// fields are the names of a type's fields in JSON, with those of structures within it.
func fields(typ reflect.Type) map[string]any {
	names := map[string]any{}
	for field := range typ.Fields() {
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		name := field.Tag.Get("json")
		for i, c := range name {
			if c == ',' {
				name = name[:i]
				break
			}
		}
		switch {
		case field.Anonymous:
			maps.Copy(names, fields(inner))
		case inner.Kind() == reflect.Struct:
			names[name] = fields(inner)
		default:
			names[name] = kindOf(inner)
		}
	}
	return names
}

// kindOf tells numbers, strings, truth values and maps of them apart: how large a number may be is the API's to say.
func kindOf(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "number"
	case reflect.Map:
		return "map of " + kindOf(typ.Elem())
	default:
		return typ.Kind().String()
	}
}

// longProgram has so many arguments of 512 characters each, which take four bytes.
func longProgram(arguments int) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		long := v1alpha1.CustomArgument(strings.Repeat("\U0001f4a9", 512))
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{
			Image: "tool:1", User: 1000, Command: slices.Repeat([]v1alpha1.CustomArgument{long}, arguments),
		}}
	}
}

// What cannot be carried out is found before anything is created, at the point that it is about.
func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   string
	}{
		"as it should be": {func(*v1alpha1.BenchmarkRun) {}, ""},
		"an unknown workload": {
			func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload.Type = "CommitsIze" }, "workload type CommitsIze lacks its member commitsIze",
		},
		"a long configuration": {longProgram(63), ""},
		"a configuration that is too long for a Pod's environment": {
			longProgram(64), "the loader's configuration has 131867 bytes; at most 130048 are allowed: shorten the workload's texts, or put " +
				"them into a file",
		},
		"several Pods": {
			func(r *v1alpha1.BenchmarkRun) { r.Spec.Loader.Pods = 2 }, "workload CommitSize: this load is made from one Pod: loader.pods is 2 but must be 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, err := trial.Validate(testutil.MakeRun("r", "ns").With(tc.change).Obj(), plan.Point{}); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("error is %q, want %q", got, tc.want)
			}
		})
	}
}

// The loader gets the workload as its author wrote it, with the point's values, and nothing else.
func TestConfigOfWorkload(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Sweep(4).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.Data = v1alpha1.DataKeep }).Obj()
	c := must.Get(trial.Config(run, trial.Attempt{Point: pointOf(run, 0)}))(t)
	got, err := json.Marshal(c.Workload)
	const want = `{"type":"CommitSize","parameters":{"asPublished":"None","commit":"Explicit","rows":100,"rowsPerCommit":4}}`
	if err != nil || string(got) != want || !c.KeepData || c.Parameters["rowsPerCommit"] != "4" {
		t.Errorf("workload is %s, %v, of %v, kept %t", got, err, c.Parameters, c.KeepData)
	}
}
