// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// parametersOf points.
func parametersOf(points []stats.Point) []map[string]string {
	var list []map[string]string
	for i := range points {
		list = append(list, points[i].Parameters)
	}
	return list
}

// PointsTable has a row for each point at which something was measured, in the order of the sweep: its parameters, the median,
// the interval, how many times the first point that is, the medians of other metrics that are shown, and latencies. The best
// point is marked, and those that may be as good. Notes say what the numbers are. Without a point, the table is nil.
func (r *Report) PointsTable() (t *Table, notes []string) {
	points := r.Measured()
	if len(points) == 0 {
		return nil, nil
	}
	_, operations := r.Columns()
	of := analysis.TableOf(points, r.Parameters(), operations)
	unit, scale := latencyUnit(of)
	t = &Table{Name: "Every point", Sorted: len(points) > 2, Head: pointColumns(of, unit)}
	remarks := stats.WarningsAt(points)
	for i := range of.Rows {
		t.Rows = append(t.Rows, pointRow(of, i, remarks, scale))
	}
	notes = []string{intervals(points)}
	switch {
	case len(operations) == 0:
	case of.Merged():
		notes = append(notes, "Latencies are percentiles of the merged histogram of all trials of a point.")
	default:
		notes = append(notes, "Latencies are medians of the trials' own percentiles: not every trial has a histogram to merge.")
	}
	return t, notes
}

func pointColumns(of *analysis.Table, latencyUnit string) []Column {
	var points []map[string]string
	for i := range of.Rows {
		points = append(points, of.Rows[i].Parameters)
	}
	m := of.Rows[0].Metric
	list := append(ofParameters(of.Parameters, points), Column{Text: m.Name, Unit: m.Unit, Plain: m.Unit, Number: true})
	list = slices.Concat(list, InUnit(m.Unit, "interval"), Numbers("n"))
	if len(of.Rows) > 1 {
		ratio := Column{Text: "ratio to first", Unit: "of medians", Number: true}
		if slices.ContainsFunc(of.Rows, func(r analysis.Row) bool { return r.Summary.N >= stats.MinForRanks }) {
			ratio.Unit = RatioOfRounds
		}
		ratio.Plain = ratio.Text + " (" + ratio.Unit + ")"
		list = append(list, Column{Text: "mark", Plain: " "}, ratio)
	}
	if beside(of) {
		list = append(list, Column{Text: "took", Unit: "s", Number: true, Wide: true})
	}
	for _, m := range of.Metrics {
		list = append(list, Column{Text: m.Name, Unit: m.Unit, Number: true})
	}
	for _, op := range of.Operations {
		for _, name := range []string{op + " p50", op + " p99"} {
			list = append(list, Column{Text: name, Unit: latencyUnit, Plain: name + " " + latencyUnit, Number: true})
		}
	}
	return list
}

// beside a rate, the table says how long the measured phase took.
func beside(of *analysis.Table) bool { return of.Rows[0].Metric.Unit != "s" }

// classes of the rows that are marked.
var classes = map[analysis.Mark]string{
	analysis.MarkBest: "best", analysis.MarkBestMedian: "best", analysis.MarkRival: "rival",
}

func pointRow(of *analysis.Table, i int, remarks []stats.MergedWarning, scale float64) Row {
	p := &of.Rows[i]
	var row Row
	for _, name := range of.Parameters {
		row.Cells = append(row.Cells, Setting(p.Parameters[name]))
	}
	value := AmountCell(p.Summary.Median)
	for n := range remarks {
		if slices.Contains(remarks[n].From, i) {
			value.Notes = append(value.Notes, n+1)
		}
	}
	interval := Cell{Text: p.Summary.Range(), Value: exact(p.Summary.Low), Number: true}
	row.Cells = append(row.Cells, value, interval, Whole(p.Summary.N))
	if len(of.Rows) > 1 {
		ratio := None()
		if text := ratioText(p.Ratio); text != "" {
			ratio = Cell{Text: text, Value: exact(p.Ratio.Value), Number: true}
		}
		row.Class = classes[p.Mark]
		row.Cells = append(row.Cells, Cell{Text: string(p.Mark), Class: "mark"}, ratio)
	}
	if beside(of) {
		var seconds []float64
		for _, record := range p.Records {
			seconds = append(seconds, float64(record.Summary.Totals.Micros)/1e6)
		}
		row.Cells = append(row.Cells, MedianCell(seconds))
	}
	for _, values := range p.Values {
		row.Cells = append(row.Cells, MedianCell(values))
	}
	for _, l := range p.Latencies {
		if l == nil {
			row.Cells = append(row.Cells, None(), None())
			continue
		}
		row.Cells = append(row.Cells, AmountCell(l.P50Micros/scale), AmountCell(l.P99Micros/scale))
	}
	return row
}

// latencyUnit is the unit of a table's latencies, which is the same for all, and how many microseconds it is.
func latencyUnit(of *analysis.Table) (unit string, scale float64) {
	most := 0.0
	for i := range of.Rows {
		for _, l := range of.Rows[i].Latencies {
			if l != nil {
				most = max(most, l.P50Micros, l.P99Micros)
			}
		}
	}
	return finding.MicrosUnit(most)
}

// intervals says what the table's numbers are.
func intervals(points []stats.Point) string {
	m := points[0].Metric
	of := fmt.Sprintf("of %s (%s is better); ", m.Name, m.Better)
	if !slices.ContainsFunc(points, func(p stats.Point) bool { return p.Summary.N > 1 }) {
		return "Values " + of + "with one trial each, their spread is unknown."
	}
	if slices.ContainsFunc(points, func(p stats.Point) bool { return p.Summary.Interval == stats.MinMax }) {
		return fmt.Sprintf("Medians %sintervals are minimum to maximum (a 95%% interval takes %d trials).", of, stats.MinForInterval)
	}
	text := "Medians " + of + "intervals are those of the median at 95% confidence"
	if points[0].Summary.Looked {
		text += ", adjusted for early stopping"
	}
	return text + "."
}

// Ranks says which point is the best, which ones may be as good, and by what; empty for one point.
func Ranks(points []stats.Point) string {
	if len(points) < 2 {
		return ""
	}
	if stats.InStages(points) {
		return "The stages are not ranked: each is another part of a trial's work."
	}
	standing := stats.Stand(points)
	others := standing.Others(points)
	if !stats.Ranked(points) {
		return fmt.Sprintf("No point is ranked best: it takes %d trials each to tell points apart.", stats.MinForRanks)
	}
	best := stats.Label(points[standing.Best].Parameters) + " has the best median"
	if others == "" {
		best = stats.Label(points[standing.Best].Parameters) + " is the best"
	} else {
		best += "; " + others
	}
	return best + ". Points are compared round by round (t test of the ratios) at 95% confidence across all of them, and so are " +
		"the ratios to the first point."
}

// partMetrics are those of a part of the work, for example of a table, in the order in which they first come.
func partMetrics(points []stats.Point) []result.Metric {
	return analysis.Metrics(points, func(_ *stats.Point, m result.Metric) bool { return m.Part != "" })
}

// PartsTable has a row for each point with the median of each metric that is of a part of the work; nil if there is none.
func (r *Report) PartsTable() *Table {
	points := r.Measured()
	metrics := partMetrics(points)
	if len(metrics) == 0 {
		return nil
	}
	t := &Table{Name: "Medians by part", Sorted: len(points) > 2, Head: ofParameters(r.Parameters(), parametersOf(points))}
	for _, m := range metrics {
		t.Head = append(t.Head, Column{Text: m.Part, Unit: m.Unit, Number: true})
	}
	for _, p := range points {
		var row Row
		for _, name := range r.Parameters() {
			row.Cells = append(row.Cells, Setting(p.Parameters[name]))
		}
		for _, m := range metrics {
			row.Cells = append(row.Cells, MedianCell(analysis.ValuesOf(p.Records, m.Name)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
