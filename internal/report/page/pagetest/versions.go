// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"fmt"
	"math"
	"time"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Versions compares that many versions of a server with the first one, at that many points: the newer, the slower at every third
// point.
func Versions(variants, points int) Case {
	m := newMaker("versions", "Sysbench", comparisonSpec)
	metric := result.Metric{Name: "transactionsPerSecond", Unit: "transactions/s", Better: "higher"}
	s := m.variants("all 10 rounds are measured")
	s.Started = time.Date(2026, 11, 25, 18, 30, 0, 0, time.UTC)
	values := func(point, variant int) []float64 {
		factor := 1.0
		if point%3 == 0 {
			factor = math.Pow(0.98, float64(variant))
		}
		var list []float64
		for range rounds {
			list = append(list, 100*float64(1+point)*factor*(1+0.01*float64(1+point%7)*m.random.NormFloat64()))
		}
		return list
	}
	design := stats.Design{
		MinRounds: 6, MaxRounds: rounds, EarlyStop: true, EquivalencePercent: 5, Comparisons: points * (variants - 1),
	}
	name := func(variant int) string { return fmt.Sprintf("11-%d", variant) }
	for variant := range variants {
		s.Variants = append(s.Variants, report.Variant{Name: name(variant), Baseline: variant == 0, SpecDigest: "v1:sha256:01ab"})
	}
	for point := range points {
		parameters := map[string]string{"script": fmt.Sprintf("script_%02d", point)}
		baseline := values(point, 0)
		for variant := 1; variant < variants; variant++ {
			pair := stats.Paired{
				Variant: name(variant), Baseline: name(0), Parameters: parameters, Metric: metric,
				BaselineValues: baseline, Values: values(point, variant),
				Costs: []stats.Cost{{Name: "serverMicrosPerTransaction", Unit: "µs/transaction", Baseline: 61, Variant: 60}},
			}
			pair.Judge(design)
			s.Pairs = append(s.Pairs, pair)
		}
	}
	for round := range rounds {
		for variant := range variants {
			for point := range points {
				pair := &s.Pairs[point*(variants-1)+max(variant-1, 0)]
				of := metric
				of.Value = pair.BaselineValues[round]
				if variant > 0 {
					of.Value = pair.Values[round]
				}
				Add(s, &result.Record{
					Trial: len(s.Records) + 1, Attempt: 1, Parameters: pair.Parameters, Outcome: result.OutcomeAccepted,
					Summary: &result.Summary{Metrics: []result.Metric{of}},
				}, name(variant), round+1)
			}
		}
	}
	s.Overall = design.Overall(s.Pairs)
	return Case{s, nil}
}
