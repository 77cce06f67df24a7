//go:build newengine

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

const optionFile = "# Made by Benchrun from spec.database of the run.\n[example]\nexample_cache = 3000000\nskip_log_bin\n"

// TestChain takes the engine through the whole chain: plan, StatefulSet, option file, Job, loader's configuration, settings.
func TestChain(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(1).Obj()
	db := &run.Spec.Database
	db.Engine, db.Image, db.Variables = v1alpha1.EngineExample, "", nil
	db.Settings = v1alpha1.ServerSettings{BufferPoolSize: ptr.To(resource.MustParse("3000000"))}
	run.Spec.Loader.Transport = v1alpha1.TransportUnixSocket
	plan := must.Get(validation.PlanRun(run))(t)
	objects := must.Get(database.Objects(run, 1, "", podutil.Images{}))(t)
	seen := 0
	for _, object := range objects {
		switch o := object.(type) {
		case *appsv1.StatefulSet:
			seen++
			checkServer(t, &o.Spec.Template.Spec.Containers[0])
		case *corev1.ConfigMap:
			seen++
			if got := o.Data["benchrun.cnf"]; got != optionFile {
				t.Errorf("option file %q, want %q", got, optionFile)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d of StatefulSet and ConfigMap", seen)
	}
	planned := plan.Trials[0]
	attempt := trial.Attempt{Trial: planned, Point: plan.Points[planned.Point], Number: 1, Instance: 1}
	job := must.Get(trial.Job(run, attempt, podutil.Images{}))(t)
	config := must.Get(result.ParseConfig([]byte(job.Spec.Template.Spec.Containers[0].Env[0].Value)))(t)
	if s := config.Server; s.Engine != "Example" || s.Port != 4000 || s.Socket != result.SocketPath+"/example.sock" {
		t.Errorf("the loader is to reach %+v", s)
	}
	checkSettings(t, config)
}

func checkServer(t *testing.T, c *corev1.Container) {
	t.Helper()
	var paths []string
	for _, m := range c.VolumeMounts {
		paths = append(paths, m.MountPath)
	}
	port := corev1.ContainerPort{Name: "example", ContainerPort: 4000}
	if c.Image != "example:1" || c.Ports[0] != port || !slices.Contains(paths, "/data") || !slices.Contains(paths, "/conf") {
		t.Errorf("image %s, ports %v, paths %v", c.Image, c.Ports, paths)
	}
}

// checkSettings reads back what the server made of the settings: it rounds one up, and may have another value.
func checkSettings(t *testing.T, config *result.Config) {
	t.Helper()
	e := must.Get(engine.ByName(config.Server.Engine))(t)
	for cache, want := range map[string]result.SettingOutcome{
		"3000000": result.SettingEffective, "3145728": result.SettingAdjusted, "9000000": result.SettingRefused,
	} {
		applied := server.CompareSettings(e, config.Settings, map[string]string{"example_cache": cache, "log_bin": "OFF"}, new(server.Taken))
		i := slices.IndexFunc(applied, func(a result.AppliedSetting) bool { return a.Name == "example_cache" })
		if i < 0 || applied[i].Outcome != want {
			t.Errorf("example_cache=%s: %+v, want %s", cache, applied, want)
		}
	}
}
