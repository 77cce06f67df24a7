// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// latencyCells are the median and the 99th percentile; empty if there are none.
func latencyCells(l *stats.Latency) []string {
	if l == nil {
		return []string{"", ""}
	}
	return []string{stats.Format(l.P50Micros), stats.Format(l.P99Micros)}
}

// LatencyNote says what the percentiles of a table are of; it is empty if the table has none.
func LatencyNote(t *analysis.Table) string {
	switch {
	case len(t.Operations) == 0:
		return ""
	case !t.Merged():
		return "Latencies are medians of the trials' own percentiles: not every trial has a histogram to merge."
	}
	return "Latencies are percentiles of the merged histogram of all trials of a point."
}
