// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package presentation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Curve is a plot of values against a swept parameter.
type Curve struct {
	Name, Title string
	// Against is the parameter on the horizontal axis, Lines the one that has a line for each value; empty is none.
	Against, Lines string
	// Metric that is plotted; empty is the headline metric.
	Metric string
	Among  claims.Selector
}

// Check says what is wrong with a plot of some points, whose values are not needed.
func (c *Curve) Check(points []claims.Series) error {
	if err := c.check(points); err != nil {
		return fmt.Errorf("plot %s: %w", c.Name, err)
	}
	return nil
}

func (c *Curve) check(points []claims.Series) error {
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
	return c.distinct(c.Of(points))
}

// Of points those that are plotted.
func (c *Curve) Of(points []claims.Series) []claims.Series {
	return among(c.Among, points)
}

// distinct says whether each point has a place of its own.
func (c *Curve) distinct(points []claims.Series) error {
	if len(points) == 0 {
		return fmt.Errorf("among: %s names no point", c.Among)
	}
	at := map[string]*claims.Series{}
	for i := range points {
		p := &points[i]
		place := []string{p.Variant}
		for _, name := range []string{c.Against, c.Lines} {
			value, has := p.Parameters[name]
			if !has && name != "" {
				return fmt.Errorf("%s has no parameter %s: name other points in among", pointName(p), name)
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
func (c *Curve) collision(a, b *claims.Series) error {
	names := maps.Clone(a.Parameters)
	maps.Copy(names, b.Parameters)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a.Parameters[name] != b.Parameters[name] {
			return fmt.Errorf("%s and %s would be drawn at the same place: set %s in among, or name it in lines", pointName(a),
				pointName(b), name)
		}
	}
	return fmt.Errorf("%s is listed twice", pointName(a))
}

func pointName(p *claims.Series) string {
	if p.Variant != "" {
		return strings.TrimSpace(p.Variant + " " + stats.Label(p.Parameters))
	}
	return stats.Label(p.Parameters)
}
