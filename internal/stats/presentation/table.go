// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package presentation

import (
	"errors"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Table of several metrics at points.
type Table struct {
	Name, Title string
	Metrics     []string
	Among       claims.Selector
	Published   []Figure
}

// Figure is a published value.
type Figure struct {
	// Of names the one point; an empty one is the only one that there is.
	Of claims.Selector
	// Metric of the value; empty is the first of the table.
	Metric string
	Value  float64
}

// Check says what is wrong with a table of some points, whose values are not needed.
func (t *Table) Check(points []claims.Series) error {
	if err := t.check(points); err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	return nil
}

func (t *Table) check(points []claims.Series) error {
	all := space(points)
	if err := all.admits(t.Among); err != nil {
		return fmt.Errorf("among: %w", err)
	}
	chosen := t.Of(points)
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
func (t *Table) checkFigure(f *Figure, all space, chosen []claims.Series) error {
	if f.Metric != "" && !slices.Contains(t.Metrics, f.Metric) {
		return fmt.Errorf("the table has no metric %s; it has %s", f.Metric, some(t.Metrics))
	}
	if err := all.admits(f.Of); err != nil {
		return fmt.Errorf("of: %w", err)
	}
	var named []claims.Series
	for i := range chosen {
		if f.Of.Names(&chosen[i]) {
			named = append(named, chosen[i])
		}
	}
	switch {
	case len(named) == 0:
		return fmt.Errorf("of: %s names no point of the table", f.Of)
	case len(named) > 1 && f.Of.Variant == "" && len(f.Of.Parameters) == 0:
		return errors.New("of is missing: the table has several points")
	case len(named) > 1:
		return fmt.Errorf("of: %s names %d points of the table, but must name exactly one: %s and %s among them", f.Of, len(named),
			pointName(&named[0]), pointName(&named[1]))
	}
	return nil
}

// Of points those that the table has.
func (t *Table) Of(points []claims.Series) []claims.Series {
	return among(t.Among, points)
}

// PublishedAt is the figure of a metric at a point; false if there is none.
func (t *Table) PublishedAt(metric string, point *claims.Series) (float64, bool) {
	for i := range t.Published {
		f := &t.Published[i]
		if (f.Metric == metric || f.Metric == "" && metric == t.Metrics[0]) && f.Of.Names(point) {
			return f.Value, true
		}
	}
	return 0, false
}

// among points those that a selector names.
func among(of claims.Selector, points []claims.Series) []claims.Series {
	var named []claims.Series
	for i := range points {
		if of.Names(&points[i]) {
			named = append(named, points[i])
		}
	}
	return named
}
