// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import "testing"

// A metric is found by its name; the duration follows from the totals, unless a program has reported one of that name.
func TestMetricOfSummary(t *testing.T) {
	s := &Summary{Metrics: []Metric{{Name: "rowsPerSecond", Value: 7}, {Name: "errorPercent", Value: 1}}, Totals: Totals{Micros: 2_500_000, Rows: 3}, Latencies: []Latency{
		{Operation: "insert", Count: 1, P50Micros: 50, P95Micros: 95, P99Micros: 99, P999Micros: 999, MaxMicros: 1000}, {Operation: "commit"},
	}}
	for name, want := range map[string]float64{
		"": 7, "rowsPerSecond": 7, "errorPercent": 1, DurationMetric: 2.5, RowsMetric: 3,
		"insertP50Micros": 50, "insertP95Micros": 95, "insertP99Micros": 99, "insertP999Micros": 999, "insertMaxMicros": 1000,
	} {
		if m, found := s.Metric(name); !found || m.Value != want {
			t.Errorf("%q is %+v, %t", name, m, found)
		}
	}
	for _, name := range []string{"rows", "commitP50Micros", "insertP42Micros", "P50Micros", "insert"} {
		if m, found := s.Metric(name); found {
			t.Errorf("%s is %+v", name, m)
		}
	}
	own := &Summary{Metrics: []Metric{{Name: DurationMetric, Value: 9}}, Totals: s.Totals}
	if m, _ := own.Metric(DurationMetric); m.Value != 9 {
		t.Errorf("the program's own duration is %v", m.Value)
	}
	if _, found := new(Summary).Metric(DurationMetric); found {
		t.Error("a duration of nothing")
	}
}
