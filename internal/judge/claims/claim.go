// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claims judges statements about numbers, by the numbers: that one point is so many times another, that a point is the
// best, that values only grow, that two do not differ. An answer is given only if the interval of the ratio gives it.
package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Selector names points: those of the variant and with the values of parameters that it has. An empty one names all.
type Selector struct {
	Variant    string            `json:"variant,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Names says whether the selector names a series.
func (s Selector) Names(of *stats.Point) bool {
	if s.Variant != "" && s.Variant != of.Variant {
		return false
	}
	for name, value := range s.Parameters {
		if have, known := of.Parameters[name]; !known || have != value && !sameNumber(have, value) {
			return false
		}
	}
	return true
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// String is the selector as people read it.
func (s Selector) String() string {
	if s.Variant == "" && len(s.Parameters) == 0 {
		return "everything"
	}
	return (&stats.Point{Variant: s.Variant, Parameters: s.Parameters}).Name()
}

// All series that the selector names.
func (s Selector) All(list []stats.Point) []*stats.Point {
	var named []*stats.Point
	for i := range list {
		if s.Names(&list[i]) {
			named = append(named, &list[i])
		}
	}
	return named
}

// One series that the selector names. None and several are errors.
func (s Selector) One(list []stats.Point) (*stats.Point, error) {
	named := s.All(list)
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return nil, fmt.Errorf("%s names no point", s)
	}
	return nil, fmt.Errorf("%s names %d points but must name exactly one: %s and %s are among them", s, len(named),
		named[0].Name(), named[1].Name())
}

func selector(s v1alpha1.PointSelector) Selector {
	parameters := map[string]string{}
	for name, value := range s.Parameters {
		parameters[name] = value.String()
	}
	return Selector{Variant: s.Variant, Parameters: parameters}
}

// number is 0 if there is none; the API server has checked its form.
func number(n v1alpha1.ClaimedNumber) float64 {
	v, _ := strconv.ParseFloat(string(n), 64)
	return v
}

// Variants are those that a claim names; none, if it is about all of them.
func Variants(c *v1alpha1.Claim) []string {
	var list []string
	add := func(all ...v1alpha1.PointSelector) {
		for _, s := range all {
			list = stats.AppendNew(list, s.Variant)
		}
	}
	switch {
	case c.Value != nil:
		add(c.Value.Of)
	case c.Ratio != nil:
		add(c.Ratio.Of, c.Ratio.To)
	case c.BestAt != nil:
		add(c.BestAt.Among)
	case c.Monotonic != nil:
		add(c.Monotonic.Among)
	}
	return list
}

// Check says what is wrong with claims about some points, whose values are not needed.
func Check(list v1alpha1.Claims, points []stats.Point) error {
	for i := range list {
		c := &list[i]
		if _, err := subjectOf(c, points); err != nil {
			return fmt.Errorf("claim %s: %w", c.Name, err)
		}
		for _, f := range c.Published {
			if _, err := selector(f.Of).One(points); err != nil {
				return fmt.Errorf("claim %s: published: %w", c.Name, err)
			}
		}
	}
	return nil
}

// subject of a claim: the series that it is about.
type subject struct {
	// of and to are those of a ratio; a value is a ratio to one.
	of, to *stats.Point
	// in are those that the best is said to be one of, out the others.
	in, out []*stats.Point
	// steps are the series by the value of the parameter.
	steps []*stats.Point
}

// name of a series, without what all series of the subject have in common.
func (s *subject) name(one *stats.Point) string {
	short := stats.Point{Parameters: map[string]string{}}
	all := slices.Concat(s.in, s.out, s.steps)
	if s.of != nil {
		all = append(all, s.of, s.to)
	}
	for name, value := range one.Parameters {
		if slices.ContainsFunc(all, func(other *stats.Point) bool { return other.Parameters[name] != value }) {
			short.Parameters[name] = value
		}
	}
	if slices.ContainsFunc(all, func(other *stats.Point) bool { return other.Variant != one.Variant }) {
		short.Variant = one.Variant
	}
	return short.Name()
}

func subjectOf(c *v1alpha1.Claim, list []stats.Point) (s subject, err error) {
	switch {
	case c.Value != nil:
		if s, err = pairOf(c.Value.Of, c.Value.Of, list, true); err == nil {
			s.to = ones(s.of)
		}
		return s, err
	case c.Ratio != nil:
		return pairOf(c.Ratio.Of, c.Ratio.To, list, c.Ratio.ToMetric != "")
	case c.BestAt != nil:
		at, among := selector(c.BestAt.At), selector(c.BestAt.Among)
		for _, one := range among.All(list) {
			if at.Names(one) {
				s.in = append(s.in, one)
			} else {
				s.out = append(s.out, one)
			}
		}
		switch {
		case len(s.in) == 0:
			return s, fmt.Errorf("bestAt: %s names no point of %s", at, among)
		case len(s.out) == 0:
			return s, fmt.Errorf("bestAt: %s names every point of %s: no point is left to compare with", at, among)
		}
		return s, nil
	}
	s.steps, err = stepsOf(c.Monotonic, list)
	return s, err
}

func ones(of *stats.Point) *stats.Point {
	return &stats.Point{Variant: of.Variant, Parameters: of.Parameters, Values: slices.Repeat([]float64{1}, len(of.Values))}
}

// pairOf are the two points that selectors name. They may be the same if two metrics of them are compared.
func pairOf(of, to v1alpha1.PointSelector, list []stats.Point, same bool) (s subject, err error) {
	if s.of, err = selector(of).One(list); err != nil {
		return s, fmt.Errorf("of: %w", err)
	}
	if s.to, err = selector(to).One(list); err != nil {
		return s, fmt.Errorf("to: %w", err)
	}
	if s.of == s.to && !same {
		return s, fmt.Errorf("of and to name the same point, %s", s.of.Name())
	}
	return s, nil
}

// stepsOf are the series by the value of the parameter. They differ in nothing else.
func stepsOf(m *v1alpha1.MonotonicClaim, list []stats.Point) ([]*stats.Point, error) {
	among := selector(m.Among)
	named := among.All(list)
	values := map[*stats.Point]float64{}
	for _, s := range named {
		text, known := s.Parameters[m.Parameter]
		if !known {
			return nil, fmt.Errorf("monotonic: %s has no parameter %s", s.Name(), m.Parameter)
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("monotonic: %s=%s is not a number", m.Parameter, text)
		}
		values[s] = value
		if without(s, m.Parameter) != without(named[0], m.Parameter) {
			return nil, fmt.Errorf("monotonic: %s and %s differ in more than %s: fix the other parameters in among", named[0].Name(),
				s.Name(), m.Parameter)
		}
	}
	const fewest = 3
	if len(named) < fewest {
		return nil, fmt.Errorf("monotonic: %s names %d points, but an order takes at least %d", among, len(named), fewest)
	}
	slices.SortFunc(named, func(a, b *stats.Point) int { return cmp.Compare(values[a], values[b]) })
	return named, nil
}

// without is the name of a point without a parameter.
func without(p *stats.Point, parameter string) string {
	rest := stats.Point{Variant: p.Variant, Parameters: maps.Clone(p.Parameters)}
	delete(rest.Parameters, parameter)
	return rest.Name()
}

// published judges a claim about a metric by its published figures. They are taken as exact: how they scatter is unknown. With
// only some of those that the claim compares they cannot say.
func (g judge) published(metric string) (verdict Verdict, detail string) {
	exactly := func(of, to []float64, _ float64) (stats.Ratio, string) {
		ratio := of[0] / to[0]
		return stats.Ratio{Value: ratio, Low: ratio, High: ratio}, ""
	}
	by := judge{claim: g.claim, claims: 1, interval: exactly, lower: g.lower, exact: true}
	var missing string
	add := func(list []*stats.Point, metrics ...string) (known []*stats.Point) {
		for i, s := range list {
			if v := figureOf(g.claim, s, metrics[min(i, len(metrics)-1)], metric); v > 0 {
				known = append(known, &stats.Point{Variant: s.Variant, Parameters: s.Parameters, Metric: s.Metric, Values: []float64{v}})
			} else if missing == "" {
				missing = g.name(s)
			}
		}
		return known
	}
	by.in, by.out, by.steps = add(g.in, metric), add(g.out, metric), add(g.steps, metric)
	complete := g.in != nil && by.in != nil && by.out != nil || missing == ""
	switch {
	case g.claim.Value != nil:
		one := add([]*stats.Point{g.of}, metric)
		if complete = len(one) == 1; complete {
			by.of, by.to = one[0], ones(one[0])
		}
	case g.claim.Ratio != nil:
		two := add([]*stats.Point{g.of, g.to}, metric, cmp.Or(g.claim.Ratio.ToMetric, metric))
		if complete = len(two) == 2; complete {
			by.of, by.to = two[0], two[1]
		}
	}
	if !complete && (missing == "" || g.in != nil) {
		return CannotSay, "too few figures"
	} else if !complete {
		return CannotSay, "no figure of " + missing
	}
	verdict, detail, _ = by.judge()
	return verdict, detail
}

// figureOf a series is the value that was published of a metric, beside the metric that the claim is about; 0 if there is none.
func figureOf(c *v1alpha1.Claim, of *stats.Point, metric, claimed string) float64 {
	for _, f := range c.Published {
		if selector(f.Of).Names(of) && cmp.Or(f.Metric, claimed) == metric {
			return number(f.Value)
		}
	}
	return 0
}
