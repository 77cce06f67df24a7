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
)

// Schema is that of a kind with its rules, applied without an API server. T is the kind's type.
type Schema[T any] struct{ of *apischema.Schema }

// MakeRunSchema is the schema of a BenchmarkRun.
func MakeRunSchema(t testing.TB) *Schema[v1alpha1.BenchmarkRun] {
	t.Helper()
	return makeSchema[v1alpha1.BenchmarkRun](t, apischema.Runs)
}

func makeSchema[T any](t testing.TB, load func() (*apischema.Schema, error)) *Schema[T] {
	t.Helper()
	of, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return &Schema[T]{of}
}

// stored is a YAML text with the defaults of its kind, as the API server would store it. It panics if the text is no such object.
func stored[T any](load func() (*apischema.Schema, error), text string) *T {
	schema, err := load()
	if err != nil {
		panic(err)
	}
	object, typed := map[string]any{}, new(T)
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
func (s *Schema[T]) Stored(t testing.TB, text []byte) (*T, field.ErrorList) {
	t.Helper()
	var object map[string]any
	if err := k8sjson.Unmarshal(text, &object); err != nil || object == nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	s.of.Prune(object)
	if errs := s.of.Errors(t.Context(), object); len(errs) > 0 {
		return nil, errs
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	stored := new(T)
	if err := json.Unmarshal(text, stored); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	return stored, nil
}

// StatusErrors is what the API server says against an object whose status is written anew, over that of old.
func (s *Schema[T]) StatusErrors(t testing.TB, old, written *T) field.ErrorList {
	t.Helper()
	return s.of.StatusErrors(t.Context(), asObject(t, old), asObject(t, written))
}

func asObject(t testing.TB, o any) map[string]any {
	t.Helper()
	object, err := apischema.Object(o)
	if err != nil {
		t.Fatal(err)
	}
	return object
}
