// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// addTable sets the table of the points, in the order of the sweep.
func (v *view) addTable(rep *report.Report, points []stats.Point) {
	of := rep.Table()
	several, seconds := len(of.Rows) > 1, of.Rows[0].Metric.Unit != "s" // beside a rate, how long the measured phase took
	t := &table{Name: "Every point", Sorted: len(of.Rows) > 2, Head: runHead(of, seconds)}
	remarks := stats.WarningsAt(points)
	_, scale := report.LatencyUnit(of)
	for i := range of.Rows {
		p := &of.Rows[i]
		var cells []cell
		for _, name := range of.Parameters {
			cells = append(cells, setting(p.Parameters[name]))
		}
		value := amount(p.Summary.Median)
		value.Notes = remarked(remarks, i)
		interval := cell{Text: p.Summary.RangeIn(plot.Number), Value: written(p.Summary.Low), Number: true}
		cells = append(cells, value, interval, count(p.Summary.N))
		if several {
			cells = append(cells, cell{Text: string(p.Mark), Class: "mark"}, ratioCell(p.Ratio))
		}
		if seconds {
			cells = append(cells, medianCell(secondsOf(p.Records)))
		}
		for _, values := range p.Values {
			cells = append(cells, medianCell(values))
		}
		for _, l := range p.Latencies {
			cells = append(cells, latencyCells(l, scale)...)
		}
		r := row{Cells: cells}
		if several {
			r.Class = classes[p.Mark]
		}
		t.Rows = append(t.Rows, r)
	}
	v.Points = t
	v.Notes = []string{report.Intervals(points)}
	if note := report.LatencyNote(of); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if ranks := report.Ranks(points); ranks != "" {
		v.Notes = append(v.Notes, ranks)
	}
	for i := range remarks {
		v.Remarks = append(v.Remarks, inWords(&remarks[i], len(points)))
	}
}

// classes of the rows that are marked.
var classes = map[analysis.Mark]string{
	analysis.MarkBest: "best", analysis.MarkBestMedian: "best", analysis.MarkRival: "rival",
}

func runHead(of *analysis.Table, seconds bool) []head {
	var list []head
	var points []map[string]string
	for i := range of.Rows {
		points = append(points, of.Rows[i].Parameters)
	}
	for _, name := range of.Parameters {
		_, numeric := plot.Numbers(valuesOf(name, points))
		list = append(list, head{Text: name, Number: numeric})
	}
	m := of.Rows[0].Metric
	list = slices.Concat(list, inUnit(m.Unit, m.Name, "interval"), numbers("n"))
	if len(of.Rows) > 1 {
		name, ratioOf := report.RatioToFirst(of)
		list = slices.Concat(list, texts("mark"), inUnit(ratioOf, name))
	}
	if seconds {
		list = append(list, head{Text: "took", Unit: "s", Number: true})
	}
	for _, m := range of.Metrics {
		list = append(list, head{Text: m.Name, Unit: m.Unit, Number: true})
	}
	unit, _ := report.LatencyUnit(of)
	for _, op := range of.Operations {
		list = slices.Concat(list, inUnit(unit, op+" p50", op+" p99"))
	}
	return list
}

// remarked are the numbers of the remarks about a point.
func remarked(remarks []stats.MergedWarning, point int) []int {
	var list []int
	for i := range remarks {
		if slices.Contains(remarks[i].From, point) {
			list = append(list, i+1)
		}
	}
	return list
}

// inWords is a remark with how many points and trials it is about.
func inWords(r *stats.MergedWarning, points int) string {
	var about []string
	switch {
	case points == 1:
	case len(r.From) == points:
		about = []string{"everywhere"}
	default:
		about = []string{fmt.Sprintf("%d of %d points", len(r.From), points)}
	}
	if of := r.OfTrials(); of != "" {
		about = append(about, of)
	}
	if len(about) == 0 {
		return r.Finding.String()
	}
	return fmt.Sprintf("%s (%s)", r.Finding, strings.Join(about, ", "))
}

func ratioCell(r stats.Ratio) cell {
	text := report.RatioText(r)
	if text == "" {
		return none()
	}
	return cell{Text: text, Value: written(r.Value), Number: true}
}

func medianCell(values []float64) cell {
	if len(values) == 0 {
		return none()
	}
	return amount(stats.Summarize(values).Median)
}

func latencyCells(l *stats.Latency, scale float64) []cell {
	if l == nil {
		return []cell{none(), none()}
	}
	return []cell{amount(l.P50Micros / scale), amount(l.P99Micros / scale)}
}

func secondsOf(records []*result.Record) []float64 {
	var list []float64
	for _, r := range records {
		list = append(list, float64(r.Summary.Totals.Micros)/1e6)
	}
	return list
}

// written is a number for a program.
func written(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
