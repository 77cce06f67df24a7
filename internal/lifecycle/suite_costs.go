// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// isCost says whether a metric says what a unit of work takes, for example fsyncs per transaction. Its unit has a divisor, which
// is not the second: a rate per second says nothing that the headline does not.
func isCost(m result.Metric) bool {
	_, per, found := strings.Cut(m.Unit, "/")
	return found && per != "s"
}

// add keeps a metric's value at a point.
func (m *Measurements) add(point int, metric result.Metric) {
	i := m.index(metric.Name)
	if i < 0 {
		i = len(m.Others)
		m.Others = append(m.Others, MetricValues{Metric: metric, Values: notMeasured(len(m.Values))})
		m.Others[i].Metric.Value = 0
	}
	m.Others[i].Values[point] = metric.Value
}

// index of a metric among the others, or -1.
func (m *Measurements) index(name string) int {
	return slices.IndexFunc(m.Others, func(o MetricValues) bool { return o.Metric.Name == name })
}

// Of a metric: its values by point, or nil if nothing was measured of it; an empty name is that of the headline metric.
func (m *Measurements) Of(name string) (result.Metric, []float64) {
	if name == "" || name == m.Metric.Name {
		return m.Metric, m.Values
	}
	if i := m.index(name); i >= 0 {
		return m.Others[i].Metric, m.Others[i].Values
	}
	return result.Metric{}, nil
}

// at is the value of a metric at a point, or not a number.
func (m *Measurements) at(name string, point int) float64 {
	if _, values := m.Of(name); values != nil {
		return values[point]
	}
	return math.NaN()
}

// costs of a pair: the medians over the rounds, of what was measured for both.
func costs(p *SuitePlan, seen *SuiteObserved, rounds int, pair PlannedPair) []stats.Cost {
	values := func(variant, point int, name string) (list []float64) {
		for i, m := range p.Members[:rounds*len(p.Variants)] {
			if v := seen.Members[i].Measured.at(name, point); m.Variant == variant && !math.IsNaN(v) {
				list = append(list, v)
			}
		}
		return list
	}
	var list []stats.Cost
	first := slices.IndexFunc(p.Members, func(m plan.Member) bool { return m.Variant == pair.Variant })
	for _, c := range seen.Members[first].Measured.Others {
		ours, theirs := values(pair.Variant, pair.Of, c.Metric.Name), values(p.Baseline, pair.With, c.Metric.Name)
		if isCost(c.Metric) && len(ours) > 0 && len(theirs) > 0 {
			list = append(list, stats.Cost{
				Name: c.Metric.Name, Unit: c.Metric.Unit, Baseline: stats.Summarize(theirs).Median, Variant: stats.Summarize(ours).Median,
			})
		}
	}
	return list
}

// notMeasured are values of so many points that nothing is known of.
func notMeasured(points int) []float64 {
	list := make([]float64, points)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}
