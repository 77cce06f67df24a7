// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
)

// unset is how a difference shows that one side says nothing.
const unset = "unset"

// Differences are what one run asks for and another does not, as "name (theirs → ours)": first server settings by their own
// names, then everything else by its path in the specification.
func Differences(from, to *v1alpha1.BenchmarkRunSpec) ([]string, error) {
	theirs, err := settingValues(from)
	if err != nil {
		return nil, err
	}
	ours, err := settingValues(to)
	if err != nil {
		return nil, err
	}
	list := changes(theirs, ours)
	if theirs, err = leaves(from); err != nil {
		return nil, err
	}
	if ours, err = leaves(to); err != nil {
		return nil, err
	}
	return append(list, changes(theirs, ours)...), nil
}

// changes are the names that have another value, in order.
func changes(from, to map[string]string) []string {
	all := maps.Clone(from)
	maps.Copy(all, to)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, before := from[name]
		b, after := to[name]
		if before == after && a == b {
			continue
		}
		if !before {
			a = unset
		}
		if !after {
			b = unset
		}
		list = append(list, fmt.Sprintf("%s (%s → %s)", name, a, b))
	}
	return list
}

// Unasked are the variables that differ from one server to another although no setting asks for it, as "name (theirs → ours)",
// and how many variables are the same. State and identity of a server are left out.
func Unasked(from, to *v1alpha1.BenchmarkRunSpec, theirs, ours map[string]string) (list []string, same int, err error) {
	e, err := engine.ByName(string(to.Database.Engine))
	if err != nil {
		return nil, 0, err
	}
	asked := map[string]bool{}
	for _, spec := range []*v1alpha1.BenchmarkRunSpec{from, to} {
		for _, s := range Settings(e, &spec.Database) {
			asked[s.Name], asked[e.Variables.Synonyms[s.Name]] = true, true
		}
	}
	skip := func(name, _ string) bool { return asked[name] || e.Variables.IsState(name) }
	theirs, ours = maps.Clone(theirs), maps.Clone(ours)
	maps.DeleteFunc(theirs, skip)
	maps.DeleteFunc(ours, skip)
	for name, value := range ours {
		if other, found := theirs[name]; found && other == value {
			same++
		}
	}
	return changes(theirs, ours), same, nil
}

// settingValues are the server settings that a specification asks for.
func settingValues(spec *v1alpha1.BenchmarkRunSpec) (map[string]string, error) {
	e, err := engine.ByName(string(spec.Database.Engine))
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, s := range Settings(e, &spec.Database) {
		values[s.Name] = s.Value
	}
	return values, nil
}

// leaves are all other values of a specification, by their paths. The seed is not among them: it belongs to the round.
func leaves(spec *v1alpha1.BenchmarkRunSpec) (map[string]string, error) {
	rest := spec.DeepCopy()
	rest.Database.Settings, rest.Database.Variables, rest.Seed = v1alpha1.ServerSettings{}, nil, nil
	text, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	values := map[string]string{}
	return values, flatten(values, "", text)
}

func flatten(into map[string]string, path string, value json.RawMessage) error {
	if !isObject(value) {
		into[path] = strings.Trim(string(value), `"`)
		return nil
	}
	return eachField(value, func(name string, content json.RawMessage) error {
		return flatten(into, strings.TrimPrefix(path+"."+name, "."), content)
	})
}
