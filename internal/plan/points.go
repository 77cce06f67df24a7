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
)

// Point is one combination of swept parameters.
type Point struct {
	// Parameters are the swept ones with their values as text; nil if nothing is swept.
	Parameters map[string]string
	values     []value
	// staged says that one of the parameters is the stage, which is a part of the trial. A workload's own may have that name.
	staged bool
}

// Equal says whether two points have the same parameters with the same values.
func (p Point) Equal(other Point) bool { return maps.Equal(p.Parameters, other.Parameters) }

func indexes(points []Point) map[string]int {
	at := map[string]int{}
	for i, p := range points {
		at[p.key()] = i
	}
	return at
}

func (p Point) key() string {
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		fmt.Fprintf(&key, "%q=%q ", name, p.Parameters[name])
	}
	return key.String()
}

type value struct {
	path path
	json json.RawMessage
}

// path leads to a parameter: a field's name, or the names of a map and of a key in it.
type path []string

func (p path) name() string { return p[len(p)-1] }

func (v value) text() string {
	var s string
	if json.Unmarshal(v.json, &s) == nil {
		return s
	}
	return string(v.json)
}

type axis struct {
	path   path
	values []json.RawMessage
}

// swept are the points of a run in the order of its sweep.
func (m *member) swept(spec *v1alpha1.BenchmarkRunSpec) ([]Point, error) {
	oneFactor := spec.Sweep != nil && spec.Sweep.Mode == v1alpha1.SweepOneFactor
	switch {
	case m.points != nil && oneFactor:
		return nil, fmt.Errorf("sweep.mode OneFactor goes with workload.%s.sweep: points are measured as they are listed", m.name)
	case m.points != nil:
		return m.listed()
	case m.sweep == nil:
		return []Point{{}}, nil
	}
	axes, err := axesOf(m.sweep)
	if err != nil {
		return nil, fmt.Errorf("reading workload.%s.sweep: %w", m.name, err)
	}
	switch {
	case len(axes) == 0:
		return nil, fmt.Errorf("workload.%s.sweep lists no values", m.name)
	case len(axes) > MaxSwept:
		return nil, tooManySwept(len(axes))
	}
	if oneFactor {
		return m.oneFactor(axes)
	}
	return grid(axes)
}

func tooManySwept(n int) error {
	return fmt.Errorf("a sweep varies at most %d parameters, not %d", MaxSwept, n)
}

// grid is every combination of the axes' values.
func grid(axes []axis) ([]Point, error) {
	product := 1
	for _, a := range axes {
		if product *= len(a.values); product > MaxPoints {
			return nil, fmt.Errorf("a sweep has at most %d points: the product of the numbers of values is above that", MaxPoints)
		}
	}
	all := []Point{{}}
	for _, a := range axes {
		var next []Point
		for _, p := range all {
			for _, v := range a.values {
				next = append(next, p.with(value{a.path, v}))
			}
		}
		all = next
	}
	return all, nil
}

func (m *member) oneFactor(axes []axis) ([]Point, error) {
	origin, sum := Point{}, 0
	for _, a := range axes {
		own, found := m.value(a.path)
		if !found {
			return nil, fmt.Errorf("sweep.mode OneFactor varies one parameter around the workload's own values: set workload.%s.%s",
				m.name, strings.Join(a.path, "."))
		}
		origin = origin.with(own)
		sum += len(a.values)
	}
	if sum > MaxPoints {
		return nil, fmt.Errorf("a sweep has at most %d points: the sum of the numbers of values is above that", MaxPoints)
	}
	var all []Point
	for _, a := range axes {
		for _, v := range a.values {
			all = append(all, origin.with(value{a.path, v}))
		}
	}
	return distinct(all), nil
}

// listed are the points of a list. Each names all parameters that any of them varies: those that it leaves out keep the
// workload's own values.
func (m *member) listed() ([]Point, error) {
	var given [][]axis
	swept := map[string]path{}
	for i, item := range m.points {
		axes, err := axesOf(item)
		if err != nil {
			return nil, fmt.Errorf("reading workload.%s.points[%d]: %w", m.name, i, err)
		}
		for _, a := range axes {
			swept[a.path.name()] = a.path
		}
		given = append(given, axes)
	}
	if len(swept) > MaxSwept {
		return nil, tooManySwept(len(swept))
	}
	var all []Point
	for i, axes := range given {
		p := Point{}
		for _, name := range slices.Sorted(maps.Keys(swept)) {
			v, found := m.value(swept[name])
			if k := slices.IndexFunc(axes, func(a axis) bool { return a.path.name() == name }); k >= 0 {
				v, found = value{swept[name], axes[k].values[0]}, true
			}
			if !found {
				return nil, fmt.Errorf("workload.%s.points[%d] leaves out %s, which the workload does not set: set it in one of them",
					m.name, i, name)
			}
			p = p.with(v)
		}
		all = append(all, p)
	}
	return distinct(all), nil
}

func (p Point) with(v value) Point {
	next := Point{Parameters: maps.Clone(p.Parameters), values: slices.Clone(p.values)}
	if next.Parameters == nil {
		next.Parameters = map[string]string{}
	}
	next.Parameters[v.path.name()] = v.text()
	next.values = slices.DeleteFunc(next.values, func(old value) bool { return slices.Equal(old.path, v.path) })
	next.values = append(next.values, v)
	return next
}

// distinct keeps the first of equal points.
func distinct(points []Point) []Point {
	seen := map[string]bool{}
	return slices.DeleteFunc(points, func(p Point) bool {
		found := seen[p.key()]
		seen[p.key()] = true
		return found
	})
}
