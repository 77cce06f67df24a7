// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// maxRounds is how many pairs are shown round by round, and maxFacets how many plots the variants have side by side.
const maxRounds, maxFacets = 6, 4

// addPairs draws the pairs of a run with variants, and what these measured.
func (v *drawings) addPairs(r *report.Report, d *Details) {
	pairs := changedFirst(r.Pairs)
	shown := r.Pairs
	if len(shown) > plot.MaxRatios {
		shown = pairs
	}
	shown = slices.Concat(r.Overall, shown)
	name := pairName
	if !slices.ContainsFunc(shown, func(p stats.Paired) bool { return p.Variant != shown[0].Variant || placeName(&p) == "" }) {
		name = placeName
	}
	title := "Ratios" + ofAll(min(len(shown), plot.MaxRatios), len(shown), "pairs")
	v.ratios = with(nil, plot.Ratios(title, shown, name), "ratios")
	for i := range pairs[:min(len(pairs), maxRounds)] {
		p := &pairs[i]
		v.rounds = with(v.rounds, plot.Rounds(pairName(p), p), "rounds", "variant="+p.Variant, dotted(stats.Label(p.Parameters)))
	}
	v.curves = slices.Concat(sideBySide(r), variantsOverTime(r, pairs, d), latenciesOfVariants(r, pairs, d))
}

// sideBySide shows the variants on one axis, a plot for each combination of the parameters that are not on it.
func sideBySide(r *report.Report) []Drawing {
	parameters := r.Parameters()
	if len(parameters) == 0 {
		return with(nil, variantsOnly(r), against("variant"))
	}
	var facets []string
	series := map[string][]plot.Series{}
	var along, unit, metric string
	for _, variant := range r.Variants {
		points := measured(r, variant.Name)
		if len(points) == 0 {
			continue
		}
		sw := sweepOf(parameters, parametersOf(points))
		along, unit, metric = sw.along, points[0].Metric.Unit, points[0].Metric.Name
		for _, line := range sw.group(points) {
			if series[line.Name] == nil {
				facets = append(facets, line.Name)
			}
			series[line.Name] = append(series[line.Name], plot.Series{Name: variant.Name, Points: line.Points})
		}
	}
	var drawn []Drawing
	for _, facet := range spread(facets, maxFacets) {
		title := fmt.Sprintf("%s against %s", metric, along)
		if facet != "" {
			title += ", " + facet
		}
		p := plot.Curve(title, along, unit, spread(series[facet], plot.MaxSeries))
		drawn = with(drawn, p, dotted(facet), against(along))
	}
	return drawn
}

// variantsOnly shows variants that are compared at one point.
func variantsOnly(r *report.Report) *plot.Plot {
	var line plot.Series
	metric, unit := "", ""
	for _, of := range r.Plotted(new(presentation.Curve)) {
		metric, unit = of.Metric.Name, of.Metric.Unit
		line.Points = append(line.Points, plot.Point{At: of.Variant, Values: of.Values, Summary: stats.Summarize(of.Values)})
	}
	return plot.Curve(metric+" of each variant", "variant", unit, []plot.Series{line})
}

// variantsOverTime shows the course of the measured phase where the difference is the largest.
func variantsOverTime(r *report.Report, pairs []stats.Paired, d *Details) []Drawing {
	if len(pairs) == 0 {
		return nil
	}
	at := pairs[0].Parameters
	var series []timed
	for _, variant := range spread(r.Variants, plot.MaxSeries) {
		series = append(series, d.variant(variant.Name).timed(variant.Name, at))
	}
	return overTime(series, stats.Label(at), "of the first run of each variant")
}

// latenciesOfVariants shows the distributions where the difference is the largest.
func latenciesOfVariants(r *report.Report, pairs []stats.Paired, d *Details) []Drawing {
	if d == nil || len(pairs) == 0 {
		return nil
	}
	at := pairs[0].Parameters
	var operations []string
	lines := map[string][]plot.Line{}
	for _, variant := range spread(r.Variants, plot.MaxSeries) {
		of := d.variant(variant.Name).of(at)
		if of == nil {
			continue
		}
		for _, op := range slices.Sorted(maps.Keys(of.latencies)) {
			h := histogram(chosen{Point: stats.Point{Parameters: at}}, op, d.variant(variant.Name))
			if h == nil {
				continue
			}
			if lines[op] == nil {
				operations = append(operations, op)
			}
			lines[op] = append(lines[op], plot.Line{Name: variant.Name, Points: distribution(h)})
		}
	}
	var drawn []Drawing
	for _, op := range operations {
		title := "Latency of " + op
		if len(at) > 0 {
			title += " at " + stats.Label(at)
		}
		p := plot.Percentiles(title, "The share of operations that took at most this long, in all rounds together.", lines[op])
		drawn = with(drawn, p, dotted(stats.Label(at)), "latency", op)
	}
	return drawn
}

// matrix of a run with several points and, besides the baseline, several variants: a row for each point, a column for each
// variant, with the ratios to the baseline. Nil of another run, whose table of pairs says the same.
func matrix(r *report.Report) *table {
	m := r.Matrix()
	if m == nil || len(m.Variants) < 2 || len(m.Rows) < 2 {
		return nil
	}
	t := &table{
		Name: "Ratios to " + m.Baseline, Sorted: true,
		Head: slices.Concat(parameterHeads(m.Parameters, r.Pairs), inUnit(m.Metric.Unit, m.Baseline), numbers(m.Variants...)),
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		var cells []cell
		for n, name := range m.Parameters {
			c := setting(r.Parameters[name])
			if r.All && n == 0 {
				c = words(report.AllPoints)
			}
			cells = append(cells, c)
		}
		cells = append(cells, medianCell(r.Baseline))
		for _, p := range r.Pairs {
			cells = append(cells, matrixCell(p))
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}

// matrixCell is the ratio of a pair. What it is sorted by, its interval, its verdict and what a unit of work cost are behind it.
func matrixCell(p *stats.Paired) cell {
	if p == nil {
		return none()
	}
	ratio, interval := report.PairTexts(p)
	c := cell{Text: ratio, Number: true, Class: strings.ToLower(string(p.Verdict)), Title: report.VerdictWords(p)}
	if ratio == "" {
		c.Text = "?"
		return c
	}
	c.Value = written(p.Ratio)
	c.Title = fmt.Sprintf("%s, %s (rounds: %d)", interval, c.Title, p.Rounds)
	for _, of := range p.Costs {
		c.Title += fmt.Sprintf("\n%s: %s → %s %s", of.Name, stats.Format(of.Baseline), stats.Format(of.Variant), of.Unit)
	}
	return c
}
