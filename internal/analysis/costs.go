// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

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

// costs of a pair: the medians over the rounds, of what was measured for both.
func costs(p *ComparisonPlan, runs *ComparisonRuns, rounds int, pair PlannedPair) []stats.Cost {
	values := func(variant, point int, name string) (list []float64) {
		for i, m := range p.Members[:rounds*len(p.Variants)] {
			if v := runs.Members[i].Measured.at(name, point); m.Variant == variant && !math.IsNaN(v) {
				list = append(list, v)
			}
		}
		return list
	}
	var list []stats.Cost
	first := slices.IndexFunc(p.Members, func(m plan.Member) bool { return m.Variant == pair.Variant })
	for _, c := range runs.Members[first].Measured.Others {
		ours, theirs := values(pair.Variant, pair.Of, c.Metric.Name), values(p.Baseline, pair.With, c.Metric.Name)
		if isCost(c.Metric) && len(ours) > 0 && len(theirs) > 0 {
			list = append(list, stats.Cost{
				Name: c.Metric.Name, Unit: c.Metric.Unit, Baseline: stats.Summarize(theirs).Median, Variant: stats.Summarize(ours).Median,
			})
		}
	}
	return list
}
