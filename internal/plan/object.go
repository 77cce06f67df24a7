// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object whose fields stand encoded, in the order of their names: to write it with other values in it costs no
// more than to copy it.
type object []field

type field struct {
	name string
	// key is the name as JSON.
	key, value json.RawMessage
}

func newField(name string, value json.RawMessage) field {
	key, _ := json.Marshal(name) //nolint:errchkjson // a text can be encoded
	return field{name, key, value}
}

func readObject(content json.RawMessage) (*object, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return nil, err
	}
	o := make(object, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		o = append(o, newField(name, fields[name]))
	}
	return &o, nil
}

func (o *object) find(name string) (int, bool) {
	return slices.BinarySearchFunc(*o, name, func(f field, name string) int { return strings.Compare(f.name, name) })
}

func (o *object) get(name string) (json.RawMessage, bool) {
	at, found := o.find(name)
	if !found {
		return nil, false
	}
	return (*o)[at].value, true
}

// take a field out of the object.
func (o *object) take(name string) (json.RawMessage, bool) {
	at, found := o.find(name)
	if !found {
		return nil, false
	}
	value := (*o)[at].value
	*o = slices.Delete(*o, at, at+1)
	return value, true
}

// size is how many bytes the object has.
func (o *object) size() int {
	sum := len("{}")
	for _, f := range *o {
		sum += len(f.key) + len(f.value) + len(":,")
	}
	return sum
}

// with is the object with other values, as JSON.
func (o *object) with(values map[string]json.RawMessage) json.RawMessage {
	fields := *o
	for name, value := range values {
		if at, found := fields.find(name); !found {
			fields = slices.Insert(slices.Clone(fields), at, newField(name, value))
		}
	}
	text := make([]byte, 0, fields.size())
	text = append(text, '{')
	for i, f := range fields {
		if i > 0 {
			text = append(text, ',')
		}
		if value, changed := values[f.name]; changed {
			f.value = value
		}
		text = append(append(append(text, f.key...), ':'), f.value...)
	}
	return append(text, '}')
}
