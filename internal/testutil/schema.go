// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Schema is that of a kind with its rules, applied by the API server's own code without an API server. T is the kind's type.
type Schema[T any] struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	// rules are those of everything, and of the status alone.
	rules, statusRules *cel.Validator
}

// MakeRunSchema is the schema of a BenchmarkRun.
func MakeRunSchema(t testing.TB) *Schema[v1alpha1.BenchmarkRun] {
	t.Helper()
	return makeSchema[v1alpha1.BenchmarkRun](t, "benchmarkruns")
}

// MakeSuiteSchema is the schema of a BenchmarkSuite.
func MakeSuiteSchema(t testing.TB) *Schema[v1alpha1.BenchmarkSuite] {
	t.Helper()
	return makeSchema[v1alpha1.BenchmarkSuite](t, "benchmarksuites")
}

// makeSchema reads the generated CRD of a kind.
func makeSchema[T any](t testing.TB, kind string) *Schema[T] {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "config", "crd", "bases", "benchrun.dev_"+kind+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	s := new(Schema[T])
	if s.structural, err = structuralschema.NewStructural(&props); err != nil {
		t.Fatal(err)
	}
	if s.values, _, err = validation.NewSchemaValidator(&props); err != nil {
		t.Fatal(err)
	}
	status := s.structural.Properties["status"]
	s.rules = cel.NewValidator(s.structural, true, celconfig.PerCallLimit)
	s.statusRules = cel.NewValidator(&status, false, celconfig.PerCallLimit)
	return s
}

// Stored is an object as it comes back from the API server: with its defaults and without unknown fields; or what the API server
// says against it. The text is JSON.
func (s *Schema[T]) Stored(t testing.TB, text []byte) (*T, field.ErrorList) {
	t.Helper()
	var object map[string]any
	if err := k8sjson.Unmarshal(text, &object); err != nil || object == nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	pruning.Prune(object, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	defaulting.Default(object, s.structural)
	errs := s.shape(object)
	if len(errs) == 0 { // rules are for objects of the right shape
		errs, _ = s.rules.Validate(t.Context(), nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	if len(errs) > 0 {
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
	object, before := asObject(t, written), asObject(t, old)
	errs := s.shape(object)
	if len(errs) == 0 {
		errs, _ = s.statusRules.Validate(t.Context(), field.NewPath("status"), nil, object["status"], before["status"],
			celconfig.RuntimeCELCostBudget)
	}
	return errs
}

// shape is what is wrong with an object besides what its rules say.
func (s *Schema[T]) shape(object map[string]any) field.ErrorList {
	return append(validation.ValidateCustomResource(nil, object, s.values),
		listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
}

func asObject(t testing.TB, o any) map[string]any {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := k8sjson.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
