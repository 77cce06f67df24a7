// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Drawing is a plot of a page, with the name of its file without the ending.
type Drawing struct {
	Name string
	*plot.Plot
}

// HTML is the plot as a part of a page.
func (d Drawing) HTML() template.HTML {
	var b bytes.Buffer
	_ = d.SVG(&b)                    // a buffer takes everything
	return template.HTML(b.String()) //nolint:gosec // its texts are escaped
}

// with adds a plot to a list, if there is one. The parts of its name are joined by dots.
func with(list []Drawing, p *plot.Plot, parts ...string) []Drawing {
	if p == nil {
		return list
	}
	return append(list, Drawing{fileName(parts...), p})
}

// maxName is how long the name of a file is, without its ending and without what sets it apart from others. A path of
// Windows has 260 characters, with all of its folders.
const maxName = 100

// unfit is what some file system does not take in a name, or a shell takes for something else.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._=+-]+`)

// fileName joins parts by dots. What is not safe in the name of a file is a hyphen in it; the end of a long name is its digest.
func fileName(parts ...string) string {
	whole := joined(".", parts...)
	name := strings.TrimLeft(unfit.ReplaceAllString(whole, "-"), ".-")
	if len(name) <= maxName {
		return name
	}
	const digits = 8
	return name[:maxName-digits-1] + "-" + result.Digest([]byte(whole))[:digits]
}

// dotted is the label of a point, or the name of a line, as a part of a name.
func dotted(label string) string { return strings.ReplaceAll(label, ", ", ".") }

// unique gives every drawing a name of its own, also where upper and lower case are the same. The first of a name keeps it.
func unique(list []Drawing) []Drawing {
	used := map[string]bool{}
	for i := range list {
		name := list[i].Name
		for n := 2; used[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d", list[i].Name, n)
		}
		used[strings.ToLower(name)] = true
		list[i].Name = name
	}
	return list
}

// fixed are the parameters that have the same value at all points, as a part of a name.
func fixed(parameters []string, points []map[string]string) string {
	var parts []string
	for _, name := range parameters {
		if values := stats.ValuesOf(name, points); len(values) == 1 {
			parts = append(parts, name+"="+values[0])
		}
	}
	return strings.Join(parts, ".")
}

// drawRequested draws the plots that a file asks for, under exactly their names. Those of which nothing was measured are left out
// with a remark, which lists the metrics if that is the reason.
func drawRequested(r *report.Report) (drawn []Drawing, remarks []string) {
	metrics, _ := r.Columns()
	metrics = append(metrics, result.DurationMetric)
	for _, c := range r.Requested.Plots {
		p := curve(&c, r.Series(c.Among, c.Metric))
		switch {
		case p != nil:
			drawn = append(drawn, Drawing{c.Name, p})
		case c.Metric != "" && !slices.Contains(metrics, c.Metric):
			remarks = append(remarks, fmt.Sprintf("The plot %s is left out: no metric named %s was measured. There are: %s.", c.Name,
				c.Metric, cmp.Or(strings.Join(metrics, ", "), "none")))
		default:
			remarks = append(remarks, fmt.Sprintf("The plot %s is left out: nothing was measured at its points.", c.Name))
		}
	}
	return drawn, remarks
}

// curve of these points, with lines for each variant unless it names one; nil if there are none.
func curve(c *report.PlotRequest, measured []stats.Point) *plot.Plot {
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
		points := measured[:n]
		measured = measured[n:]
		if _, numeric := plot.Numbers(stats.ValuesOf(c.Lines, stats.ParametersOf(points))); numeric {
			slices.SortStableFunc(points, byNumber(c.Lines))
		}
		for _, line := range along.group(points) {
			if c.Among.Variant == "" {
				line.Name = joined(", ", variant, line.Name)
			}
			lines = append(lines, line)
		}
	}
	few := spread(lines, plot.MaxLines)
	title := cmp.Or(c.Title, fmt.Sprintf("%s against %s", metric.Name, c.Against)) + ofAll(len(few), len(lines), "lines")
	return plot.Curve(title, c.Against, metric.Unit, few)
}

// joined are the names that are not empty.
func joined(separator string, names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(n string) bool { return n == "" }), separator)
}

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
		v.drawPairs(r, d)
	} else {
		v.drawPoints(r, d)
	}
	return v
}

// drawPoints draws what was measured at the points of a run without variants: against a swept parameter or, if nothing is swept,
// against the rounds.
func (v *drawings) drawPoints(r *report.Report, d *Details) {
	points := r.Measured()
	if len(points) == 0 {
		return
	}
	parameters, m := r.Parameters(), points[0].Metric
	constant := fixed(parameters, stats.ParametersOf(r.Points))
	if len(points) == 1 {
		v.Curves = with(nil, repetitions(&points[0]), constant, "against_repetition")
	} else {
		s := sweepOf(parameters, stats.ParametersOf(points))
		all := s.group(points)
		few := spread(all, plot.MaxSeries)
		title := fmt.Sprintf("%s against %s%s", m.Name, s.along, ofAll(len(few), len(all), "lines"))
		v.Curves = with(nil, plot.Curve(title, s.along, m.Unit, few), constant, "against_"+s.along)
	}
	_, operations := r.Columns()
	few := choose(points, d)
	v.Details = with(v.Details, milestonesPlot(few), "rate", "against_rowsInserted")
	v.Details = append(v.Details, overTime(few, nil, "of the first trial of each point")...)
	v.Details = append(v.Details, percentiles(few, operations, nil, "in all trials of a point together")...)
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
