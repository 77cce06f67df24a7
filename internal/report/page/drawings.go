// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Drawing is a plot of a page, with the name of its file without the ending.
type Drawing struct {
	Name string
	*plot.Plot
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

// fileName joins parts by dots. What is not safe in the name of a file is a hyphen in it; the end of a long name is its
// digest.
func fileName(parts ...string) string {
	var filled []string
	for _, p := range parts {
		if p != "" {
			filled = append(filled, p)
		}
	}
	whole := strings.Join(filled, ".")
	name := strings.TrimLeft(unfit.ReplaceAllString(whole, "-"), ".-")
	if len(name) <= maxName {
		return name
	}
	const digits = 8
	sum := sha256.Sum256([]byte(whole))
	return name[:maxName-digits-1] + "-" + hex.EncodeToString(sum[:])[:digits]
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
		if values := valuesOf(name, points); len(values) == 1 {
			parts = append(parts, name+"="+values[0])
		}
	}
	return strings.Join(parts, ".")
}

// against is what a plot is against, as a part of a name.
func against(parameters ...string) string { return "against_" + strings.Join(parameters, "_and_") }

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
