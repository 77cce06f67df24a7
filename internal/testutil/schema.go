// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Schema is that of a run with its rules, applied without an API server.
type Schema struct{ of *apischema.Schema }

// MakeRunSchema is the schema of a BenchmarkRun.
func MakeRunSchema(t testing.TB) *Schema {
	t.Helper()
	of := must.Get(apischema.Runs())(t)
	return &Schema{of}
}

// stored is a YAML text with its defaults, as the API server would store it. It panics if the text is no run.
func stored(text string) *v1alpha1.BenchmarkRun {
	schema, err := apischema.Runs()
	if err != nil {
		panic(err)
	}
	object, typed := map[string]any{}, new(v1alpha1.BenchmarkRun)
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		panic(err)
	}
	schema.Default(object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, typed, true); err != nil {
		panic(err)
	}
	return typed
}

// Stored is an object as it comes back from the API server: with its defaults and without unknown fields; or what the API
// server says against it. The text is JSON.
func (s *Schema) Stored(t testing.TB, text []byte) (*v1alpha1.BenchmarkRun, field.ErrorList) {
	t.Helper()
	var object map[string]any
	if err := k8sjson.Unmarshal(text, &object); err != nil || object == nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	s.of.Prune(object)
	if errs := s.of.Errors(t.Context(), object); len(errs) > 0 {
		return nil, errs
	}
	text = must.Get(json.Marshal(object))(t)
	stored := new(v1alpha1.BenchmarkRun)
	if err := json.Unmarshal(text, stored); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	return stored, nil
}

// StatusErrors is what the API server says against an object whose status is written anew, over that of old.
func (s *Schema) StatusErrors(t testing.TB, old, written *v1alpha1.BenchmarkRun) field.ErrorList {
	t.Helper()
	return s.of.StatusErrors(t.Context(), asObject(t, old), asObject(t, written))
}

func asObject(t testing.TB, o *v1alpha1.BenchmarkRun) map[string]any {
	t.Helper()
	object := must.Get(apischema.Object(o))(t)
	return object
}
