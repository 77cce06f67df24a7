// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Latencies of the operations, in their order, at each point; nil where none was measured.
func Latencies(points []stats.Point, operations []string) [][]*stats.Latency {
	list := make([][]*stats.Latency, len(points))
	for i, p := range points {
		for _, op := range operations {
			l, found := stats.LatencyOf(p.Records, op)
			if !found {
				list[i] = append(list[i], nil)
				continue
			}
			list[i] = append(list[i], &l)
		}
	}
	return list
}

// latencyCells are the median and the 99th percentile; empty if there are none.
func latencyCells(l *stats.Latency) []string {
	if l == nil {
		return []string{"", ""}
	}
	return []string{stats.Format(l.P50Micros), stats.Format(l.P99Micros)}
}

// LatencyNote says what the percentiles are of.
func LatencyNote(latencies [][]*stats.Latency) string {
	for _, of := range latencies {
		for _, l := range of {
			if l != nil && !l.Merged {
				return "Latencies are medians of the trials' own percentiles: not every trial has a histogram to merge."
			}
		}
	}
	return "Latencies are percentiles of the merged histogram of all trials of a point."
}
