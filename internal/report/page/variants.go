// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
)

// addVariants adds what the page shows of a run with variants.
func (v *view) addVariants(r *report.Report) {
	v.Warnings = r.AllWarnings()
	v.Stopped = fmt.Sprintf("%d of at most %d rounds, %s: %s.", r.Rounds, r.Planned, r.Paired(), strings.TrimSuffix(r.Message, "."))
	if r.Outcome == "Failed" {
		v.Stopped = fmt.Sprintf("%d of at most %d rounds were measured.", r.Rounds, r.Planned)
	}
	v.About = fmt.Sprintf("%s, %d variants, seed %d%s.", r.Workload, len(r.Variants), r.Seed, startedText(r))
	// With one variant or one point, the table of the pairs says the same.
	if m := r.MatrixTable(); m != nil && len(r.Variants) > 2 && len(m.Rows) > 1 {
		v.Matrix = m
	}
}

// maxRounds is how many pairs are shown round by round, and maxFacets how many plots the variants have side by side.
const maxRounds, maxFacets = 6, 4

// drawPairs draws the pairs of a run with variants, and what these measured.
func (v *drawings) drawPairs(r *report.Report, d *Details) {
	pairs := report.ChangedFirst(r.Pairs)
	shown := r.Pairs
	if len(shown) > plot.MaxRatios {
		shown = pairs
	}
	shown = slices.Concat(r.Overall, shown)
	name := report.PairName
	if !slices.ContainsFunc(shown, func(p stats.Paired) bool {
		return p.Variant != shown[0].Variant || report.PlaceName(&p) == ""
	}) {
		name = report.PlaceName
	}
	title := "Ratios" + ofAll(min(len(shown), plot.MaxRatios), len(shown), "pairs")
	v.Ratios = with(nil, plot.Ratios(title, shown, name), "ratios")
	for _, p := range pairs[:min(len(pairs), maxRounds)] {
		rounds := plot.Rounds(report.PairName(&p), &p)
		v.Rounds = with(v.Rounds, rounds, "rounds", "variant="+p.Variant, dotted(stats.Label(p.Parameters)))
	}
	v.Curves = sideBySide(r)
	if len(pairs) == 0 {
		return
	}
	// What takes time is shown where the difference is the largest.
	var all []chosen
	var operations []string
	for _, variant := range spread(r.Variants, plot.MaxSeries) {
		one := chosen{variant.Name, d.variants[variant.Name], stats.Point{Parameters: pairs[0].Parameters}}
		if of := one.details(); of != nil {
			operations = append(operations, slices.Sorted(maps.Keys(of.latencies))...)
		}
		all = append(all, one)
	}
	at := pairs[0].Parameters
	v.Curves = append(v.Curves, overTime(all, at, "of the first run of each variant")...)
	v.Curves = append(v.Curves, percentiles(all, operations, at, "in all rounds together")...)
}

// sideBySide shows the variants on one axis, a plot for each combination of the parameters that are not on it.
func sideBySide(r *report.Report) []Drawing {
	parameters := r.Parameters()
	if len(parameters) == 0 {
		return with(nil, variantsOnly(r), "against_variant")
	}
	var facets []string
	series := map[string][]plot.Series{}
	var along, unit, metric string
	for _, variant := range r.Variants {
		points := r.Series(claims.Selector{Variant: variant.Name}, "")
		if len(points) == 0 {
			continue
		}
		sw := sweepOf(parameters, stats.ParametersOf(points))
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
		drawn = with(drawn, p, dotted(facet), "against_"+along)
	}
	return drawn
}

// variantsOnly shows variants that are compared at one point.
func variantsOnly(r *report.Report) *plot.Plot {
	var line plot.Series
	metric, unit := "", ""
	for _, of := range r.Series(claims.Selector{}, "") {
		metric, unit = of.Metric.Name, of.Metric.Unit
		of.Parameters = map[string]string{"variant": of.Variant}
		line.Points = append(line.Points, of)
	}
	return plot.Curve(metric+" of each variant", "variant", unit, []plot.Series{line})
}
