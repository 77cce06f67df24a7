// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestBlockIOClass(t *testing.T) {
	for _, class := range []string{"", "disk-100"} {
		run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Storage.BlockIOClass = class }).Obj()
		for _, o := range objects(t, run, 1, "", images) {
			set, ok := o.(*appsv1.StatefulSet)
			if !ok {
				continue
			}
			if got := set.Spec.Template.Annotations["blockio.resources.beta.kubernetes.io/pod"]; got != class {
				t.Errorf("the Pod has class %q, want %q", got, class)
			}
		}
	}
}

func TestBlockIORefused(t *testing.T) {
	p := pod(waiting("CreateContainerError", `failed to set BlockIO class`))
	if database.BlockIORefused(p) {
		t.Error("a Pod without a class was refused one")
	}
	p.Annotations = map[string]string{database.AnnotationBlockIO: "disk-100"}
	if !database.BlockIORefused(p) {
		t.Error("a Pod that was refused its class is not seen")
	}
	p = pod(waiting("ErrImagePull", "not found"))
	p.Annotations = map[string]string{database.AnnotationBlockIO: "disk-100"}
	if database.BlockIORefused(p) {
		t.Error("a Pod without its image was refused a class")
	}
}

func TestVolumeIsMeasuredByTheProbe(t *testing.T) {
	for mode, want := range map[v1alpha1.VolumeBenchmarkMode]bool{"": false, v1alpha1.VolumeBenchmarkDisabled: false, v1alpha1.VolumeBenchmarkEnabled: true} {
		run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Storage.VolumeBenchmark = mode }).Obj()
		for _, o := range objects(t, run, 1, "", images) {
			if set, ok := o.(*appsv1.StatefulSet); ok {
				if got := slices.Contains(set.Spec.Template.Spec.InitContainers[0].Args, "--volume-benchmark"); got != want {
					t.Errorf("mode %q: the probe measures the volume: %t, want %t", mode, got, want)
				}
			}
		}
	}
}
