// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"maps"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// maxRounds is how many pairs are shown round by round, and maxFacets how many plots the variants have side by side.
const maxRounds, maxFacets = 6, 4

// addPairs draws the pairs of a run with variants, and what these measured.
func (v *drawings) addPairs(r *report.Report, d *Details) {
	pairs := report.ChangedFirst(r.Pairs)
	shown := r.Pairs
	if len(shown) > plot.MaxRatios {
		shown = pairs
	}
	shown = slices.Concat(r.Overall, shown)
	name := report.PairName
	if !slices.ContainsFunc(shown, func(p stats.Paired) bool { return p.Variant != shown[0].Variant || report.PlaceName(&p) == "" }) {
		name = report.PlaceName
	}
	title := "Ratios" + ofAll(min(len(shown), plot.MaxRatios), len(shown), "pairs")
	v.ratios = with(nil, plot.Ratios(title, shown, name), "ratios")
	for i := range pairs[:min(len(pairs), maxRounds)] {
		p := &pairs[i]
		v.rounds = with(v.rounds, plot.Rounds(report.PairName(p), p), "rounds", "variant="+p.Variant, dotted(stats.Label(p.Parameters)))
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
