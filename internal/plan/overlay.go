// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// overlay lays a part of a specification, or nil, over another one. What is not set in it stays as it is, and so do keys of maps;
// lists and values are replaced as a whole. An explicit zero is set where the type can tell it from none: where it is allowed, a
// field is a pointer.
func overlay[T any](onto, over *T) {
	if over != nil {
		lay(reflect.ValueOf(onto).Elem(), reflect.ValueOf(over).Elem())
	}
}

func lay(onto, over reflect.Value) {
	switch {
	case over.IsZero():
	case over.Kind() == reflect.Pointer && !onto.IsNil() && transparent(over.Type().Elem()):
		lay(onto.Elem(), over.Elem())
	case over.Kind() == reflect.Map && onto.Len() > 0:
		for key, value := range over.Seq2() {
			onto.SetMapIndex(key, value)
		}
	case transparent(over.Type()):
		for i := range over.NumField() {
			lay(onto.Field(i), over.Field(i))
		}
	default:
		onto.Set(over)
	}
}

func transparent(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for field := range t.Fields() {
		if !field.IsExported() {
			return false
		}
	}
	return true
}

// CheckRemoved is what a variant of a run cannot take away, for its author.
func CheckRemoved(run *v1alpha1.BenchmarkRun) error {
	for _, v := range run.Spec.Variants {
		spec := run.Spec.DeepCopy()
		for _, path := range v.Remove {
			if err := remove(spec, path); err != nil {
				return fmt.Errorf("variant %s: remove: %s: %w", v.Name, path, err)
			}
		}
	}
	return nil
}

// remove takes what a path leads to away: a key of a map, or a field that is unset without a value of its own.
func remove(spec *v1alpha1.BenchmarkRunSpec, path string) error {
	at := reflect.ValueOf(spec).Elem()
	for rest, more := path, true; more; {
		if at.Kind() == reflect.Map {
			key := reflect.ValueOf(rest).Convert(at.Type().Key())
			if !at.MapIndex(key).IsValid() {
				return fmt.Errorf("the run has no %s there", rest)
			}
			at.SetMapIndex(key, reflect.Value{})
			return nil
		}
		var name string
		name, rest, more = strings.Cut(rest, ".")
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		if !at.IsValid() || at.Kind() != reflect.Struct {
			return fmt.Errorf("the run has no %s there", name)
		}
		f, found := FieldNamed(at.Type(), name)
		if !found || at.FieldByIndex(f.Index).IsZero() {
			return fmt.Errorf("the run has no %s there", name)
		}
		at = at.FieldByIndex(f.Index)
	}
	if kind := at.Kind(); kind != reflect.Map && kind != reflect.Pointer && kind != reflect.Slice {
		return errors.New("it cannot be taken away: say another value")
	}
	at.SetZero()
	return nil
}

// FieldNamed is the field of a struct with that name in JSON.
func FieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if NameInJSON(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// NameInJSON is empty if a field has no name of its own.
func NameInJSON(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || f.Anonymous {
		return ""
	}
	return name
}
