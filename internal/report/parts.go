// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// PartMetrics are those of a part of the work, for example of a table, in the order in which they first come.
func PartMetrics(points []stats.Point) []result.Metric {
	var list []result.Metric
	seen := map[string]bool{}
	for _, p := range points {
		for _, record := range p.Records {
			for _, m := range record.Summary.Metrics {
				if m.Part != "" && !seen[m.Name] {
					seen[m.Name] = true
					list = append(list, m)
				}
			}
		}
	}
	return list
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
