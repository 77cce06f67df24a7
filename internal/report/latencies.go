// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// LatencyUnit is the unit of a table's latencies, which is the same for all, and how many microseconds it is.
func LatencyUnit(t *analysis.Table) (unit string, scale float64) {
	most := 0.0
	for i := range t.Rows {
		for _, l := range t.Rows[i].Latencies {
			if l != nil {
				most = max(most, l.P50Micros, l.P99Micros)
			}
		}
	}
	return finding.MicrosUnit(most)
}

// latencyCells are the median and the 99th percentile in that unit; empty if there are none.
func latencyCells(l *stats.Latency, scale float64) []string {
	if l == nil {
		return []string{"", ""}
	}
	return []string{stats.Format(l.P50Micros / scale), stats.Format(l.P99Micros / scale)}
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
