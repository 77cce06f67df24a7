// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// ownData is an attempt whose run brings data and a schema along.
func ownData(workload v1alpha1.WorkloadSpec) goldenJob {
	return goldenJob{
		testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload = workload }).Obj(),
		trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1},
	}
}

func ownBulkInsert() v1alpha1.WorkloadSpec {
	return v1alpha1.WorkloadSpec{
		Type: v1alpha1.WorkloadBulkInsert,
		BulkInsert: &v1alpha1.BulkInsertWorkload{
			Table: v1alpha1.BulkInsertFileList, Tables: 1, Rows: 100, RowsPerStatement: 10, StatementsPerTransaction: 1, Clients: 2,
			StorageEngine: "InnoDB",
		},
		DataFrom: &v1alpha1.DataSource{
			PersistentVolumeClaim: "measurements", Path: "2024/own.csv", Format: v1alpha1.DataCSV, Separator: ";",
			EmptyIs: v1alpha1.EmptyFieldIsNull, HeaderLines: ptr.To[int32](1), Table: "own", Columns: []string{"a", "b"},
		},
		SchemaFrom: &v1alpha1.ConfigMapFile{Name: "own-schema", Key: "own.sql"},
	}
}

func TestOwnDataJobGolden(t *testing.T) {
	testutil.Golden(t, "own-data.yaml", testutil.YAML(t, job(t, ownData(ownBulkInsert()))))
}

func TestConfigOfOwnData(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   v1alpha1.WorkloadSpec
		data   *result.Data
		schema string
	}{
		"everything": {
			ownBulkInsert(),
			&result.Data{
				Claim: "measurements", Root: "/data", Path: "2024/own.csv", Format: "CSV", Separator: ";", EmptyIs: "NULL", HeaderLines: 1,
				Table: "own", Columns: []string{"a", "b"},
			},
			"/etc/benchrun/schema/own.sql",
		},
		"unset": {
			v1alpha1.WorkloadSpec{
				Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{},
				DataFrom: &v1alpha1.DataSource{PersistentVolumeClaim: "a", Path: "b"},
			},
			&result.Data{Claim: "a", Root: "/data", Path: "b"}, "",
		},
		"a folder": {
			v1alpha1.WorkloadSpec{
				Type: v1alpha1.WorkloadTPROCHLoad, TPROCHLoad: &v1alpha1.TPROCHLoadWorkload{},
				DataFrom: &v1alpha1.DataSource{PersistentVolumeClaim: "a", Path: "."},
			},
			&result.Data{Claim: "a", Root: "/data", Path: "."}, "",
		},
	} {
		g := ownData(tc.spec)
		got := must.Get(trial.Config(g.run, g.attempt))(t)
		if diff := cmp.Diff(tc.data, got.Workload.Data); diff != "" || got.Workload.SchemaFile != tc.schema {
			t.Errorf("%s: schema %q, data (-want +got):\n%s", name, got.Workload.SchemaFile, diff)
		}
	}
}

// toolJobs are attempts in which another program makes the load.
func toolJobs() map[string]goldenJob {
	sysbench := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			Script: "tpcc", Clients: 8, Scale: ptr.To[v1alpha1.SysbenchScale](10), Seconds: ptr.To[int32](60), WarmupSeconds: ptr.To[int32](10),
			Percentile: 95, RandType: "uniform", Options: map[string]v1alpha1.SysbenchOption{"trx_level": "RC"},
			Sweep: &v1alpha1.SysbenchSweep{Clients: []v1alpha1.SysbenchClients{64}},
		}}
	}
	own := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			ScriptFrom: &v1alpha1.SysbenchScriptSource{
				ConfigMapFile: v1alpha1.ConfigMapFile{Name: "scripts", Key: "own.lua"},
				Commands:      []v1alpha1.SysbenchCommand{v1alpha1.SysbenchPrepare, v1alpha1.SysbenchCheck},
			},
			Clients: 1, Events: ptr.To[int64](100), Percentile: 99, RandType: "pareto",
			Sweep: &v1alpha1.SysbenchSweep{Tables: []v1alpha1.SysbenchTables{3}},
		}}
	}
	custom := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{
			Image: "tool:1", User: 1000, FilesFrom: "tool-files",
			Command:    []v1alpha1.CustomArgument{"tool", "--vu=${vu}", "${vu}-$(HOME)-$$", "${text}"},
			Prepare:    []v1alpha1.CustomArgument{"tool", "build"},
			Parameters: map[string]v1alpha1.SweptValue{"vu": "1", "text": "${vu}"},
			Env:        map[string]v1alpha1.CustomArgument{"VU": "${vu}"},
			Result: &v1alpha1.CustomResult{
				Pattern: "(?P<nopm>[0-9]+) NOPM", Metrics: []v1alpha1.CustomMetric{{Name: "nopm", Unit: "NOPM", Better: "Higher"}},
			},
			Sweep: &v1alpha1.CustomSweep{Parameters: map[string]v1alpha1.SweptValues{"vu": {"16"}}},
		}}
	}
	at := func(change func(*v1alpha1.BenchmarkRun)) goldenJob {
		run := testutil.MakeRun("run", "ns").With(change).Obj()
		return goldenJob{run, trial.Attempt{
			Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1, Point: pointOf(run, 0),
		}}
	}
	return map[string]goldenJob{"sysbench": at(sysbench), "sysbench-own": at(own), "custom": at(custom)}
}

func TestToolJobGolden(t *testing.T) {
	for name, g := range toolJobs() {
		t.Run(name, func(t *testing.T) {
			testutil.Golden(t, name+".yaml", testutil.YAML(t, job(t, g)))
		})
	}
}

// Every image comes from the registry of the installation, the user's own too, with its credentials and the run's.
func TestJobsPullAsInstalled(t *testing.T) {
	installed := podutil.Images{Loader: "loader:1", Sysbench: "sysbench:1", Registry: "mirror.example.com", PullSecrets: []string{"shared"}}
	all := goldenJobs()
	maps.Copy(all, toolJobs())
	for name, g := range all {
		t.Run(name, func(t *testing.T) {
			run := g.run.DeepCopy()
			run.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "own"}}
			made := must.Get(trial.Job(run, g.attempt, installed))(t)
			pod := made.Spec.Template.Spec
			for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
				if !strings.HasPrefix(c.Image, "mirror.example.com/") {
					t.Errorf("container %s has image %s", c.Name, c.Image)
				}
			}
			want := []corev1.LocalObjectReference{{Name: "own"}, {Name: "shared"}}
			must.Same(t, "pull secrets", want, pod.ImagePullSecrets)
		})
	}
}

// The kubelet finds nothing to expand in the arguments of a program.
func TestCustomArguments(t *testing.T) {
	g := toolJobs()["custom"]
	for _, e := range job(t, g).Spec.Template.Spec.Containers[0].Env {
		must.Lack(t, e.Value, "$")
	}
	g.run.Spec.Workload.Custom.Cleanup = []v1alpha1.CustomArgument{"${nobody}"}
	const want = `workload Custom: cleanup[0]: "${nobody}" has a ${…} that parameters does not name`
	must.Same(t, "error", want, must.Text(must.Err(trial.Validate(g.run, g.attempt.Point))))
}

// No container mounts two volumes at one path, by whatever way the server is reached: an API server refuses such a Job.
func TestMountPaths(t *testing.T) {
	all := goldenJobs()
	maps.Copy(all, toolJobs())
	for name, g := range all {
		for _, transport := range []v1alpha1.Transport{v1alpha1.TransportTCP, v1alpha1.TransportUnixSocket} {
			g.run = g.run.DeepCopy()
			g.run.Spec.Loader.Transport = transport
			pod := job(t, g).Spec.Template.Spec
			for _, c := range append(pod.InitContainers, pod.Containers...) {
				paths := map[string]string{}
				for _, m := range c.VolumeMounts {
					if other, taken := paths[m.MountPath]; taken {
						t.Errorf("%s by %s: container %s mounts %s and %s at %s", name, transport, c.Name, other, m.Name, m.MountPath)
					}
					paths[m.MountPath] = m.Name
				}
			}
		}
	}
}
