// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// sweep is how points are drawn: against one parameter, a line for each combination of the others.
type sweep struct {
	along  string
	others []string
}

// sweepOf points: along the parameter with the most values, of those that are numbers if there are any.
func sweepOf(parameters []string, points []map[string]string) sweep {
	best, most := "", -1
	for _, name := range parameters {
		values := valuesOf(name, points)
		n := len(values)
		if _, numeric := plot.Numbers(values); numeric {
			n += len(points) // any parameter of numbers comes before all others
		}
		if n > most {
			best, most = name, n
		}
	}
	return sweep{best, slices.DeleteFunc(slices.Clone(parameters), func(n string) bool { return n == best })}
}

// valuesOf a parameter, each once, in the order of the points.
func valuesOf(name string, points []map[string]string) []string {
	var values []string
	seen := map[string]bool{}
	for _, p := range points {
		if v, has := p[name]; has && !seen[v] {
			seen[v] = true
			values = append(values, v)
		}
	}
	return values
}

// line is the name of the line that a point is on; empty if there is one line only.
func (s sweep) line(parameters map[string]string) string {
	var parts []string
	for _, name := range s.others {
		parts = append(parts, name+"="+parameters[name])
	}
	return strings.Join(parts, ", ")
}

// group points by their lines, in the order in which these first come; on a line, numbers are in their order.
func (s sweep) group(points []stats.Point) []plot.Series {
	var series []plot.Series
	at := map[string]int{}
	for _, p := range points {
		name := s.line(p.Parameters)
		i, known := at[name]
		if !known {
			i = len(series)
			at[name] = i
			series = append(series, plot.Series{Name: name})
		}
		series[i].Points = append(series[i].Points, plot.Point{At: p.Parameters[s.along], Values: p.Values, Summary: p.Summary})
	}
	for i := range series {
		slices.SortStableFunc(series[i].Points, func(a, b plot.Point) int {
			if values, numeric := plot.Numbers([]string{a.At, b.At}); numeric {
				return cmp.Compare(values[0], values[1])
			}
			return 0
		})
	}
	return series
}

// spread are at most n of several things, from the first to the last.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	var few []T
	for i := range n {
		few = append(few, list[i*(len(list)-1)/(n-1)])
	}
	return few
}

// ofAll says that not all things are shown; empty if they are.
func ofAll(shown, all int, things string) string {
	if shown == all {
		return ""
	}
	return fmt.Sprintf(", %d of %d %s", shown, all, things)
}

// minForHeat is how many values each of two parameters must have for a heat map.
const minForHeat = 3

// heat map of points with two parameters of numbers; nil if there is none to draw.
func heat(parameters []string, points []stats.Point) *plot.Plot {
	if len(parameters) != 2 {
		return nil
	}
	all := parametersOf(points)
	var n [2]int
	for i, name := range parameters {
		values := valuesOf(name, all)
		if _, numeric := plot.Numbers(values); !numeric || len(values) < minForHeat {
			return nil
		}
		n[i] = len(values)
	}
	if 2*len(points) < n[0]*n[1] {
		return nil // more holes than cells
	}
	x, y := parameters[0], parameters[1]
	if n[1] > n[0] {
		x, y = y, x
	}
	var cells []plot.Cell
	for _, p := range points {
		cells = append(cells, plot.Cell{X: p.Parameters[x], Y: p.Parameters[y], Median: p.Summary.Median})
	}
	m := points[0].Metric
	return plot.Heat(fmt.Sprintf("%s by %s and %s", m.Name, x, y), x, y, m.Unit, cells)
}

func parametersOf(points []stats.Point) []map[string]string {
	var all []map[string]string
	for _, p := range points {
		all = append(all, p.Parameters)
	}
	return all
}
