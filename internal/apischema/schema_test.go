// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package apischema

import (
	"slices"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// place is a field of a schema, and how an object is made around a value of it.
type place struct {
	path   string
	schema *structuralschema.Structural
	within func(any) any
}

// places are all fields below one: those of objects, values of maps, and items of lists.
func places(of place) []place {
	var all []place
	add := func(name string, schema *structuralschema.Structural, wrap func(any) any) {
		child := place{of.path + name, schema, func(value any) any { return of.within(wrap(value)) }}
		all = append(append(all, child), places(child)...)
	}
	for name, schema := range of.schema.Properties {
		add("."+name, &schema, func(value any) any { return map[string]any{name: value} })
	}
	if values := of.schema.AdditionalProperties; values != nil {
		add("[x]", values.Structural, func(value any) any { return map[string]any{"x": value} })
	}
	if of.schema.Items != nil {
		add("[0]", of.schema.Items, func(value any) any { return []any{value} })
	}
	return all
}

// specifications calls a function with all places of each kind's specification.
func specifications(t *testing.T, visit func(*testing.T, *Schema, place)) {
	for kind, load := range map[string]func() (*Schema, error){"run": Runs} {
		t.Run(kind, func(t *testing.T) {
			s := must.Get(load())(t)
			spec := s.structural.Properties["spec"]
			all := places(place{"spec", &spec, func(value any) any { return map[string]any{"spec": value} }})
			if len(all) < 200 {
				t.Fatalf("%d fields", len(all))
			}
			for _, p := range all {
				visit(t, s, p)
			}
		})
	}
}

// Every field that has no value is named before anything else is looked at, with what to write.
func TestNulls(t *testing.T) {
	specifications(t, func(t *testing.T, s *Schema, p place) {
		want := p.path + ": no value: write one, or leave the field out"
		if strings.HasSuffix(p.path, "[x]") {
			want = p.path + `: no value: write one, as in "ON" or ""`
		}
		must.Same(t, p.path, []string{want}, s.Misread(p.within(nil).(map[string]any)))
	})
}

// Every map keeps a name without a value, so that a rule of its own can refuse it by its name.
func TestNullsInMaps(t *testing.T) {
	maps := 0
	specifications(t, func(t *testing.T, s *Schema, p place) {
		if p.schema.AdditionalProperties == nil {
			return
		}
		maps++
		value := map[string]any{"skip_this": nil}
		if unknown := s.Prune(p.within(value).(map[string]any)); len(unknown) > 0 || len(value) != 1 {
			t.Errorf("%s: unknown %q, left %v", p.path, unknown, value)
		}
		errs, _ := cel.NewValidator(p.schema, false, celconfig.PerCallLimit).Validate(t.Context(), nil, p.schema, value, nil,
			celconfig.RuntimeCELCostBudget)
		const want = `skip_this: no value: write one, as in "ON" or ""`
		if !slices.ContainsFunc(errs, func(err *field.Error) bool { return strings.HasSuffix(err.Error(), want) }) {
			t.Errorf("%s: %v", p.path, errs)
		}
	})
	if maps < 30 {
		t.Errorf("%d maps", maps)
	}
}

// What tools print for the API server to fill in is no mistake.
func TestNullsOfTools(t *testing.T) {
	s := must.Get(Runs())(t)
	object := map[string]any{"metadata": map[string]any{"creationTimestamp": nil, "labels": map[string]any{"x": nil}}, "status": nil}
	if got := s.Misread(object); len(got) != 1 || !strings.HasPrefix(got[0], "metadata.labels.x: ") {
		t.Errorf("%q", got)
	}
}

// Every text that stands without quotation marks, and that YAML reads as a number or a truth value, is one line with what to
// write; a field that may be a number is not.
func TestUnquoted(t *testing.T) {
	specifications(t, func(t *testing.T, s *Schema, p place) {
		for value, want := range map[any]string{
			int64(300): `: a number, not a text, without quotation marks: write "300"`,
			0.25:       `: a number, not a text, without quotation marks: write "0.25"`,
			true:       `: a truth value, not a text, without quotation marks: write "ON", or what else it was`,
		} {
			object := p.within(value).(map[string]any)
			got := s.Misread(object)
			_, isInt := value.(int64)
			switch {
			case p.schema.Type != "string" && (!p.schema.XIntOrString || isInt):
				if len(got) > 0 {
					t.Errorf("%s: %q", p.path, got)
				}
			case !slices.Equal(got, []string{p.path + want}):
				t.Errorf("%s: %q", p.path, got)
			case len(s.Misread(object)) > 0:
				t.Errorf("%s is no text afterwards", p.path)
			}
		}
	})
}
