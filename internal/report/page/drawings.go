// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/report/presentation"
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
	for i := range r.Requested.Plots {
		c := &r.Requested.Plots[i]
		p := curve(c, r.Series(c.Among, c.Metric))
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
func curve(c *presentation.Curve, measured []stats.Point) *plot.Plot {
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

// addTables adds the tables that a file asks for, with remarks about what they lack.
func (v *view) addTables(tables []report.RequestedTable) {
	for i := range tables {
		if words := tables[i].Remark(); words != "" {
			v.TableRemarks = append(v.TableRemarks, words)
		}
		if len(tables[i].Rows) > 0 {
			v.Tables = append(v.Tables, &tables[i].Table)
		}
	}
}
