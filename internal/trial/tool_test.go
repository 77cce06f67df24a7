// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// toolJobs are attempts in which another program makes the load.
func toolJobs() map[string]goldenJob {
	sysbench := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			Script: "tpcc", Threads: 8, Scale: ptr.To[int32](10), Seconds: ptr.To[int32](60), WarmupSeconds: ptr.To[int32](10),
			Percentile: 95, RandType: "uniform", Options: map[string]v1alpha1.SysbenchOption{"trx_level": "RC"},
		}}
	}
	own := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			ScriptFrom: &v1alpha1.SysbenchScriptSource{
				ConfigMapFile: v1alpha1.ConfigMapFile{Name: "scripts", Key: "own.lua"},
				Commands:      []v1alpha1.SysbenchCommand{v1alpha1.SysbenchPrepare, v1alpha1.SysbenchCheck},
			},
			Threads: 1, Events: ptr.To[int64](100), Percentile: 99, RandType: "zipfian",
		}}
	}
	custom := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{
			Image: "tool:1", User: 1000, FilesFrom: "tool-files",
			Command:    []v1alpha1.CustomArgument{"tool", "--vu=${vu}", "${vu}-$(HOME)-$$", "${text}"},
			Prepare:    []v1alpha1.CustomArgument{"tool", "build"},
			Parameters: map[string]v1alpha1.ParameterValue{"vu": "1", "text": "${vu}"},
			Env:        map[string]v1alpha1.CustomArgument{"VU": "${vu}"},
			Result: &v1alpha1.CustomResult{
				Pattern: "(?P<nopm>[0-9]+) NOPM", Metrics: []v1alpha1.CustomMetric{{Name: "nopm", Unit: "NOPM", Better: "Higher"}},
			},
		}}
	}
	at := func(name, value string) trial.Attempt {
		return trial.Attempt{
			Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1,
			Point: plan.Point{Parameters: map[string]string{name: value}},
		}
	}
	return map[string]goldenJob{
		"sysbench":     {testutil.MakeRun("run", "ns").With(sysbench).Obj(), at("threads", "64")},
		"sysbench-own": {testutil.MakeRun("run", "ns").With(own).Obj(), at("tables", "3")},
		"custom":       {testutil.MakeRun("run", "ns").With(custom).Obj(), at("vu", "16")},
	}
}

func TestToolJobGolden(t *testing.T) {
	for name, g := range toolJobs() {
		t.Run(name, func(t *testing.T) {
			testutil.Golden(t, name+".yaml", testutil.YAML(t, job(t, g)))
		})
	}
}

// No shell looks at a Custom program's arguments, no kubelet, and no parameter's value is looked at again.
func TestCustomArguments(t *testing.T) {
	g := toolJobs()["custom"]
	c, err := trial.Config(g.run, g.attempt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tool", "--vu=16", "16-$(HOME)-$$", "${vu}"}, c.Workload.Custom.Command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	if c.Workload.Custom.Env["VU"] != "16" || c.Workload.Custom.Parameters["vu"] != "16" {
		t.Errorf("custom %+v", c.Workload.Custom)
	}
	for _, e := range job(t, g).Spec.Template.Spec.Containers[0].Env {
		if strings.Contains(e.Value, "$") {
			t.Errorf("the kubelet may expand %s", e.Value)
		}
	}
	g.run.Spec.Workload.Custom.Cleanup = []v1alpha1.CustomArgument{"${nobody}"}
	if _, err := trial.Config(g.run, g.attempt); err == nil || !strings.Contains(err.Error(), "${nobody}, which workload.custom.parameters") {
		t.Errorf("error is %v", err)
	}
}

func TestSysbenchConfig(t *testing.T) {
	g := toolJobs()["sysbench"]
	c, err := trial.Config(g.run, g.attempt)
	if err != nil {
		t.Fatal(err)
	}
	want := &result.Sysbench{
		Script: "tpcc", Commands: []string{"check", "cleanup", "prepare"}, Threads: 64, Scale: ptr.To[int32](10), Seconds: 60,
		WarmupSeconds: 10, Percentile: 95, RandType: "uniform", Options: map[string]string{"trx_level": "RC"},
	}
	if diff := cmp.Diff(want, c.Workload.Sysbench); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	g.run.Spec.Trials.Data = v1alpha1.DataKeep
	if c, err = trial.Config(g.run, g.attempt); err != nil || !c.Workload.Sysbench.KeepData {
		t.Errorf("data is not kept, %v", err)
	}
	own := toolJobs()["sysbench-own"]
	if c, err = trial.Config(own.run, own.attempt); err != nil {
		t.Fatal(err)
	}
	if s := c.Workload.Sysbench; s.ScriptFile != "/etc/benchrun/script/own.lua" || *s.Tables != 3 || s.Events != 100 || s.Seconds != 0 {
		t.Errorf("configuration %+v", s)
	}
}
