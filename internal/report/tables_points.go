// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// PointsTable has a row for each point at which something was measured, in the order of the sweep: its parameters, the median,
// the interval, how many times the first point that is, the medians of other metrics that are shown, and latencies. The best
// point is marked, and those that may be as good. Notes say what the numbers are. Without a point, the table is nil.
func (r *Report) PointsTable() (t *Table, notes []string) {
	points := r.Measured()
	if len(points) == 0 {
		return nil, nil
	}
	first, remarks := points[0].Metric, stats.WarningsAt(points)
	t = tableOf("Every point", len(points))
	t.addParameters(r.Parameters(), stats.ParametersOf(points))
	t.add(Column{Text: first.Name, Unit: first.Unit, Plain: first.Unit, Number: true}, func(i int) Cell {
		value := AmountCell(points[i].Summary.Median)
		for n := range remarks {
			if slices.Contains(remarks[n].From, i) {
				value.Notes = append(value.Notes, n+1)
			}
		}
		return value
	})
	t.add(inUnit(first.Unit, "interval"), func(i int) Cell { return numberCell(points[i].Summary.Low, points[i].Summary.RangeIn) })
	t.add(inUnit("", "n"), func(i int) Cell { return Whole(points[i].Summary.N) })
	if len(points) > 1 && len(r.Capacities) == 0 {
		t.addRanks(points)
	}
	if first.Unit != "s" { // beside a rate, the table says how long the measured phase took
		t.add(Column{Text: "took", Unit: "s", Number: true, Wide: true}, func(i int) Cell {
			var seconds []float64
			for _, record := range points[i].Records {
				seconds = append(seconds, float64(record.Summary.Totals.Micros)/1e6)
			}
			return MedianCell(seconds)
		})
	}
	t.addMedians(points, func(m result.Metric) string { return m.Name }, func(p *stats.Point, m result.Metric) bool {
		return m.Shown && m.Name != p.Metric.Name
	})
	_, operations := r.Columns()
	notes = []string{intervals(points)}
	if len(operations) > 0 {
		notes = append(notes, t.addLatencies(points, operations))
	}
	return t, notes
}

// addRanks says how the points rank, unless there are too few trials to tell them apart, and compares each with the first.
func (t *Table) addRanks(points []stats.Point) {
	marks := make([]string, len(points))
	if stats.Ranked(points) {
		standing := stats.Stand(points)
		marks[standing.Best], t.Rows[standing.Best].Class = "best", "best"
		for _, i := range standing.Rivals {
			marks[standing.Best] = "best?"
			marks[i], t.Rows[i].Class = "as good?", "rival"
		}
	}
	t.add(Column{Text: "mark", Plain: " "}, func(i int) Cell { return Cell{Text: marks[i], Class: "mark"} })
	head := inUnit("of medians", "ratio to first")
	if slices.ContainsFunc(points, func(p stats.Point) bool { return p.Summary.N >= stats.MinForRanks }) {
		head.Unit = RatioOfRounds
	}
	head.Plain = head.Text + " (" + head.Unit + ")"
	ratios := stats.RatioTo(points, 0)
	t.add(head, func(i int) Cell {
		return numberCell(ratios[i].Value, func(number func(float64) string) string { return ratioText(ratios[i], number) })
	})
}

// addMedians has a column for each metric that is to be kept, with its name.
func (t *Table) addMedians(points []stats.Point, name func(result.Metric) string, keep func(*stats.Point, result.Metric) bool) {
	for _, m := range judge.Metrics(points, keep) {
		t.add(inUnit(m.Unit, name(m)), func(i int) Cell { return MedianCell(points[i].In(m.Name).Values) })
	}
}

// addLatencies of operations, all in one unit, and says what they are.
func (t *Table) addLatencies(points []stats.Point, operations []string) (note string) {
	note = "Latencies are percentiles of the merged histogram of all trials of a point."
	most := 0.0
	latencies := map[string][]*stats.Latency{}
	for _, op := range operations {
		latencies[op] = make([]*stats.Latency, len(points))
		for i := range points {
			l, found := stats.LatencyOf(points[i].Records, op)
			if !found {
				continue
			}
			latencies[op][i], most = &l, max(most, l.P50Micros, l.P99Micros)
			if !l.Merged {
				note = "Latencies are medians of the trials' own percentiles: not every trial has a histogram to merge."
			}
		}
	}
	unit, scale := finding.MicrosUnit(most)
	for _, op := range operations {
		add := func(name string, micros func(*stats.Latency) float64) {
			t.add(Column{Text: name, Unit: unit, Plain: name + " " + unit, Number: true}, func(i int) Cell {
				if l := latencies[op][i]; l != nil {
					return AmountCell(micros(l) / scale)
				}
				return None()
			})
		}
		add(op+" p50", func(l *stats.Latency) float64 { return l.P50Micros })
		add(op+" p99", func(l *stats.Latency) float64 { return l.P99Micros })
	}
	return note
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

// Ranks says which point is the best, which ones may be as good, and by what; empty for one point, and where rounds have others.
func (r *Report) Ranks() string {
	points := r.Measured()
	if len(points) < 2 || len(r.Capacities) > 0 {
		return ""
	}
	if stats.InStages(points) {
		return "The stages are not ranked: each is another part of a trial's work."
	}
	if !stats.Ranked(points) {
		return fmt.Sprintf("No point is ranked best: it takes %d trials each to tell points apart.", stats.MinForRanks)
	}
	standing, is := stats.Stand(points), " is the best"
	if others := standing.Others(points); others != "" {
		is = " has the best median; " + others
	}
	return stats.Label(points[standing.Best].Parameters) + is + ". Points are compared round by round (t test of the ratios) at " +
		"95% confidence across all of them, and so are the ratios to the first point."
}

// PartsTable has a row for each point with the median of each metric that is of a part of the work; nil if there is none.
func (r *Report) PartsTable() *Table {
	points := r.Measured()
	t := tableOf("Medians by part", len(points))
	t.addParameters(r.Parameters(), stats.ParametersOf(points))
	parameters := len(t.Head)
	name := func(m result.Metric) string { return m.Part }
	t.addMedians(points, name, func(_ *stats.Point, m result.Metric) bool { return m.Part != "" })
	if len(t.Head) == parameters {
		return nil
	}
	return t
}
