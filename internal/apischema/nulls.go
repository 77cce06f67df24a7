// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package apischema

import (
	"slices"
	"strconv"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// givenByServer are fields that tools print as null before the API server fills them in.
var givenByServer = []string{"metadata.creationTimestamp", "status"}

// Nulls are the fields of an object as written that have no value, one line each. The API server refuses those in maps, whose
// names it does not know, and removes all others without a word.
func (s *Schema) Nulls(object map[string]any) []string {
	lines := nulls(object, s.structural, nil)
	slices.Sort(lines)
	return lines
}

func nulls(value any, schema *structuralschema.Structural, path *field.Path) []string {
	var lines []string
	switch value := value.(type) {
	case nil:
		if slices.Contains(givenByServer, path.String()) {
			return nil
		}
		way := "or leave the field out"
		if schema != nil && schema.Nullable {
			way = `as in "ON" or ""`
		}
		return []string{path.String() + ": no value: write one, " + way}
	case map[string]any:
		for name, item := range value {
			child, at := below(schema, name), path.Child(name)
			if child != nil && child.Nullable {
				at = path.Key(name)
			}
			lines = append(lines, nulls(item, child, at)...)
		}
	case []any:
		for i, item := range value {
			lines = append(lines, nulls(item, below(schema, strconv.Itoa(i)), path.Index(i))...)
		}
	}
	return lines
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
