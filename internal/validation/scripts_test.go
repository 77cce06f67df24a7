// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
	scripts "github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// sweepOf is a run over scripts of Sysbench.
func sweepOf(names []string, change func(*v1alpha1.BenchmarkRunSpec)) *v1alpha1.BenchmarkRun {
	var swept []v1alpha1.SysbenchScript
	for _, name := range names {
		swept = append(swept, v1alpha1.SysbenchScript(name))
	}
	return testutil.MakeRun("run", "ns").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			Clients: 1, Seconds: ptr.To[int32](1), Percentile: 95, RandType: "uniform", Sweep: &v1alpha1.SysbenchSweep{Script: swept},
		}}
		if change != nil {
			change(&r.Spec)
		}
	}).Obj()
}

// What the API server takes is what the loader knows, and a run can measure all of it.
func TestScriptsOfSysbench(t *testing.T) {
	text := must.Get(os.ReadFile("../../config/crd/bases/benchrun.dev_benchmarkruns.yaml"))(t)
	var crd apiextensionsv1.CustomResourceDefinition
	must.Do(t, yaml.Unmarshal(text, &crd))
	sysbench := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["workload"].Properties["sysbench"]
	var names []string
	for _, value := range sysbench.Properties["script"].Enum {
		names = append(names, strings.Trim(string(value.Raw), `"`))
	}
	slices.Sort(names)
	if diff := cmp.Diff(scripts.Scripts(), names); diff != "" {
		t.Errorf("scripts of the CRD (-loader +CRD):\n%s", diff)
	}
	plan, err := validation.PlanRun(sweepOf(names, nil))
	if err != nil || len(plan.Points) != len(names) || len(plan.Trials) != 2*len(names) {
		t.Errorf("%d points, %v", len(plan.Points), err)
	}
}

// What the schema cannot refuse of scripts that are swept ends the run before anything is created, and names the point.
func TestScriptsRefused(t *testing.T) {
	for want, run := range map[string]*v1alpha1.BenchmarkRun{
		"workload Sysbench: trials.data: Keep is for all scripts but tpcc, bulk_insert and your own: the others share tables " +
			"(script=bulk_insert)": sweepOf([]string{"scan", "bulk_insert"}, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Trials.Data = v1alpha1.DataKeep
		}),
		"workload Sysbench: churn is for all scripts but tpcc, bulk_insert and your own: it writes to the tables that the others share " +
			"(script=tpcc)": sweepOf([]string{"scan", "tpcc"}, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Workload.Sysbench.Churn = ptr.To[v1alpha1.SysbenchChurn](1)
		}),
		"workload Sysbench: options: range_size cannot be set with script read-only-10, whose options belong to its name, but for those " +
			"that begin with mysql, db or rand: leave it out, or use one of sysbench's own scripts (script=read-only-10)": sweepOf([]string{"oltp_read_only", "read-only-10"}, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Workload.Sysbench.Options = map[string]v1alpha1.SysbenchOption{"range_size": "10"}
		}),
	} {
		if _, err := validation.PlanRun(run); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Points may leave the script to the workload, or all have one.
func TestScriptsOfPoints(t *testing.T) {
	with := func(script v1alpha1.SysbenchScript, points ...v1alpha1.SysbenchPoint) *v1alpha1.BenchmarkRun {
		return sweepOf(nil, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Workload.Sysbench.Script, s.Workload.Sysbench.Sweep, s.Workload.Sysbench.Points = script, nil, points
		})
	}
	scan := v1alpha1.SysbenchPoint{Script: ptr.To[v1alpha1.SysbenchScript]("scan")}
	threads := v1alpha1.SysbenchPoint{Clients: ptr.To[v1alpha1.SysbenchClients](2)}
	plan, err := validation.PlanRun(with("insert", scan, threads))
	if err != nil || plan.Points[0].Parameters["script"] != "scan" || plan.Points[1].Parameters["script"] != "insert" {
		t.Errorf("%+v, %v", plan, err)
	}
	want := "workload.sysbench.points[1] leaves out script, which the workload does not set: set it in one of them"
	if _, err := validation.PlanRun(with("", scan, threads)); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
