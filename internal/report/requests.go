// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// PlotRequest asks for a plot of values against a swept parameter.
type PlotRequest struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// Against is the parameter on the horizontal axis, Lines the one that has a line for each value; empty is none.
	Against string `json:"against"`
	Lines   string `json:"lines,omitempty"`
	// Metric that is plotted; empty is the headline metric.
	Metric string          `json:"metric,omitempty"`
	Among  claims.Selector `json:"among,omitzero"`
}

// check says what is wrong with a plot of some points, whose values are not needed.
func (c *PlotRequest) check(points []stats.Point) error {
	all := space(points)
	if err := all.has("against", c.Against); err != nil {
		return err
	}
	if c.Lines != "" {
		if err := all.has("lines", c.Lines); err != nil {
			return err
		}
	}
	if err := all.admits(c.Among); err != nil {
		return fmt.Errorf("among: %w", err)
	}
	return c.distinct(c.Among.All(points))
}

// distinct says whether each point has a place of its own.
func (c *PlotRequest) distinct(points []*stats.Point) error {
	if len(points) == 0 {
		return fmt.Errorf("among: %s names no point", c.Among)
	}
	at := map[string]*stats.Point{}
	for _, p := range points {
		place := []string{p.Variant}
		for _, name := range []string{c.Against, c.Lines} {
			value, has := p.Parameters[name]
			if !has && name != "" {
				return fmt.Errorf("%s has no parameter %s: name other points in among", p.Name(), name)
			}
			place = append(place, value)
		}
		key := strings.Join(place, "\x00")
		if at[key] != nil {
			return c.collision(at[key], p)
		}
		at[key] = p
	}
	return nil
}

// collision of two points that would be drawn at one place.
func (c *PlotRequest) collision(a, b *stats.Point) error {
	for _, name := range stats.NamesOf([]map[string]string{a.Parameters, b.Parameters}) {
		if a.Parameters[name] != b.Parameters[name] {
			return fmt.Errorf("%s and %s would be drawn at the same place: set %s in among, or name it in lines", a.Name(), b.Name(), name)
		}
	}
	return fmt.Errorf("%s is listed twice", a.Name())
}

// space is what points are told apart by.
type space []stats.Point

// has says whether a parameter, which a field names, is swept.
func (s space) has(field, parameter string) error {
	names := stats.NamesOf(stats.ParametersOf(s))
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
	var variants []string
	for i := range s {
		variants = stats.AppendNew(variants, s[i].Variant)
	}
	if of.Variant != "" && !slices.Contains(variants, of.Variant) {
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
		if !slices.ContainsFunc(s, func(p stats.Point) bool { return one.Names(&p) }) {
			values := stats.ValuesOf(name, stats.ParametersOf(s))
			return fmt.Errorf("no point has %s; %s is one of %s", one, name, some(values))
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

// TableRequest asks for a table of several metrics at points.
type TableRequest struct {
	Name      string          `json:"name"`
	Title     string          `json:"title,omitempty"`
	Metrics   []string        `json:"metrics"`
	Among     claims.Selector `json:"among,omitzero"`
	Published []Figure        `json:"published,omitempty"`
}

// Figure is a published value.
type Figure struct {
	// Of names the one point; an empty one is the only one that there is.
	Of claims.Selector `json:"of,omitzero"`
	// Metric of the value; empty is the first of the table.
	Metric string `json:"metric,omitempty"`
	// Value with or without quotes.
	Value json.Number `json:"value"`
}

// check says what is wrong with a table of some points, whose values are not needed.
func (t *TableRequest) check(points []stats.Point) error {
	all := space(points)
	if err := all.admits(t.Among); err != nil {
		return fmt.Errorf("among: %w", err)
	}
	chosen := slices.DeleteFunc(slices.Clone(points), func(p stats.Point) bool { return !t.Among.Names(&p) })
	if len(chosen) == 0 {
		return fmt.Errorf("among: %s names no point", t.Among)
	}
	for i := range t.Published {
		if err := t.checkFigure(&t.Published[i], all, chosen); err != nil {
			return fmt.Errorf("published figure %d: %w", i+1, err)
		}
	}
	return nil
}

// checkFigure says whether a figure has one place in the table.
func (t *TableRequest) checkFigure(f *Figure, all space, chosen []stats.Point) error {
	if f.Metric != "" && !slices.Contains(t.Metrics, f.Metric) {
		return fmt.Errorf("the table has no metric %s; it has %s", f.Metric, some(t.Metrics))
	}
	if err := all.admits(f.Of); err != nil {
		return fmt.Errorf("of: %w", err)
	}
	if _, err := f.Of.One(chosen); err != nil {
		return fmt.Errorf("of: %w", err)
	}
	return nil
}

// PublishedAt is the figure of a metric at a point; false if there is none.
func (t *TableRequest) PublishedAt(metric string, point *stats.Point) (float64, bool) {
	for _, f := range t.Published {
		if (f.Metric == metric || f.Metric == "" && metric == t.Metrics[0]) && f.Of.Names(point) {
			value, err := f.Value.Float64()
			return value, err == nil
		}
	}
	return 0, false
}
