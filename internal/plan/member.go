// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// member is the part of a workload's specification that its type names: the workload's parameters, and how they are varied.
// It is read as JSON, so that nothing here depends on which workloads there are.
type member struct {
	name string
	// parameters without sweep and points, and those of them that are objects of which a sweep varies a field. They are encoded
	// once: all points have them in common.
	parameters *object
	nested     map[string]*object
	// sweep is an object of lists, or of objects of lists; nil if there is none.
	sweep json.RawMessage
	// points are objects of values, or of objects of values.
	points []json.RawMessage
}

func memberOf(w *v1alpha1.WorkloadSpec) (*member, error) {
	written, err := writtenOut(w)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(written)
	if err != nil {
		return nil, fmt.Errorf("encoding the workload: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &members); err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	m := &member{name: memberName(string(w.Type)), nested: map[string]*object{}}
	own, found := members[m.name]
	if !found {
		return nil, fmt.Errorf("workload type %s lacks its member %s", w.Type, m.name)
	}
	if m.parameters, err = readObject(own); err != nil {
		return nil, fmt.Errorf("reading workload.%s: %w", m.name, err)
	}
	m.sweep, _ = m.parameters.take("sweep")
	if listed, found := m.parameters.take("points"); found {
		if err := json.Unmarshal(listed, &m.points); err != nil {
			return nil, fmt.Errorf("reading workload.%s.points: %w", m.name, err)
		}
	}
	return m, nil
}

// memberName is a type's name in lower camel case: CommitSize and commitSize, IIBench and iiBench.
func memberName(workloadType string) string {
	name := []rune(workloadType)
	for i := range name {
		if unicode.IsLower(name[i]) || i > 0 && i+1 < len(name) && unicode.IsLower(name[i+1]) {
			break
		}
		name[i] = unicode.ToLower(name[i])
	}
	return string(name)
}

func (m *member) value(p path) (value, bool) {
	fields := m.parameters
	if len(p) > 1 {
		fields = m.within(p[0])
	}
	own, found := fields.get(p.name())
	return value{p, own}, found
}

// within are the fields of a parameter that is an object; none if the workload does not set it.
func (m *member) within(name string) *object {
	if m.nested[name] == nil {
		own, _ := m.parameters.get(name)
		m.nested[name], _ = readObject(own) // the API has a map there, or nothing
	}
	return m.nested[name]
}

// Parameters of a workload, encoded once for all points.
type Parameters struct{ member *member }

// ParametersOf a workload.
func ParametersOf(w *v1alpha1.WorkloadSpec) (*Parameters, error) {
	m, err := memberOf(w)
	return &Parameters{m}, err
}

// At a point they are those of the API's member with the point's values in their places, as JSON. The same specification and
// point give the same bytes.
func (of *Parameters) At(p Point) json.RawMessage {
	m, top, within := of.member, map[string]json.RawMessage{}, map[string]map[string]json.RawMessage{}
	for _, v := range p.values {
		if len(v.path) == 1 {
			top[v.path[0]] = v.json
			continue
		}
		if within[v.path[0]] == nil {
			within[v.path[0]] = map[string]json.RawMessage{}
		}
		within[v.path[0]][v.path[1]] = v.json
	}
	for name, changed := range within {
		top[name] = m.within(name).with(changed)
	}
	return m.parameters.with(top)
}

// axesOf reads an object of lists or values in the order of its fields. An object in it is a map whose keys are parameters.
func axesOf(object json.RawMessage) ([]axis, error) {
	var all []axis
	add := func(content json.RawMessage, at ...string) error {
		values, err := valuesOf(content)
		all = append(all, axis{at, values})
		return err
	}
	err := eachField(object, func(name string, content json.RawMessage) error {
		if !isObject(content) {
			return add(content, name)
		}
		return eachField(content, func(key string, content json.RawMessage) error { return add(content, name, key) })
	})
	return all, err
}

func valuesOf(content json.RawMessage) ([]json.RawMessage, error) {
	if !strings.HasPrefix(string(content), "[") {
		return []json.RawMessage{content}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("a list of values is empty")
	}
	return list, nil
}

func isObject(content json.RawMessage) bool { return strings.HasPrefix(string(content), "{") }

// eachField visits the fields of an object in their order, which a map would lose.
func eachField(object json.RawMessage, visit func(name string, content json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var content json.RawMessage
		if err := decoder.Decode(&content); err != nil {
			return err
		}
		if err := visit(fmt.Sprint(name), content); err != nil {
			return err
		}
	}
	return nil
}

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
	err := json.Unmarshal(content, &fields)
	o := make(object, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		o = append(o, newField(name, fields[name]))
	}
	return &o, err
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

func (o *object) take(name string) (json.RawMessage, bool) {
	value, found := o.get(name)
	*o = slices.DeleteFunc(*o, func(f field) bool { return f.name == name })
	return value, found
}

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
