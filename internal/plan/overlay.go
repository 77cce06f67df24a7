// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "reflect"

// overlay lays a part of a specification over another one. What is not set in it stays as it is; maps, lists and values are
// replaced as a whole. An explicit zero is set where the type can tell it from none: where it is allowed, a field is a pointer.
func overlay[T any](onto, over *T) {
	lay(reflect.ValueOf(onto).Elem(), reflect.ValueOf(over).Elem())
}

func lay(onto, over reflect.Value) {
	switch {
	case over.IsZero():
	case over.Kind() == reflect.Pointer && !onto.IsNil() && transparent(over.Type().Elem()):
		lay(onto.Elem(), over.Elem())
	case transparent(over.Type()):
		for i := range over.NumField() {
			lay(onto.Field(i), over.Field(i))
		}
	default:
		onto.Set(over)
	}
}

// transparent says whether a type is a struct of fields, and not a value that its own methods make, such as a quantity.
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
