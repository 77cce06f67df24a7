// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apischema does with a run what the API server does before it stores one, by the API server's own code and without an
// API server: unknown fields, defaults, schema and rules.
package apischema

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/config/crd"
)

// Schema is that of a kind, with its rules.
type Schema struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	// rules are those of everything, and of the status alone. They are compiled when they are needed, which takes half a second.
	rules, statusRules func() *cel.Validator
}

// Runs is the schema of a BenchmarkRun. Each call returns the same one, because its rules take long to compile.
var Runs = sync.OnceValues(func() (*Schema, error) {
	text, err := crd.Bases.ReadFile("bases/benchrun.dev_benchmarkruns.yaml")
	if err != nil {
		return nil, err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, err
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, err
	}
	s := new(Schema)
	if s.structural, err = structuralschema.NewStructural(&props); err != nil {
		return nil, err
	}
	if s.values, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, err
	}
	status := s.structural.Properties["status"]
	s.rules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(s.structural, true, celconfig.PerCallLimit) })
	s.statusRules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(&status, false, celconfig.PerCallLimit) })
	return s, nil
})

// Prune removes the fields that the schema does not have, and null where it means nothing. It returns the paths of those
// fields, in order.
func (s *Schema) Prune(object map[string]any) []string {
	unknown := pruning.PruneWithOptions(object, s.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	slices.Sort(unknown)
	return unknown
}

// PruneMetadata removes from an object's metadata the fields that are unknown, and returns their paths, in order. The error
// is about a field of a wrong type.
func PruneMetadata(object map[string]any) ([]string, error) {
	options := objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object, options)
	if err != nil || !found {
		return nil, err
	}
	slices.Sort(unknown)
	return unknown, objectmeta.SetObjectMeta(object, meta)
}

// Default sets the defaults of a new object.
func (s *Schema) Default(object map[string]any) { defaulting.Default(object, s.structural) }

// Errors sets the defaults of a new object, and returns what the API server says against it.
func (s *Schema) Errors(ctx context.Context, object map[string]any) field.ErrorList {
	s.Default(object)
	errs := genericvalidation.ValidateObjectMetaAccessor(&unstructured.Unstructured{Object: object}, true,
		genericvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, s.shape(object)...)
	if slices.ContainsFunc(errs, func(err *field.Error) bool { return slices.Contains(stopsRules, err.Type) }) {
		return append(errs, field.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; "+
				"correct the existing errors to complete validation"))
	}
	broken, _ := s.rules().Validate(ctx, nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// stopsRules are errors of objects that have not the shape that rules are written for. The API server decides alike.
var stopsRules = []field.ErrorType{
	field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid,
}

// StatusErrors is what the API server says against an object whose status is written anew, over that of old.
func (s *Schema) StatusErrors(ctx context.Context, old, written map[string]any) field.ErrorList {
	errs := s.shape(written)
	if len(errs) == 0 {
		errs, _ = s.statusRules().Validate(ctx, field.NewPath("status"), nil, written["status"], old["status"],
			celconfig.RuntimeCELCostBudget)
	}
	return errs
}

func (s *Schema) shape(object map[string]any) field.ErrorList {
	return append(validation.ValidateCustomResource(nil, object, s.values),
		listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
}

// Object is a value as the API server sees it: maps, lists, strings, booleans, int64 and float64.
func Object(value any) (map[string]any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding an object: %w", err)
	}
	var object map[string]any
	if err := k8sjson.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("reading an object: %w", err)
	}
	return object, nil
}

// givenByServer are fields that tools print as null before the API server fills them in.
var givenByServer = []string{"metadata.creationTimestamp", "status"}

// Misread are the fields of an object that YAML has read as something else than their author meant, one line each: those without
// a value, which the API server refuses in maps and removes from everything else without a word, and texts without quotation
// marks. They are then removed or texts, so that what else is wrong can be said.
func (s *Schema) Misread(object map[string]any) []string {
	lines := misreadBelow(object, s.structural, nil)
	slices.Sort(lines)
	return lines
}

func misreadBelow(value any, schema *structuralschema.Structural, path *field.Path) (lines []string) {
	wrong := func(item any, child *structuralschema.Structural, at *field.Path) bool {
		if line := misread(item, child, at); line != "" {
			lines = append(lines, line)
			return true
		}
		lines = append(lines, misreadBelow(item, child, at)...)
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			child, at := below(schema, name), path.Child(name)
			if child != nil && child.Nullable {
				at = path.Key(name)
			}
			if wrong(item, child, at) {
				value[name] = text(item)
				if item == nil && (child == nil || !child.Nullable || child.Type != "string") {
					delete(value, name)
				}
			}
		}
	case []any:
		for i, item := range value {
			if wrong(item, below(schema, ""), path.Index(i)) && item != nil {
				value[i] = text(item)
			}
		}
	}
	return lines
}

func misread(value any, schema *structuralschema.Structural, path *field.Path) string {
	if value == nil {
		switch {
		case slices.Contains(givenByServer, path.String()):
			return ""
		case schema != nil && schema.Nullable:
			return path.String() + `: no value: write one, as in "ON" or ""`
		}
		return path.String() + ": no value: write one, or leave the field out"
	}
	if schema == nil || schema.Type != "string" && !schema.XIntOrString {
		return ""
	}
	switch value.(type) {
	case bool:
		return fmt.Sprintf("%s: a truth value, not a text, without quotation marks: write %q, or what else it was", path, text(value))
	case int64:
		if schema.XIntOrString {
			return ""
		}
	case float64:
	default:
		return ""
	}
	return fmt.Sprintf("%s: a number, not a text, without quotation marks: write %q", path, text(value))
}

// text is what a value was before YAML read it; ON, yes and true are the same to YAML.
func text(value any) string {
	switch value := value.(type) {
	case nil:
		return "ON"
	case bool:
		if value {
			return "ON"
		}
		return "OFF"
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// below is the schema of a field, of a value of a map, or of an item of a list; nil if it is not known.
func below(schema *structuralschema.Structural, name string) *structuralschema.Structural {
	switch {
	case schema == nil:
		return nil
	case schema.Items != nil:
		return schema.Items
	case schema.AdditionalProperties != nil:
		return schema.AdditionalProperties.Structural
	}
	if field, known := schema.Properties[name]; known {
		return &field
	}
	return nil
}
