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

// addCosts keeps the metrics of a point that say what a unit of work takes. Their unit has a divisor, which is not the second: a
// rate per second says nothing that the headline does not.
func (m *Measurements) addCosts(point int, metrics []result.Metric) {
	for _, metric := range metrics {
		_, per, found := strings.Cut(metric.Unit, "/")
		if !found || per == "s" {
			continue
		}
		i := slices.IndexFunc(m.Costs, func(c Cost) bool { return c.Name == metric.Name })
		if i < 0 {
			i = len(m.Costs)
			m.Costs = append(m.Costs, Cost{Name: metric.Name, Unit: metric.Unit, Values: notMeasured(len(m.Values))})
		}
		m.Costs[i].Values[point] = metric.Value
	}
}

// at is the cost of that name at a point, or not a number.
func (m *Measurements) at(name string, point int) float64 {
	i := slices.IndexFunc(m.Costs, func(c Cost) bool { return c.Name == name })
	if i < 0 {
		return math.NaN()
	}
	return m.Costs[i].Values[point]
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
	for _, c := range seen.Members[first].Measured.Costs {
		ours, theirs := values(pair.Variant, pair.Of, c.Name), values(p.Baseline, pair.With, c.Name)
		if len(ours) > 0 && len(theirs) > 0 {
			list = append(list, stats.Cost{
				Name: c.Name, Unit: c.Unit, Baseline: stats.Summarize(theirs).Median, Variant: stats.Summarize(ours).Median,
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
