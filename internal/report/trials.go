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
	// settings of the server in which variants differ, as they are asked for.
	settings map[string]string
	// of a metric, by its name, the unit and the value.
	of func(metric string) (unit string, value float64, found bool)
}

// measuredTrials in the order of the sweep, and of measuring at each point.
func (r *Report) measuredTrials() []measuredTrial {
	var list []measuredTrial
	rounds := r.roundOf()
	for _, p := range r.Points {
		for _, record := range p.Records {
			of := func(metric string) (string, float64, bool) {
				m, found := record.Summary.Metric(metric)
				return m.Unit, m.Value, found
			}
			list = append(list, measuredTrial{Series: claims.Series{Parameters: p.Parameters}, round: rounds[record.Trial], of: of})
		}
	}
	return list
}

// measuredTrials in the order of the variants, of the rounds and of the sweep.
func (s *Comparison) measuredTrials() []measuredTrial {
	var list []measuredTrial
	for i := range s.Variants {
		settings := s.settings(&s.Variants[i])
		for j := range s.Runs {
			run := &s.Runs[j]
			if run.Variant != s.Variants[i].Name || run.Round > s.Rounds {
				continue
			}
			for _, v := range run.Values {
				of := func(metric string) (string, float64, bool) { return run.at(metric, v.Parameters) }
				series := claims.Series{Variant: run.Variant, Parameters: v.Parameters}
				list = append(list, measuredTrial{series, run.Round, settings, of})
			}
		}
	}
	return list
}

// settings of a variant's server, as far as variants differ from the baseline in them: what is asked for. A variant that does not
// differ has the baseline's value, which any of those that do has beside its own.
func (s *Comparison) settings(of *ComparisonVariant) map[string]string {
	values := map[string]string{}
	for i := range s.Variants {
		for _, d := range s.Variants[i].Differences {
			values[d.Name] = d.From
		}
	}
	for _, d := range of.Differences {
		values[d.Name] = d.To
	}
	return values
}

// at a point the value of a metric, and its unit; false if there is none.
func (r *ComparisonRun) at(metric string, parameters map[string]string) (unit string, value float64, found bool) {
	unit, values := r.Of(metric)
	label := stats.Label(parameters)
	i := slices.IndexFunc(values, func(v ComparisonValue) bool { return stats.Label(v.Parameters) == label })
	if i < 0 {
		return "", 0, false
	}
	return unit, values[i].Value, true
}
