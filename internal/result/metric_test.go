// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import "testing"

// A metric is found by its name; the duration follows from the totals, unless a program has reported one of that name.
func TestMetricOfSummary(t *testing.T) {
	s := &Summary{Metrics: []Metric{{Name: "rowsPerSecond", Value: 7}, {Name: "errorPercent", Value: 1}}, Totals: Totals{Micros: 2_500_000}}
	for name, want := range map[string]float64{"": 7, "rowsPerSecond": 7, "errorPercent": 1, DurationMetric: 2.5} {
		if m, found := s.Metric(name); !found || m.Value != want {
			t.Errorf("%q is %+v, %t", name, m, found)
		}
	}
	if m, found := s.Metric("rows"); found {
		t.Errorf("rows is %+v", m)
	}
	own := &Summary{Metrics: []Metric{{Name: DurationMetric, Value: 9}}, Totals: s.Totals}
	if m, _ := own.Metric(DurationMetric); m.Value != 9 {
		t.Errorf("the program's own duration is %v", m.Value)
	}
	if _, found := new(Summary).Metric(DurationMetric); found {
		t.Error("a duration of nothing")
	}
}
