// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"slices"
	"strings"
)

// DurationMetric is the name of how long the measured phase took. No loader reports it: it follows from the totals.
const DurationMetric = "durationSeconds"

// RowsMetric is the name of how many rows were inserted, as far as the workload counts rows: an attempt whose rows the server
// counts differently does not count. No loader reports it, either.
const RowsMetric = "insertedRows"

// Metric of an attempt by its name; an empty name is that of the first one. Percentiles of latencies have the names of their
// columns in results.csv, for example insertP99Micros. It says whether there is one.
func (s *Summary) Metric(name string) (Metric, bool) {
	i := slices.IndexFunc(s.Metrics, func(m Metric) bool { return name == "" || m.Name == name })
	switch {
	case i >= 0:
		return s.Metrics[i], true
	case name == DurationMetric && s.Totals.Micros > 0:
		return Metric{Name: name, Value: float64(s.Totals.Micros) / 1e6, Unit: "s", Better: "lower"}, true
	case name == RowsMetric && s.Totals.Rows > 0:
		return Metric{Name: name, Value: float64(s.Totals.Rows), Unit: "rows", Better: "higher"}, true
	}
	return s.percentile(name)
}

// percentile of a latency by the name of its column.
func (s *Summary) percentile(name string) (Metric, bool) {
	for _, l := range s.Latencies {
		of, found := strings.CutPrefix(name, l.Operation)
		value, known := l.Percentiles()[of]
		if found && known && l.Count > 0 {
			return Metric{Name: name, Value: float64(value), Unit: "µs", Better: "lower"}, true
		}
	}
	return Metric{}, false
}

// Percentiles by what the columns of results.csv have behind the name of the operation.
func (l *Latency) Percentiles() map[string]int64 {
	return map[string]int64{
		"P50Micros": l.P50Micros, "P95Micros": l.P95Micros, "P99Micros": l.P99Micros, "P999Micros": l.P999Micros,
		"MaxMicros": l.MaxMicros,
	}
}
