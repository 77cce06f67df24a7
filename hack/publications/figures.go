// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// work is how much of it a load does, if it has an end.
type work struct {
	amount float64
	unit   string
}

// millionRows is the unit of loads that are counted in rows.
const millionRows = "million rows"

// workOf a workload; none if it is measured by time.
func workOf(w *v1alpha1.WorkloadSpec) work {
	switch {
	case w.TPROCHLoad != nil:
		factor, _ := strconv.ParseFloat(string(w.TPROCHLoad.ScaleFactor), 64)
		return work{factor, "unit of scale factor"}
	case w.BulkInsert != nil:
		return work{float64(w.BulkInsert.Rows) / 1e6, millionRows}
	case w.IIBench != nil:
		return work{float64(w.IIBench.Rows) / 1e6, millionRows}
	}
	return work{}
}

// estimate is of the whole load, however much of it was done.
const estimate = "estimatedSeconds"

// compared is a table of published figures beside those of here.
type compared struct {
	*reported
	figures []report.Figure
	// by are the labels in which they differ.
	by    []string
	units map[string]string
	// published and here are how much was loaded, if the figures are to be divided by it.
	published, here work
}

// comparedTable is a table of the report with published figures; nil if it has none.
func (r *reported) comparedTable(t *report.RequestedTable) *compared {
	c := &compared{reported: r, by: t.By, units: map[string]string{}}
	withFigures := map[string]bool{}
	for _, f := range t.Figures {
		withFigures[f.Metric] = withFigures[f.Metric] || f.Published > 0
		if f.Unit != "" {
			c.units[f.Metric] = f.Unit
		}
	}
	for _, f := range t.Figures {
		if withFigures[f.Metric] {
			c.figures = append(c.figures, f)
		}
	}
	if len(c.figures) == 0 {
		return nil
	}
	slices.SortStableFunc(c.figures, func(a, b report.Figure) int {
		order := func(metric string) int {
			return slices.IndexFunc(t.Figures, func(f report.Figure) bool { return f.Metric == metric })
		}
		return order(a.Metric) - order(b.Metric)
	})
	published, here := workOf(&r.full.variants[0].spec.Workload), workOf(&r.of.variants[0].spec.Workload)
	if published.amount > 0 && here.amount > 0 && published != here {
		c.published, c.here = published, here
	}
	return c
}

// unit of a metric's figures as they are shown: what grows with the work is of a part of it, so that sizes compare.
func (c *compared) unit(metric string) string {
	if c.perWork(metric) {
		return c.units[metric] + " per " + c.here.unit
	}
	return c.units[metric]
}

func (c *compared) perWork(metric string) bool {
	return c.here.amount > 0 && (c.units[metric] == "s" || c.units[metric] == "bytes")
}

// values of a figure as they are shown; 0 is none.
func (c *compared) values(f *report.Figure) (published, here float64) {
	if f.Trials > 0 {
		here = f.Median
	}
	if !c.perWork(f.Metric) {
		return f.Published, here
	}
	amount := c.here.amount
	if rows := c.rows[stats.Label(f.Parameters)]; rows > 0 && c.here.unit == millionRows && f.Metric != estimate {
		amount = rows / 1e6
	}
	return f.Published / c.published.amount, here / amount
}

// whole is the metric that the others are parts of: the time of all, if there are only times. Empty if there is none.
func (c *compared) whole() string {
	metrics := map[string]bool{}
	for _, f := range c.figures {
		metrics[f.Metric] = true
		if c.units[f.Metric] != "s" {
			return ""
		}
	}
	if len(metrics) < 2 || !metrics[c.headline.Name] {
		return ""
	}
	return c.headline.Name
}

// first figure of the metric that both have; nil if there is none.
func (c *compared) first(f *report.Figure) *report.Figure {
	return c.figure(func(other *report.Figure) bool {
		return other.Metric == f.Metric && other.Published > 0 && other.Trials > 0
	})
}

// wholeOf a figure is the metric that it is a part of, at the same point.
func (c *compared) wholeOf(f *report.Figure) *report.Figure {
	whole := c.whole()
	return c.figure(func(other *report.Figure) bool {
		return other.Metric == whole && other.Variant == f.Variant && stats.Label(other.Parameters) == stats.Label(f.Parameters)
	})
}

func (c *compared) figure(is func(*report.Figure) bool) *report.Figure {
	for i := range c.figures {
		if is(&c.figures[i]) {
			return &c.figures[i]
		}
	}
	return nil
}

// table of where, the published figure and that of here: each with its share of the whole, if there is one, and with how many
// times the first of its metric it is.
func (c *compared) table() string {
	header := slices.Concat([]string{"metric"}, c.by)
	for _, whose := range []string{"published", "here"} {
		header = append(header, whose)
		if whole := c.whole(); whole != "" {
			header = append(header, "of "+whole)
		}
		header = append(header, "× first")
	}
	rows := [][]string{header}
	for i := range c.figures {
		f := &c.figures[i]
		cells := []string{f.Metric + ", " + c.unit(f.Metric)}
		for _, name := range c.by {
			cells = append(cells, plain(f.Label(name)))
		}
		published := func(f *report.Figure) float64 { v, _ := c.values(f); return v }
		here := func(f *report.Figure) float64 { _, v := c.values(f); return v }
		rows = append(rows, slices.Concat(cells, c.cells(f, published), c.cells(f, here)))
	}
	return table(rows)
}

// cells of a figure, by its published value or by that of here.
func (c *compared) cells(f *report.Figure, value func(*report.Figure) float64) []string {
	cells := []string{number(value(f))}
	ratio := func(to *report.Figure, format string, factor float64) string {
		if to == nil || value(to) <= 0 || value(f) <= 0 {
			return ""
		}
		return fmt.Sprintf(format, factor*value(f)/value(to))
	}
	if c.whole() != "" {
		cells = append(cells, ratio(c.wholeOf(f), "%.1f%%", 100))
	}
	return append(cells, ratio(c.first(f), "%.2f", 1))
}

func number(v float64) string {
	if v == 0 {
		return ""
	}
	return stats.Format(v)
}
