// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
)

// drawings are the plots of a page by where they stand.
type drawings struct {
	// Plots are those that a file asks for, PlotRemarks say which of them are left out. Ratios and Rounds are of pairs, Curves of
	// what was measured; Details stand after the table.
	Plots, Ratios, Rounds, Curves, Details []Drawing
	PlotRemarks                            []string
}

// DrawingsOf a page are all of its plots in their order, with names that differ on every file system, and remarks about those
// that a file asks for and that are left out. Without details, or with empty ones, those that are made of them are missing.
func DrawingsOf(r *report.Report, d *Details) (all []Drawing, remarks []string) {
	v := draw(r, d)
	return unique(slices.Concat(v.Plots, v.Ratios, v.Rounds, v.Curves, v.Details)), v.PlotRemarks
}

func draw(r *report.Report, d *Details) *drawings {
	v := new(drawings)
	d = cmp.Or(d, new(Details)) // of which nothing is known
	v.Plots, v.PlotRemarks = drawRequested(r)
	if r.HasVariants() {
		v.addPairs(r, d)
	} else {
		v.addPoints(r, d)
	}
	return v
}

// addPoints draws what was measured at the points of a run without variants.
func (v *drawings) addPoints(r *report.Report, d *Details) {
	points := r.Measured()
	if len(points) == 0 {
		return
	}
	_, operations := r.Columns()
	v.addCurves(r, points)
	few := choose(points, d)
	v.Details = with(v.Details, milestonesPlot(few), "rate", "against_rowsInserted")
	v.Details = append(v.Details, overTime(few, nil, "of the first trial of each point")...)
	v.Details = append(v.Details, percentiles(few, operations, nil, "in all trials of a point together")...)
}

// addCurves draws against a swept parameter or, if nothing is swept, against the rounds.
func (v *drawings) addCurves(r *report.Report, points []stats.Point) {
	parameters := r.Parameters()
	constant := fixed(parameters, stats.ParametersOf(r.Points))
	if len(points) == 1 {
		v.Curves = with(nil, repetitions(&points[0]), constant, "against_repetition")
		return
	}
	m := points[0].Metric
	s := sweepOf(parameters, stats.ParametersOf(points))
	all := s.group(points)
	few := spread(all, plot.MaxSeries)
	title := fmt.Sprintf("%s against %s%s", m.Name, s.along, ofAll(len(few), len(all), "lines"))
	v.Curves = with(nil, plot.Curve(title, s.along, m.Unit, few), constant, "against_"+s.along)
}

// repetitions of the one point of a run; nil if there is one only.
func repetitions(point *stats.Point) *plot.Plot {
	if point.Summary.N < 2 {
		return nil
	}
	const repetition = "repetition"
	var trials []stats.Point
	for i, value := range point.Values {
		trials = append(trials, stats.Point{
			Parameters: map[string]string{repetition: strconv.Itoa(i + 1)}, Values: []float64{value},
			Summary: stats.Summarize([]float64{value}),
		})
	}
	m := point.Metric
	p := plot.Curve(m.Name+" of each repetition", repetition, m.Unit, []plot.Series{{Points: trials}})
	p.Text = m.Unit + " of each repetition, in the order of measuring."
	return p
}

// chosen is a point that the further plots show, or a variant at one, with the name of its line.
type chosen struct {
	name string
	of   *Details
	stats.Point
}

// details of the point; nil if there are none.
func (c *chosen) details() *pointDetails { return c.of.of(c.Parameters) }

// maxChosen is how many points the further plots show.
const maxChosen = 4

// choose the first, the last and the best point, and one between.
func choose(points []stats.Point, d *Details) []chosen {
	var few []int
	for _, i := range []int{0, len(points) - 1, stats.Best(points), len(points) / 2, len(points) / 4} {
		if !slices.Contains(few, i) && len(few) < maxChosen {
			few = append(few, i)
		}
	}
	slices.Sort(few)
	var list []chosen
	for _, i := range few {
		list = append(list, chosen{cmp.Or(stats.Label(points[i].Parameters), points[i].Metric.Name), d, points[i]})
	}
	return list
}

func milestonesPlot(points []chosen) *plot.Plot {
	var lines []plot.Line
	for _, p := range points {
		of := p.details()
		if of == nil || len(of.rates) < 2 {
			continue
		}
		line := plot.Line{Name: p.name}
		for _, rows := range slices.Sorted(maps.Keys(of.rates)) {
			line.Points = append(line.Points, plot.XY{X: float64(rows), Y: stats.Summarize(of.rates[rows]).Median})
		}
		lines = append(lines, line)
	}
	return plot.Lines("Rate over rows inserted", "rows inserted", "rows/s since the milestone before",
		"The rate between milestones, in the median of the trials.", lines)
}
