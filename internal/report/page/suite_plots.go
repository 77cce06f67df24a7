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
)

// maxRounds is how many comparisons are shown round by round, and maxFacets how many plots the variants have side by side.
const maxRounds, maxFacets = 6, 4

// addPlots sets the figures.
func (v *suiteView) addPlots(s *report.Suite, d *SuiteDetails) error {
	pairs := changedFirst(s.Pairs)
	shown := s.Pairs
	if len(shown) > plot.MaxRatios {
		shown = pairs
	}
	name := pairName
	if !slices.ContainsFunc(shown, func(p stats.Paired) bool { return p.Variant != shown[0].Variant || len(p.Parameters) == 0 }) {
		name = func(p *stats.Paired) string { return stats.Label(p.Parameters) }
	}
	var err error
	title := "Ratios" + ofAll(min(len(shown), plot.MaxRatios), len(shown), "comparisons")
	if v.Verdicts, err = figures(plot.Ratios(title, shown, name)); err != nil {
		return err
	}
	var rounds []*plot.Plot
	for i := range pairs[:min(len(pairs), maxRounds)] {
		rounds = append(rounds, plot.Rounds(pairName(&pairs[i]), &pairs[i]))
	}
	if v.Rounds, err = figures(rounds...); err != nil {
		return err
	}
	for i := range v.Rounds {
		v.Rounds[i].Text = "" // the titles say it all
	}
	v.Curves, err = figures(append(sideBySide(s), latenciesOfVariants(s, pairs, d)...)...)
	return err
}

// sideBySide shows the variants on one axis, a plot for each combination of the parameters that are not on it.
func sideBySide(s *report.Suite) []*plot.Plot {
	parameters := s.Parameters()
	if len(parameters) == 0 {
		return []*plot.Plot{variantsOnly(s)}
	}
	var facets []string
	series := map[string][]plot.Series{}
	var along, unit, metric string
	for _, variant := range s.Variants {
		points := measured(s, variant.Name)
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
	var plots []*plot.Plot
	for _, facet := range spread(facets, maxFacets) {
		title := fmt.Sprintf("%s against %s", metric, along)
		if facet != "" {
			title += ", " + facet
		}
		plots = append(plots, plot.Curve(title, along, unit, spread(series[facet], plot.MaxSeries)))
	}
	return plots
}

// variantsOnly shows variants that are compared at one point.
func variantsOnly(s *report.Suite) *plot.Plot {
	var line plot.Series
	metric, unit := "", ""
	for _, variant := range s.Variants {
		for _, p := range measured(s, variant.Name) {
			metric, unit = p.Metric.Name, p.Metric.Unit
			line.Points = append(line.Points, plot.Point{At: variant.Name, Values: p.Values, Summary: p.Summary})
		}
	}
	return plot.Curve(metric+" of each variant", "variant", unit, []plot.Series{line})
}

// latenciesOfVariants shows the distributions where the difference is the largest.
func latenciesOfVariants(s *report.Suite, pairs []stats.Paired, d *SuiteDetails) []*plot.Plot {
	if d == nil || len(pairs) == 0 {
		return nil
	}
	at := pairs[0].Parameters
	var operations []string
	lines := map[string][]plot.Line{}
	for _, variant := range spread(s.Variants, plot.MaxSeries) {
		of := d.of(variant.Name).of(at)
		if of == nil {
			continue
		}
		for _, op := range slices.Sorted(maps.Keys(of.latencies)) {
			h := histogram(chosen{Point: stats.Point{Parameters: at}}, op, d.of(variant.Name))
			if h == nil {
				continue
			}
			if lines[op] == nil {
				operations = append(operations, op)
			}
			lines[op] = append(lines[op], plot.Line{Name: variant.Name, Points: distribution(h)})
		}
	}
	var plots []*plot.Plot
	for _, op := range operations {
		title := "Latency of " + op
		if len(at) > 0 {
			title += " at " + stats.Label(at)
		}
		plots = append(plots, plot.Percentiles(title, "What share of the operations took no longer: all rounds together.", lines[op]))
	}
	return plots
}
