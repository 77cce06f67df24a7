// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package presentation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// space is what points are told apart by.
type space []claims.Series

// variants in their order; none in a run.
func (s space) variants() []string {
	var names []string
	for i := range s {
		if v := s[i].Variant; v != "" && !slices.Contains(names, v) {
			names = append(names, v)
		}
	}
	return names
}

// parameters are the names of those that are swept.
func (s space) parameters() []string {
	names := map[string]bool{}
	for i := range s {
		for name := range s[i].Parameters {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// values of a parameter, in the order of the points.
func (s space) values(parameter string) []string {
	var list []string
	for i := range s {
		if v, has := s[i].Parameters[parameter]; has && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// has says whether a parameter, which a field names, is swept.
func (s space) has(field, parameter string) error {
	names := s.parameters()
	switch {
	case slices.Contains(names, parameter):
		return nil
	case len(names) == 0:
		return fmt.Errorf("%s: %s is not swept: nothing is", field, parameter)
	}
	return fmt.Errorf("%s: %s is not swept; use one of %s", field, parameter, some(names))
}

// admits says whether a selector names what there is.
func (s space) admits(of claims.Selector) error {
	if variants := s.variants(); of.Variant != "" && !slices.Contains(variants, of.Variant) {
		if len(variants) == 0 {
			return errors.New("a run has no variants")
		}
		return fmt.Errorf("there is no variant %s; use one of %s", of.Variant, some(variants))
	}
	for _, name := range slices.Sorted(maps.Keys(of.Parameters)) {
		if err := s.has("parameters", name); err != nil {
			return err
		}
		one := claims.Selector{Parameters: map[string]string{name: of.Parameters[name]}}
		if !slices.ContainsFunc(s, func(p claims.Series) bool { return one.Names(&p) }) {
			return fmt.Errorf("no point has %s; %s is one of %s", one, name, some(s.values(name)))
		}
	}
	return nil
}

// maxNamed is how many things a message names.
const maxNamed = 12

// some of several things, as a list.
func some(list []string) string {
	if more := len(list) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), more)
	}
	return strings.Join(list, ", ")
}
