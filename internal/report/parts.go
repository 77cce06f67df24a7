// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// PartMetrics are those of a part of the work, for example of a table, in the order in which they first come.
func PartMetrics(points []stats.Point) []result.Metric {
	return analysis.Metrics(points, func(_ *stats.Point, m result.Metric) bool { return m.Part != "" })
}

// parts has a row per point with the median of each metric that is of a part of the work; nil if there is none. All are in the
// unit that is returned.
func (r *Report) parts(points []stats.Point) (rows [][]string, unit string) {
	columns := PartMetrics(points)
	if len(columns) == 0 {
		return nil, ""
	}
	header := r.Parameters()
	for _, m := range columns {
		header = append(header, m.Part)
	}
	rows = [][]string{header}
	for _, p := range points {
		var cells []string
		for _, name := range r.Parameters() {
			cells = append(cells, p.Parameters[name])
		}
		for _, m := range columns {
			cells = append(cells, median(analysis.ValuesOf(p.Records, m.Name)))
		}
		rows = append(rows, cells)
	}
	return rows, columns[0].Unit
}

// median is that of some values for people; empty if there are none.
func median(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	return stats.Format(stats.Summarize(values).Median)
}

// tuned says what was changed on nodes, a line for each.
func tuned(nodes []v1alpha1.HostTuningStatus) []string {
	var list []string
	for _, n := range nodes {
		var changes []string
		for _, s := range []struct{ name, before, after string }{
			{"swappiness", n.Before.Swappiness, n.After.Swappiness},
			{"I/O scheduler of " + n.Disk, n.Before.IOScheduler, n.After.IOScheduler},
			{"transparent huge pages", n.Before.TransparentHugePages, n.After.TransparentHugePages},
		} {
			if s.before != "" {
				changes = append(changes, s.name+" "+s.after+" instead of "+s.before)
			}
		}
		end := "; restored afterwards"
		if !ptr.Deref(n.Restored, false) {
			end = "; NOT RESTORED: " + n.Message
		}
		list = append(list, "node "+n.Node+" was tuned: "+strings.Join(changes, ", ")+end)
	}
	return list
}

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
