// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestOverlay(t *testing.T) {
	quantity := func(s string) *resource.Quantity { return ptr.To(resource.MustParse(s)) }
	limits := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	memory := func(r corev1.ResourceRequirements) corev1.ResourceRequirements {
		r.Limits[corev1.ResourceMemory] = resource.MustParse("1Gi")
		return r
	}
	template := v1alpha1.DatabaseSpec{
		Image: "a", Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](1), BufferPoolSize: quantity("128Mi")},
		Variables: map[string]v1alpha1.VariableValue{"a": "1"}, Resources: memory(limits("1")),
		Tolerations: []corev1.Toleration{{Key: "a"}, {Key: "b"}}, TLS: v1alpha1.TLSSpec{CASecretName: "ca"},
	}
	for name, tc := range map[string]struct {
		over v1alpha1.DatabaseSpec
		want func(*v1alpha1.DatabaseSpec)
	}{
		"nothing": {v1alpha1.DatabaseSpec{}, func(*v1alpha1.DatabaseSpec) {}},
		"a value": {v1alpha1.DatabaseSpec{Image: "b"}, func(d *v1alpha1.DatabaseSpec) { d.Image = "b" }},
		"zero": {
			v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0), BinaryLog: ptr.To(false)}},
			func(d *v1alpha1.DatabaseSpec) {
				d.Settings.FlushLogAtTrxCommit, d.Settings.BinaryLog = ptr.To[int32](0), ptr.To(false)
			},
		},
		"a quantity": {
			v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BufferPoolSize: quantity("1Gi"), RedoLogSize: quantity("8Mi")}},
			func(d *v1alpha1.DatabaseSpec) {
				d.Settings.BufferPoolSize, d.Settings.RedoLogSize = quantity("1Gi"), quantity("8Mi")
			},
		},
		"a map": {
			v1alpha1.DatabaseSpec{Variables: map[string]v1alpha1.VariableValue{"b": "2"}, Resources: limits("2")},
			func(d *v1alpha1.DatabaseSpec) {
				d.Variables["b"] = "2"
				d.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("2")
			},
		},
		"a list": {
			v1alpha1.DatabaseSpec{Tolerations: []corev1.Toleration{{Key: "c"}}},
			func(d *v1alpha1.DatabaseSpec) { d.Tolerations = []corev1.Toleration{{Key: "c"}} },
		},
		"a field of a field": {
			v1alpha1.DatabaseSpec{TLS: v1alpha1.TLSSpec{Mode: v1alpha1.TLSRequired}},
			func(d *v1alpha1.DatabaseSpec) { d.TLS.Mode = v1alpha1.TLSRequired },
		},
		"a member that the template lacks": {
			v1alpha1.DatabaseSpec{External: &v1alpha1.ExternalSpec{Host: "db"}},
			func(d *v1alpha1.DatabaseSpec) { d.External = &v1alpha1.ExternalSpec{Host: "db"} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := template.DeepCopy(), template.DeepCopy()
			tc.want(want)
			overlay(got, &tc.over)
			must.Same(t, "", want, got)
		})
	}
}

// What a variant takes away is a key of a map, or a field that may be unset; anything else is refused, with what is allowed.
func TestRemove(t *testing.T) {
	run := func() *v1alpha1.BenchmarkRunSpec {
		return &v1alpha1.BenchmarkRunSpec{
			Database: v1alpha1.DatabaseSpec{
				Image: "a", Variables: map[string]v1alpha1.VariableValue{"a": "1", "b": "2"},
				Settings:  v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](1)},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}},
			},
			Workload: v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{
				Pacing: v1alpha1.Pacing{RatePerSecond: ptr.To[v1alpha1.RowsPerSecond](7)},
			}},
		}
	}
	for path, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		says   string
	}{
		"database.variables.a":                      {func(s *v1alpha1.BenchmarkRunSpec) { delete(s.Database.Variables, "a") }, ""},
		"database.variables":                        {func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Variables = nil }, ""},
		"database.settings.flushLogAtTrxCommit":     {func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Settings.FlushLogAtTrxCommit = nil }, ""},
		"database.resources.limits.example.com/gpu": {func(s *v1alpha1.BenchmarkRunSpec) { delete(s.Database.Resources.Limits, "example.com/gpu") }, ""},
		"workload.bulkInsert.ratePerSecond":         {func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.BulkInsert.RatePerSecond = nil }, ""},
		"database.variables.c":                      {nil, "the run has no c there"},
		"database.hostTuning.swappiness":            {nil, "the run has no hostTuning there"},
		"database.colour":                           {nil, "the run has no colour there"},
		"workload.bulkInsert.ratePerSecond.more":    {nil, "the run has no more there"},
		"database.image":                            {nil, "it cannot be taken away: say another value"},
		"database.settings":                         {nil, "it cannot be taken away: say another value"},
		"database.settings.bufferPoolSize":          {nil, "the run has no bufferPoolSize there"},
	} {
		got, want := run(), run()
		err := remove(got, path)
		if tc.change != nil {
			tc.change(want)
		}
		if text := fmt.Sprint(err); (err != nil || tc.says != "") && text != tc.says {
			t.Errorf("%s: %v, want %q", path, err, tc.says)
		}
		must.Same(t, path, want, got)
	}
}

// An overlay cannot tell false from nothing unless the field is a pointer.
func TestOverlaysCanSayFalse(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(path string, of reflect.Type)
	visit = func(path string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer:
			if of.Elem().Kind() == reflect.Struct {
				visit(path, of.Elem())
			}
		case reflect.Bool:
			t.Errorf("%s is a bool: make it a pointer", path)
		case reflect.Struct:
			if seen[of] || !transparent(of) {
				return
			}
			seen[of] = true
			for field := range of.Fields() {
				visit(path+"."+field.Name, field.Type)
			}
		default:
		}
	}
	visit("database", reflect.TypeFor[v1alpha1.DatabaseSpec]())
	visit("workload", reflect.TypeFor[v1alpha1.WorkloadSpec]())
}
