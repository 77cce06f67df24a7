// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// metricsOf a report.
func metricsOf(r *report.Report) []string {
	if !r.HasVariants() {
		names, _ := r.Columns()
		return append(names, result.DurationMetric)
	}
	var names []string
	for i := range r.Runs {
		names = append(names, r.Runs[i].Metric)
		for _, other := range r.Runs[i].Others {
			names = append(names, other.Metric)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// drawRequested draws the plots that a file asks for, under exactly their names. Those of which nothing was measured are left out
// with a remark, which lists the metrics if that is the reason.
func drawRequested(r *report.Report) (drawn []Drawing, remarks []string) {
	metrics := metricsOf(r)
	for i := range r.Requested.Plots {
		c := &r.Requested.Plots[i]
		p := curve(c, r.Plotted(c))
		switch {
		case p != nil:
			drawn = append(drawn, Drawing{c.Name, p})
		case c.Metric != "" && !slices.Contains(metrics, c.Metric):
			remarks = append(remarks, fmt.Sprintf("The plot %s is left out: no metric named %s was measured. There are: %s.", c.Name,
				c.Metric, cmp.Or(list(metrics), "none")))
		default:
			remarks = append(remarks, fmt.Sprintf("The plot %s is left out: nothing was measured at its points.", c.Name))
		}
	}
	return drawn, remarks
}

// curve of these points, with lines for each variant unless it names one; nil if there are none.
func curve(c *presentation.Curve, measured []claims.Series) *plot.Plot {
	if len(measured) == 0 {
		return nil
	}
	along := sweep{along: c.Against}
	if c.Lines != "" {
		along.others = []string{c.Lines}
	}
	var lines []plot.Series
	metric := measured[0].Metric
	for len(measured) > 0 {
		variant, n := measured[0].Variant, 1
		for n < len(measured) && measured[n].Variant == variant {
			n++
		}
		points := pointsOf(measured[:n])
		measured = measured[n:]
		inOrder(points, c.Lines)
		for _, line := range along.group(points) {
			if c.Among.Variant == "" {
				line.Name = listed(variant, line.Name)
			}
			lines = append(lines, line)
		}
	}
	few := spread(lines, plot.MaxLines)
	title := cmp.Or(c.Title, fmt.Sprintf("%s against %s", metric.Name, c.Against)) + ofAll(len(few), len(lines), "lines")
	return plot.Curve(title, c.Against, metric.Unit, few)
}

func pointsOf(measured []claims.Series) (list []stats.Point) {
	for _, s := range measured {
		p := stats.Point{Parameters: s.Parameters, Metric: s.Metric, Values: s.Values, Summary: stats.Summarize(s.Values)}
		list = append(list, p)
	}
	return list
}

// listed are two names with a comma between them, unless one is empty.
func listed(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// inOrder sorts points by the value of a parameter, if all values are numbers.
func inOrder(points []stats.Point, parameter string) {
	if _, numeric := plot.Numbers(valuesOf(parameter, parametersOf(points))); !numeric {
		return
	}
	slices.SortStableFunc(points, func(a, b stats.Point) int {
		values, _ := plot.Numbers([]string{a.Parameters[parameter], b.Parameters[parameter]})
		return cmp.Compare(values[0], values[1])
	})
}

// addTables adds the tables that a file asks for, with remarks about what they lack.
func (v *view) addTables(tables []report.RequestedTable) {
	for i := range tables {
		requested := &tables[i]
		if words := requested.Remark(); words != "" {
			v.TableRemarks = append(v.TableRemarks, words)
		}
		if len(requested.Rows) > 1 {
			v.Tables = append(v.Tables, requestedTable(requested))
		}
	}
}

// requestedTable has numbers to the right of its labels.
func requestedTable(of *report.RequestedTable) *report.Table {
	t := &report.Table{Name: of.Title, Sorted: len(of.Rows) > 3}
	for i, name := range of.Rows[0] {
		t.Head = append(t.Head, report.Column{Text: name, Number: i >= of.Labels})
	}
	for _, texts := range of.Rows[1:] {
		var cells []report.Cell
		for i, text := range texts {
			c := report.Setting(text)
			c.Number = c.Number || i >= of.Labels
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}
