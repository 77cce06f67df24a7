// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// sweep is how points are drawn: against one parameter, a line for each combination of the others.
type sweep struct {
	along  string
	others []string
}

// sweepOf points: along the parameter with the most values, of those that are numbers if there are any.
func sweepOf(parameters []string, points []map[string]string) sweep {
	best, most := "", -1
	for _, name := range parameters {
		values := stats.ValuesOf(name, points)
		n := len(values)
		if _, numeric := plot.Numbers(values); numeric {
			n += len(points) // any parameter of numbers comes before all others
		}
		if n > most {
			best, most = name, n
		}
	}
	return sweep{best, slices.DeleteFunc(slices.Clone(parameters), func(n string) bool { return n == best })}
}

// line is the name of the line that a point is on; empty if there is one line only.
func (s sweep) line(parameters map[string]string) string {
	var parts []string
	for _, name := range s.others {
		parts = append(parts, name+"="+parameters[name])
	}
	return strings.Join(parts, ", ")
}

// group points by their lines, in the order in which these first come; on a line, numbers are in their order.
func (s sweep) group(points []stats.Point) []plot.Series {
	var series []plot.Series
	at := map[string]int{}
	for _, p := range points {
		name := s.line(p.Parameters)
		i, known := at[name]
		if !known {
			i = len(series)
			at[name] = i
			series = append(series, plot.Series{Name: name})
		}
		series[i].Points = append(series[i].Points, p)
	}
	for i := range series {
		slices.SortStableFunc(series[i].Points, byNumber(s.along))
	}
	return series
}

// byNumber is an order of points by the value of a parameter, where that is a number.
func byNumber(parameter string) func(a, b stats.Point) int {
	return func(a, b stats.Point) int {
		if values, numeric := plot.Numbers([]string{a.Parameters[parameter], b.Parameters[parameter]}); numeric {
			return cmp.Compare(values[0], values[1])
		}
		return 0
	}
}

// spread are at most n of several things, from the first to the last.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	var few []T
	for i := range n {
		few = append(few, list[i*(len(list)-1)/(n-1)])
	}
	return few
}

// ofAll says that not all things are shown; empty if they are.
func ofAll(shown, all int, things string) string {
	if shown == all {
		return ""
	}
	return fmt.Sprintf(", %d of %d %s", shown, all, things)
}

// fewestIntervals make a line.
const fewestIntervals = 3

// overTime shows the rate and the longest latency of each interval. at has the parameters of the point that all are, or none;
// whose says which trials they are of.
func overTime(points []chosen, at map[string]string, whose string) []Drawing {
	var rates, longest []plot.Line
	unit := "rows/s"
	for _, p := range points {
		t := p.details()
		if t == nil || len(t.series) < fewestIntervals {
			continue
		}
		rate, latency, rows := timeLines(p.name, t.series)
		switch {
		case t.unit != "":
			unit = t.unit
		case !rows:
			unit = "transactions/s"
		}
		rates, longest = append(rates, rate), append(longest, latency)
	}
	where, name := stats.At(at), dotted(stats.Label(at))
	const since = "seconds since the measured phase began"
	drawn := with(nil, plot.Lines("Rate over time"+where, since, unit, "The rate in each interval "+whose+".", rates),
		name, "throughput_over_time")
	return with(drawn, plot.Lines("Longest latency over time"+where, since, "ms, the longest in each interval",
		"The longest latency in each interval "+whose+", which shows stalls.", longest), name, "longest_latency_over_time")
}

// timeLines are the rate and the longest latency. Rows are not counted by every tool: then transactions are.
func timeLines(name string, series []result.Interval) (rate, latency plot.Line, rows bool) {
	rate.Name, latency.Name = name, name
	rows = slices.ContainsFunc(series, func(i result.Interval) bool { return i.Rows > 0 })
	before := int64(0)
	for n, i := range series {
		count := i.Transactions
		if rows {
			count = i.Rows
		}
		took, at := i.EndMicros-before, float64(i.EndMicros)/1e6
		// A last interval that the end has cut short has the rate of an end.
		if cut := n == len(series)-1 && 2*took < series[0].EndMicros; took > 0 && !cut {
			rate.Points = append(rate.Points, plot.XY{X: at, Y: 1e6 * float64(count) / float64(took)})
		}
		if i.MaxMicros > 0 { // not every tool says it
			latency.Points = append(latency.Points, plot.XY{X: at, Y: float64(i.MaxMicros) / 1000})
		}
		before = i.EndMicros
	}
	return rate, latency, rows
}

// percentiles shows the latencies of each operation: at a point, or at several with none. together says what a line has.
func percentiles(points []chosen, operations []string, at map[string]string, together string) []Drawing {
	var drawn []Drawing
	for i, op := range operations {
		if slices.Contains(operations[:i], op) { // several variants have it
			continue
		}
		var lines []plot.Line
		for _, p := range points {
			if h := p.histogram(op); h != nil {
				lines = append(lines, plot.Line{Name: p.name, Points: distribution(h)})
			}
		}
		text := "The share of operations that took at most this long, " + together + "."
		drawn = with(drawn, plot.Percentiles("Latency of "+op+stats.At(at), text, lines), dotted(stats.Label(at)), "latency", op)
	}
	return drawn
}

// histogram of an operation at a point: from its documents or, without them, from its records; nil if neither has one.
func (c *chosen) histogram(operation string) *hdrhistogram.Histogram {
	if of := c.details(); of != nil && len(of.latencies[operation]) > 0 {
		h, _ := stats.MergeHistograms(of.latencies[operation])
		return h
	}
	var encoded []string
	for _, r := range c.Records {
		for _, l := range r.Summary.Latencies {
			if l.Operation == operation && l.Histogram != "" {
				encoded = append(encoded, l.Histogram)
			}
		}
	}
	h, _ := stats.MergeHistograms(encoded)
	return h
}

// distribution of a histogram: closer and closer to 1, as far as there are operations.
func distribution(h *hdrhistogram.Histogram) []plot.XY {
	const stepsPerDecade = 8
	var list []plot.XY
	count := float64(h.TotalCount())
	for i := 0; ; i++ {
		left := math.Pow(10, -float64(i)/stepsPerDecade)
		if left*count < 1 {
			return list
		}
		list = append(list, plot.XY{X: 1 - left, Y: float64(h.ValueAtQuantile(100 * (1 - left)))})
	}
}
