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

// requestedPlots draws the plots that a specification asks for.
type requestedPlots struct {
	// variants of the comparison; one without a name in a run.
	variants []string
	// points of a variant, with their values of a metric; none if the metric was not measured.
	points func(variant, metric string) []stats.Point
	// metrics are the names of those that were measured.
	metrics []string
}

func plotsOfRun(r *report.Report) *requestedPlots {
	metrics, _ := r.Columns()
	return &requestedPlots{
		variants: []string{""}, metrics: append(metrics, result.DurationMetric),
		points: func(_, metric string) []stats.Point {
			if metric == "" {
				return r.Measured()
			}
			var list []stats.Point
			for _, p := range r.Measured() {
				list = append(list, stats.Point{Parameters: p.Parameters})
				inMetric(&list[len(list)-1], p.Records, metric)
			}
			return list
		},
	}
}

// inMetric sets the values of a point, and their summary.
func inMetric(p *stats.Point, records []*result.Record, metric string) {
	for _, record := range records {
		if m, found := record.Summary.Metric(metric); found {
			p.Metric = m
			p.Values = append(p.Values, m.Value)
		}
	}
	p.Summary = stats.Summarize(p.Values)
}

func plotsOfComparison(s *report.Comparison) *requestedPlots {
	a := &requestedPlots{points: func(variant, metric string) []stats.Point { return measured(s, variant, metric) }}
	for _, v := range s.Variants {
		a.variants = append(a.variants, v.Name)
	}
	for i := range s.Runs {
		names := []string{s.Runs[i].Metric}
		for _, other := range s.Runs[i].Others {
			names = append(names, other.Metric)
		}
		for _, name := range names {
			if name != "" && !slices.Contains(a.metrics, name) {
				a.metrics = append(a.metrics, name)
			}
		}
	}
	return a
}

// draw the plots, under exactly their names. Those of which nothing was measured are left out with a remark.
func (a *requestedPlots) draw(wanted []presentation.Curve) (drawn []Drawing, remarks []string) {
	for i := range wanted {
		c := &wanted[i]
		p := a.curve(c)
		switch {
		case p != nil:
			drawn = append(drawn, Drawing{c.Name, p})
		case c.Metric != "" && !slices.Contains(a.metrics, c.Metric):
			remarks = append(remarks, fmt.Sprintf("The plot %s is left out: no metric named %s was measured. There are: %s.", c.Name,
				c.Metric, cmp.Or(list(a.metrics), "none")))
		default:
			remarks = append(remarks, fmt.Sprintf("The plot %s is left out: nothing was measured at its points.", c.Name))
		}
	}
	return drawn, remarks
}

// curve that is asked for; nil if nothing was measured of it.
func (a *requestedPlots) curve(c *presentation.Curve) *plot.Plot {
	along := sweep{along: c.Against}
	if c.Lines != "" {
		along.others = []string{c.Lines}
	}
	var lines []plot.Series
	var metric result.Metric
	for _, variant := range a.variants {
		points := slices.DeleteFunc(a.points(variant, c.Metric), func(p stats.Point) bool {
			_, has := p.Parameters[c.Against]
			return p.Summary.N == 0 || !has || !c.Among.Names(&claims.Series{Variant: variant, Parameters: p.Parameters})
		})
		if len(points) == 0 {
			continue
		}
		metric = points[0].Metric
		inOrder(points, c.Lines)
		for _, line := range along.group(points) {
			if c.Among.Variant == "" && variant != "" {
				line.Name = listed(variant, line.Name)
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	few := spread(lines, plot.MaxLines)
	title := cmp.Or(c.Title, fmt.Sprintf("%s against %s", metric.Name, c.Against)) + ofAll(len(few), len(lines), "lines")
	return plot.Curve(title, c.Against, metric.Unit, few)
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

// addTables adds the tables that a specification asks for, with remarks about what they lack.
func (f *frame) addTables(tables []report.RequestedTable, err error) error {
	if err != nil {
		return err
	}
	for i := range tables {
		requested := &tables[i]
		if words := requested.Remark(); words != "" {
			f.TableRemarks = append(f.TableRemarks, words)
		}
		if len(requested.Rows) > 1 {
			f.Tables = append(f.Tables, requestedTable(requested))
		}
	}
	return nil
}

// requestedTable has numbers to the right of its labels.
func requestedTable(of *report.RequestedTable) *table {
	t := &table{Name: of.Title, Sorted: len(of.Rows) > 3}
	for i, name := range of.Rows[0] {
		t.Head = append(t.Head, head{Text: name, Number: i >= of.Labels})
	}
	for _, texts := range of.Rows[1:] {
		var cells []cell
		for i, text := range texts {
			c := setting(text)
			c.Number = c.Number || i >= of.Labels
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}
