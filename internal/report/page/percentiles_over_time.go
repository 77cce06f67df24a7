// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// percentilesOverTime shows the latencies of each operation in each interval: of one series three percentiles, of several the
// 99th.
func percentilesOverTime(of []timed, at, whose string) []Drawing {
	where := ""
	if at != "" {
		where = " at " + at
	}
	var drawn []Drawing
	for _, op := range operationsOverTime(of) {
		lines, shown := p99Lines(of, op), "The 99th percentile"
		if len(lines) == 1 {
			lines, shown = percentileLines(of, op), "Percentiles"
		}
		caption := fmt.Sprintf("%s of the latencies in each interval %s; of intervals that are shown as one, the largest.", shown,
			whose)
		title := "Latency of " + op + " over time" + where
		drawn = with(drawn, plot.Lines(title, "seconds since the measured phase began", "ms", caption, lines),
			dotted(at), "percentiles_over_time", op)
	}
	return drawn
}

// operationsOverTime are those of which there are latencies, by their names. What a transaction of an offered rate consists of is
// shown by the transaction.
func operationsOverTime(of []timed) []string {
	var all []string
	for _, t := range of {
		for _, l := range t.latencies {
			if !slices.Contains(all, l.Operation) {
				all = append(all, l.Operation)
			}
		}
	}
	if slices.Contains(all, "transaction") {
		all = slices.DeleteFunc(all, func(op string) bool { return op == "insert" || op == "commit" })
	}
	slices.Sort(all)
	return all
}

// p99Lines are one for each series with enough intervals.
func p99Lines(of []timed, op string) []plot.Line {
	var lines []plot.Line
	for _, t := range of {
		line := latencyLine(t.name, t.latencies, op, func(l result.IntervalLatency) int64 { return l.P99Micros })
		if len(line.Points) >= fewestIntervals {
			lines = append(lines, line)
		}
	}
	return lines
}

// percentileLines are three for the first series with enough intervals.
func percentileLines(of []timed, op string) []plot.Line {
	for _, t := range of {
		lines := []plot.Line{
			latencyLine("p50", t.latencies, op, func(l result.IntervalLatency) int64 { return l.P50Micros }),
			latencyLine("p95", t.latencies, op, func(l result.IntervalLatency) int64 { return l.P95Micros }),
			latencyLine("p99", t.latencies, op, func(l result.IntervalLatency) int64 { return l.P99Micros }),
		}
		if len(lines[0].Points) >= fewestIntervals {
			return lines
		}
	}
	return nil
}

func latencyLine(name string, list []result.IntervalLatency, op string, of func(result.IntervalLatency) int64) plot.Line {
	line := plot.Line{Name: name}
	for _, l := range list {
		if l.Operation == op {
			line.Points = append(line.Points, plot.XY{X: float64(l.EndMicros) / 1e6, Y: float64(of(l)) / 1000})
		}
	}
	return line
}

// thinnedLatencies have at most maxIntervals intervals of each operation: neighbours become one, with the largest of their
// percentiles, because what they have in common is not known.
func thinnedLatencies(list []result.IntervalLatency) []result.IntervalLatency {
	of := map[string][]result.IntervalLatency{}
	var operations []string
	for _, l := range list {
		if of[l.Operation] == nil {
			operations = append(operations, l.Operation)
		}
		of[l.Operation] = append(of[l.Operation], l)
	}
	var short []result.IntervalLatency
	for _, op := range operations {
		every := (len(of[op]) + maxIntervals - 1) / maxIntervals
		for group := range slices.Chunk(of[op], every) {
			short = append(short, largest(group))
		}
	}
	return short
}

// largest latencies of several intervals.
func largest(group []result.IntervalLatency) result.IntervalLatency {
	one := group[0]
	for _, l := range group[1:] {
		one.EndMicros = l.EndMicros
		one.Count += l.Count
		one.P50Micros, one.P95Micros = max(one.P50Micros, l.P50Micros), max(one.P95Micros, l.P95Micros)
		one.P99Micros, one.MaxMicros = max(one.P99Micros, l.P99Micros), max(one.MaxMicros, l.MaxMicros)
	}
	return one
}
