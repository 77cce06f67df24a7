// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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

const (
	rateParameter = "ratePerSecond"
	// rateStep is the ratio of a rate that a search may offer to the one below it, at most.
	rateStep = 1.05
)

// capacityPoints are the rates that a search for a capacity may offer, ascending: from the lowest of a sweep to the highest.
func capacityPoints(swept []Point) ([]Point, error) {
	var rates []float64
	for _, p := range swept {
		if rate, err := strconv.ParseFloat(p.Parameters[rateParameter], 64); err == nil && rate > 0 && len(p.Parameters) == 1 {
			rates = append(rates, rate)
		}
	}
	if len(rates) < len(swept) || len(rates) == 0 || slices.Min(rates) == slices.Max(rates) {
		return nil, errors.New("capacity is looked for between two rates: " +
			"sweep ratePerSecond alone, from a rate above 0 to a higher one")
	}
	low, high := slices.Min(rates), slices.Max(rates)
	steps := math.Ceil(math.Log(high/low) / math.Log(rateStep))
	var points []Point
	for i := 0.0; i <= steps; i++ {
		rate := math.Round(low * math.Pow(high/low, i/steps))
		points = append(points, Point{}.with(value{path{rateParameter}, json.RawMessage(strconv.FormatFloat(rate, 'f', -1, 64))}))
	}
	return distinct(points), nil
}

// capacityMetric is what a capacity bounds: what it says or, if it does not, the headline that rates have.
func capacityMetric(spec *v1alpha1.BenchmarkRunSpec, headline string) (string, error) {
	switch asked := spec.Capacity.Metric; {
	case asked != "" && spec.Metric != "" && asked != spec.Metric:
		return "", fmt.Errorf("metric is %s and capacity.metric %s: set one of them, or both to the same", spec.Metric, asked)
	case asked == "" && headline == "":
		return "", errors.New("set capacity.metric: what the highest rate keeps at capacity.atMost or below")
	default:
		return cmp.Or(asked, headline), nil
	}
}

// Search is where the search of a round stands among ascending rates, by their indexes: High is the lowest one that is too high,
// or their number, Low the highest one below it that is not, or -1. Next is the rate to offer next; -1 if Low and High are
// neighbors, and the search has ended.
type Search struct{ Next, Low, High int }

// SearchOf so many rates halves what is left of them with each one that it offers. What it has found so far, measured says of a
// rate: whether it is too high, if it was offered. No search begins with what another has found, so that rounds are independent.
func SearchOf(rates int, measured func(rate int) (tooHigh, known bool)) Search {
	s := Search{Next: -1, Low: -1, High: rates}
	for s.High-s.Low > 1 {
		middle := (s.Low + s.High) / 2
		switch tooHigh, known := measured(middle); {
		case !known:
			s.Next = middle
			return s
		case tooHigh:
			s.High = middle
		default:
			s.Low = middle
		}
	}
	return s
}
