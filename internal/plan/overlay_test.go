// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

func TestOverlay(t *testing.T) {
	quantity := func(s string) *resource.Quantity { return ptr.To(resource.MustParse(s)) }
	limits := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	template := v1alpha1.DatabaseSpec{
		Image: "a", Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](1), BufferPoolSize: quantity("128Mi")},
		Variables: map[string]v1alpha1.VariableValue{"a": "1"}, Resources: limits("1"),
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
			v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BufferPoolSize: quantity("1Gi"), LogFileSize: quantity("8Mi")}},
			func(d *v1alpha1.DatabaseSpec) {
				d.Settings.BufferPoolSize, d.Settings.LogFileSize = quantity("1Gi"), quantity("8Mi")
			},
		},
		"a map": {
			v1alpha1.DatabaseSpec{Variables: map[string]v1alpha1.VariableValue{"b": "2"}, Resources: limits("2")},
			func(d *v1alpha1.DatabaseSpec) {
				d.Variables, d.Resources = map[string]v1alpha1.VariableValue{"b": "2"}, limits("2")
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
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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
