// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package apischema

import (
	"fmt"
	"slices"
	"strconv"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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

// misreadBelow looks at the values of a map or list.
func misreadBelow(value any, schema *structuralschema.Structural, path *field.Path) (lines []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			child, at := below(schema, name), path.Child(name)
			if child != nil && child.Nullable {
				at = path.Key(name)
			}
			line := misread(item, child, at)
			switch {
			case line == "":
				lines = append(lines, misreadBelow(item, child, at)...)
				continue
			case item == nil && (child == nil || !child.Nullable || child.Type != "string"):
				delete(value, name)
			default:
				value[name] = text(item)
			}
			lines = append(lines, line)
		}
	case []any:
		child := below(schema, "")
		for i, item := range value {
			line := misread(item, child, path.Index(i))
			if line == "" {
				lines = append(lines, misreadBelow(item, child, path.Index(i))...)
				continue
			}
			if item != nil {
				value[i] = text(item)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// misread is what is to be said of a single value; empty if that is nothing.
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
