// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	k8sjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// setAll fields of a specification, as --set has them: PATH=VALUE.
func setAll(spec map[string]any, settings []string) error {
	for _, setting := range settings {
		path, text, found := strings.Cut(setting, "=")
		if !found {
			return fmt.Errorf("--set %s: write PATH=VALUE", setting)
		}
		if err := set(spec, path, text); err != nil {
			return fmt.Errorf("--set %s: %w", setting, err)
		}
	}
	return nil
}

// set a field of a specification to what a text says. The path has the names that `kubectl explain brun.spec` shows, with dots
// between them; it may begin with spec. After a list whose elements have names, such as variants, comes the name of an element.
func set(spec map[string]any, path, text string) error {
	path = strings.TrimPrefix(path, "spec.")
	at, into := reflect.TypeFor[v1alpha1.BenchmarkRunSpec](), spec
	walked := "spec"
	for {
		name, rest, more := strings.Cut(path, ".")
		below, err := typeOf(at, walked, name, path)
		if err != nil {
			return err
		}
		if at.Kind() == reflect.Map {
			name, more = path, false // keys of variables, labels and resources may have dots
		}
		if !more {
			into[name], err = valueOf(below, walked+"."+name, text)
			return err
		}
		walked += "." + name
		if isNamedList(below) {
			element, after, found := strings.Cut(rest, ".")
			if !found {
				return fmt.Errorf("%s.%s has no value of its own: write one of its fields after another dot", walked, element)
			}
			if into, err = elementNamed(into[name], walked, element); err != nil {
				return err
			}
			at, walked, path = indirect(below.Elem()), walked+"."+element, after
			continue
		}
		next, isMap := into[name].(map[string]any)
		if !isMap {
			next = map[string]any{}
			into[name] = next
		}
		at, into, path = below, next, rest
	}
}

func isNamedList(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || indirect(t.Elem()).Kind() != reflect.Struct {
		return false
	}
	_, named := plan.FieldNamed(indirect(t.Elem()), "name")
	return named
}

// elementNamed is the element of a list that has this name. Elements are not added: one that is misspelled would be a new one.
func elementNamed(list any, walked, name string) (map[string]any, error) {
	elements, _ := list.([]any)
	var names []string
	for _, e := range elements {
		element, _ := e.(map[string]any)
		switch of, _ := element["name"].(string); of {
		case name:
			return element, nil
		case "":
		default:
			names = append(names, of)
		}
	}
	return nil, fmt.Errorf("%s has no element %q; it has %s", walked, name, cmp.Or(strings.Join(names, ", "), "none"))
}

func typeOf(at reflect.Type, walked, name, path string) (reflect.Type, error) {
	switch {
	case at.Kind() == reflect.Map:
		return at.Elem(), nil
	case at.Kind() != reflect.Struct || isScalar(at):
		return nil, fmt.Errorf("%s has no fields: %s is too long", walked, walked+"."+path)
	}
	f, found := plan.FieldNamed(at, name)
	if !found {
		return nil, fmt.Errorf("%s has no field %q; it has %s", walked, name, strings.Join(fieldsOf(at), ", "))
	}
	return indirect(f.Type), nil
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isScalar says whether a struct is written as one value: a quantity, a time.
func isScalar(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// fieldsOf are the names of a struct's fields in JSON, in order.
func fieldsOf(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := plan.NameInJSON(f); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// valueOf reads a text as a value of that type. A list may be written with commas, everything else that has parts as in YAML.
func valueOf(t reflect.Type, path, text string) (any, error) {
	source := []byte(text)
	switch {
	case t.Kind() == reflect.String || isScalar(t):
		source, _ = json.Marshal(text) //nolint:errchkjson // a string
	case t.Kind() == reflect.Slice && !strings.HasPrefix(text, "["):
		source = []byte("[" + text + "]")
		if indirect(t.Elem()).Kind() == reflect.String {
			source, _ = json.Marshal(strings.Split(text, ",")) //nolint:errchkjson // strings
		}
	}
	converted, err := yaml.YAMLToJSON(source)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(converted))
	decoder.DisallowUnknownFields()
	typed := reflect.New(t)
	if err := decoder.Decode(typed.Interface()); err != nil {
		return nil, fmt.Errorf("%s is %s: %s", path, described(t), strings.TrimPrefix(err.Error(), "json: "))
	}
	if string(converted) == "null" || isScalar(t) && text == "" {
		return nil, fmt.Errorf("%s is %s: a value is missing", path, described(t))
	}
	var value any
	err = k8sjson.Unmarshal(converted, &value)
	return value, err
}

func described(t reflect.Type) string {
	switch {
	case isScalar(t):
		return "a " + strings.ToLower(t.Name())
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice && indirect(t.Elem()).Kind() == reflect.Struct:
		return "a list of objects with the fields " + strings.Join(fieldsOf(indirect(t.Elem())), ", ")
	case t.Kind() == reflect.Slice:
		return "a list, for example 1,2,3, each " + described(indirect(t.Elem()))
	case t.Kind() == reflect.Map:
		return "a map: write the key after a dot"
	case t.Kind() == reflect.Struct:
		return "an object with the fields " + strings.Join(fieldsOf(t), ", ")
	case t.Kind() == reflect.String:
		return "a string"
	}
	return "a number"
}
