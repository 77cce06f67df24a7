// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// timed is a series with the name of its line.
type timed struct {
	name      string
	series    []result.Interval
	latencies []result.IntervalLatency
	// unit of the rates; empty if the series says it.
	unit string
}

// fewestIntervals make a line.
const fewestIntervals = 3

// overTime shows the rate, the longest latency and percentiles of each interval. at is the label of the point that all series are
// of, or empty; whose says which trials they are of.
func overTime(of []timed, at, whose string) []Drawing {
	var rates, longest []plot.Line
	unit := "rows/s"
	for _, t := range of {
		if len(t.series) < fewestIntervals {
			continue
		}
		rate, latency, rows := timeLines(t.name, t.series)
		switch {
		case t.unit != "":
			unit = t.unit
		case !rows:
			unit = "transactions/s"
		}
		rates, longest = append(rates, rate), append(longest, latency)
	}
	where := ""
	if at != "" {
		where = " at " + at
	}
	const since = "seconds since the measured phase began"
	drawn := with(nil, plot.Lines("Rate over time"+where, since, unit, "The rate in each interval "+whose+".", rates),
		dotted(at), "throughput_over_time")
	drawn = with(drawn, plot.Lines("Longest latency over time"+where, since, "ms, the longest in each interval",
		"The longest latency in each interval "+whose+", which shows stalls.", longest), dotted(at), "longest_latency_over_time")
	return append(drawn, percentilesOverTime(of, at, whose)...)
}

// timeLines are the rate and the longest latency. Rows are not counted by every tool: then transactions are.
func timeLines(name string, series []result.Interval) (rate, latency plot.Line, rows bool) {
	rate.Name, latency.Name = name, name
	for _, i := range series {
		rows = rows || i.Rows > 0
	}
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

// percentiles shows the distribution of the latencies of each operation.
func percentiles(points []chosen, operations []string, d *Details) []Drawing {
	var drawn []Drawing
	for _, op := range operations {
		var lines []plot.Line
		for _, p := range points {
			if h := histogram(p, op, d); h != nil {
				lines = append(lines, plot.Line{Name: p.name, Points: distribution(h)})
			}
		}
		drawn = with(drawn, plot.Percentiles("Latency of "+op,
			"The share of operations that took at most this long, in all trials of a point together.", lines), "latency", op)
	}
	return drawn
}

// histogram of an operation at a point: from its documents or, without them, from its records; nil if nobody has one.
func histogram(p chosen, operation string, d *Details) *hdrhistogram.Histogram {
	if of := d.of(p.Parameters); of != nil && len(of.latencies[operation]) > 0 {
		return merged(of.latencies[operation])
	}
	var encoded []string
	for _, r := range p.Records {
		for _, l := range r.Summary.Latencies {
			if l.Operation == operation && l.Histogram != "" {
				encoded = append(encoded, l.Histogram)
			}
		}
	}
	return merged(encoded)
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
