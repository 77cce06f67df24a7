// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Judged is what the whole rounds of a suite say.
type Judged struct {
	// Rounds in which every variant was measured.
	Rounds int
	// Pairs are the comparisons in the order of the plan.
	Pairs []stats.Paired
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement
}

// Decided says whether neither a comparison nor a claim needs more rounds.
func (j *Judged) Decided() bool {
	return len(j.Pairs) > 0 && !slices.ContainsFunc(j.Pairs, func(p stats.Paired) bool { return !p.Decided }) &&
		!slices.ContainsFunc(j.Claims, func(c claims.Judgement) bool { return !c.Settled })
}

// unanswered is how many comparisons have no answer.
func (j *Judged) unanswered() int {
	n := 0
	for i := range j.Pairs {
		if !j.Pairs[i].Answered() {
			n++
		}
	}
	return n
}

// wholeRounds is how many rounds there are in which every variant was measured, from the first on without a gap.
func wholeRounds(p *SuitePlan, seen *SuiteObserved) int {
	rounds := 0
	for first := 0; first+len(p.Variants) <= len(seen.Members) && len(p.Variants) > 0; first += len(p.Variants) {
		round := seen.Members[first : first+len(p.Variants)]
		if slices.ContainsFunc(round, func(m SuiteMember) bool { return m.Measured == nil }) {
			break
		}
		rounds++
	}
	return rounds
}

// Judge compares the variants by their whole rounds, unless that was done before for as many.
func Judge(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved, before Judged) Judged {
	rounds := wholeRounds(p, seen)
	if rounds == 0 || rounds == before.Rounds {
		return before
	}
	// values of a variant at a point, round by round.
	values := func(variant, point int) []float64 {
		list := make([]float64, rounds)
		for i, m := range p.Members[:rounds*len(p.Variants)] {
			if m.Variant == variant {
				list[m.Round-1] = seen.Members[i].Measured.Values[point]
			}
		}
		return list
	}
	first := func(variant int) *Measurements {
		return seen.Members[slices.IndexFunc(p.Members, func(m plan.Member) bool { return m.Variant == variant })].Measured
	}
	design := design(suite, p)
	baselines := map[int][]float64{}
	j := Judged{Rounds: rounds}
	for _, pair := range p.Pairs {
		if baselines[pair.With] == nil {
			baselines[pair.With] = values(p.Baseline, pair.With)
		}
		ours, theirs := first(pair.Variant).Metric, first(p.Baseline).Metric
		paired := stats.Paired{
			Variant: suite.Spec.Variants[pair.Variant].Name, Baseline: suite.Spec.Variants[p.Baseline].Name,
			Parameters: p.Variants[pair.Variant].Plan.Points[pair.Of].Parameters, Metric: ours,
			BaselineValues: baselines[pair.With], Values: values(pair.Variant, pair.Of),
		}
		if ours != theirs {
			paired.Obstacle = fmt.Sprintf("one measures %s in %s, the other %s in %s", ours.Name, ours.Unit, theirs.Name, theirs.Unit)
		}
		paired.Judge(design)
		paired.Costs = costs(p, seen, rounds, pair)
		j.Pairs = append(j.Pairs, paired)
	}
	j.Claims = ClaimsOfSuite(suite, p, seen, rounds)
	return j
}

// MeasurementsOf a run with the points of that plan, from the records of its attempts, with the metrics that the suite names
// besides the headline metric. The order of the trials is the run's own: it is drawn from the seed of the round.
func MeasurementsOf(p *plan.Plan, records []*result.Record, named []string) *Measurements {
	m := &Measurements{
		Values: notMeasured(len(p.Points)), Rows: decidedRows(records), Served: lastServed(records, plan.Served{}),
	}
	for _, r := range records {
		if server := r.Place.DatabasePodUID; r.Outcome == result.OutcomeAccepted && !slices.Contains(m.Servers, server) {
			m.Servers = append(m.Servers, server)
		}
	}
	points := map[string]int{}
	for i, point := range p.Points {
		points[stats.Label(point.Parameters)] = i
	}
	accepted := acceptedOf(records)
	byPoint := make([][]*result.Record, len(p.Points))
	for _, t := range p.Trials {
		r := accepted[t.Number]
		if r == nil || len(r.Summary.Metrics) == 0 {
			continue
		}
		if point, known := points[stats.Label(r.Parameters)]; known {
			m.read(point, r.Summary, named)
			byPoint[point] = append(byPoint[point], r)
		}
	}
	m.Metric.Value = 0
	m.warn(byPoint)
	return m
}

// Bounds of the warnings that are kept of a run: as many as a status can show of each, and not much longer.
const maxRunWarnings, maxRunWarningBytes, maxRunMeasures = 64, 512, 16

// warn keeps the warnings of the points, given by their records. A suite has them of all of its runs in memory.
func (m *Measurements) warn(byPoint [][]*result.Record) {
	var all []stats.Warning
	for _, records := range byPoint {
		all = append(all, stats.Summarized(nil, records).Warnings...)
	}
	merged := stats.MergeWarnings(all)
	for _, w := range merged[:min(len(merged), maxRunWarnings)] {
		w.Finding = w.Condensed(maxRunWarningBytes, maxRunMeasures)
		m.Warnings = append(m.Warnings, w.Warning)
	}
}

// read what was measured at a point: the headline metric, those that are named and, if there are few points, costs.
func (m *Measurements) read(point int, summary *result.Summary, named []string) {
	m.Metric, m.Values[point] = summary.Metrics[0], summary.Metrics[0].Value
	for _, other := range summary.Metrics[1:] {
		if slices.Contains(named, other.Name) || len(m.Values) <= maxStatusPoints && isCost(other) {
			m.add(point, other)
		}
	}
	for _, name := range named { // what follows from the totals is none of the metrics above
		if other, found := summary.Metric(name); found && name != m.Metric.Name {
			m.add(point, other)
		}
	}
}

// design is how the comparisons of a suite are made.
func design(suite *v1alpha1.BenchmarkSuite, p *SuitePlan) stats.Design {
	stop := &suite.Spec.EarlyStop
	return stats.Design{
		MinRounds: int(stop.MinRounds), MaxRounds: int(suite.Spec.MaxRounds), EarlyStop: stop.Policy != v1alpha1.EarlyStopDisabled,
		EquivalencePercent: float64(suite.Spec.EquivalencePercent), Comparisons: len(p.Pairs),
	}
}
