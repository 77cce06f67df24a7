// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// measuredTrial is a trial that counts: in a comparison, what a run measured at a point.
type measuredTrial struct {
	claims.Series
	round int
	of    func(metric string) (float64, bool)
}

// measuredTrials in the order of the sweep, and of measuring at each point.
func (r *Report) measuredTrials() []measuredTrial {
	var list []measuredTrial
	rounds := r.roundOf()
	for _, p := range r.Points {
		for _, record := range p.Records {
			of := func(metric string) (float64, bool) {
				m, found := record.Summary.Metric(metric)
				return m.Value, found
			}
			list = append(list, measuredTrial{claims.Series{Parameters: p.Parameters}, rounds[record.Trial], of})
		}
	}
	return list
}

// measuredTrials in the order of the variants, of the rounds and of the sweep.
func (s *Comparison) measuredTrials() []measuredTrial {
	var list []measuredTrial
	for i := range s.Variants {
		for j := range s.Runs {
			run := &s.Runs[j]
			if run.Variant != s.Variants[i].Name || run.Round > s.Rounds {
				continue
			}
			for _, v := range run.Values {
				of := func(metric string) (float64, bool) { return run.at(metric, v.Parameters) }
				list = append(list, measuredTrial{claims.Series{Variant: run.Variant, Parameters: v.Parameters}, run.Round, of})
			}
		}
	}
	return list
}

// at a point the value of a metric; false if there is none.
func (r *ComparisonRun) at(metric string, parameters map[string]string) (float64, bool) {
	_, values := r.Of(metric)
	label := stats.Label(parameters)
	i := slices.IndexFunc(values, func(v ComparisonValue) bool { return stats.Label(v.Parameters) == label })
	if i < 0 {
		return 0, false
	}
	return values[i].Value, true
}
