// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestUnfold(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo":               "one two",
		"one\n\ntwo\nthree":      "one\n\ntwo three",
		"kinds:\n- one\n- two":   "kinds:\n- one\n- two",
		"code:\n  indented\nnot": "code:\n  indented not",
	} {
		node := map[string]any{"description": text}
		if unfold(node); node["description"] != want {
			t.Errorf("%q became %q, want %q", text, node["description"], want)
		}
	}
	field := map[string]any{"description": map[string]any{"type": "string"}}
	if unfold(field); !cmp.Equal(field, map[string]any{"description": map[string]any{"type": "string"}}) {
		t.Errorf("a field of that name became %v", field)
	}
}

// A field of a type of Kubernetes keeps its own description, and has none made up.
func TestBorrow(t *testing.T) {
	below := func() map[string]any {
		return map[string]any{"key": map[string]any{"type": "string", "description": "theirs"}, "description": map[string]any{"type": "string"}}
	}
	node := map[string]any{
		"tolerations": map[string]any{"description": "ours", "properties": below()},
		"resources":   map[string]any{"properties": below()},
		"other":       map[string]any{"properties": below()},
	}
	borrow(node, described...)
	bare := map[string]any{"key": map[string]any{"type": "string"}, "description": map[string]any{"type": "string"}}
	want := map[string]any{
		"tolerations": map[string]any{"description": "ours", "properties": bare},
		"resources":   map[string]any{"properties": bare},
		"other":       map[string]any{"properties": below()},
	}
	must.Same(t, "", want, node)
}

func TestBound(t *testing.T) {
	either, quantity := map[string]any{"x-kubernetes-int-or-string": true}, map[string]any{"x-kubernetes-int-or-string": true, "pattern": "x"}
	bound(either)
	bound(quantity)
	if either["maxLength"] != maxText || quantity["maxLength"] != nil {
		t.Errorf("%v, %v", either, quantity)
	}
}

// A description stands once: a run's specification has them, the overlays of variants do not.
func TestDescriptionsStandOnce(t *testing.T) {
	node := map[string]any{
		"description": "kept",
		"properties":  map[string]any{"a": map[string]any{"description": "dropped", "type": "string"}},
	}
	undescribe(node)
	want := map[string]any{"description": "kept", "properties": map[string]any{"a": map[string]any{"type": "string"}}}
	must.Same(t, "", want, node)
	run := properties(t)
	if descriptions(at(run, "database")) < 30 || descriptions(at(run, "workload")) < 80 {
		t.Error("fields of a run have no descriptions")
	}
	variant := at(run, "variants", "items", "properties")
	for _, name := range []string{"database", "workload", "loader"} {
		must.Same(t, "descriptions of "+name, 1, descriptions(at(variant, name)))
	}
	for _, name := range []string{"sweep", "points"} {
		must.Same(t, "descriptions of "+name, 1, descriptions(at(run, "workload", "properties", "bulkInsert", "properties", name)))
	}
}

// properties of the specification of a run.
func properties(t *testing.T) map[string]any {
	t.Helper()
	text := must.Get(os.ReadFile("../../config/crd/bases/benchrun.dev_benchmarkruns.yaml"))(t)
	var crd map[string]any
	must.Do(t, yaml.Unmarshal(text, &crd))
	return at(specification(crd), "properties")
}

// descriptions counts the descriptions at and below a node.
func descriptions(node map[string]any) (n int) {
	each(node, func(below map[string]any) {
		if _, isText := below["description"].(string); isText {
			n++
		}
	})
	return n
}
