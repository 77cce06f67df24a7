// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Verdicts are what the whole rounds of a comparison say.
type Verdicts struct {
	// Policy of the comparison, which says whose answers it is to have.
	Policy v1alpha1.EarlyStopPolicy
	// Rounds in which every variant was measured.
	Rounds int
	// Pairs are the pairs in the order of the plan.
	Pairs []stats.Paired
	// Overall has, of each variant with several points, what all of them say together.
	Overall []stats.Paired
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement
}

// asked are those whose answers the comparison is to have: all pairs, or what the points of each variant say together, and the
// pairs of a variant whose points do not.
func (v *Verdicts) asked() []stats.Paired {
	if v.Policy != v1alpha1.EarlyStopWhenOverallDecided {
		return v.Pairs
	}
	asked := slices.Clone(v.Overall)
	for _, p := range v.Pairs {
		if !slices.ContainsFunc(v.Overall, func(o stats.Paired) bool { return o.Variant == p.Variant }) {
			asked = append(asked, p)
		}
	}
	return asked
}

// Answered says whether all that the comparison is to have has an answer.
func (v *Verdicts) Answered() bool { return unanswered(v.asked()) == 0 }

// Unanswered is how many pairs have no answer.
func (v *Verdicts) Unanswered() int { return unanswered(v.Pairs) }

func unanswered(pairs []stats.Paired) int {
	n := 0
	for i := range pairs {
		if !pairs[i].Answered() {
			n++
		}
	}
	return n
}

// Decided says whether neither what is asked nor a claim needs more rounds.
func (v *Verdicts) Decided() bool {
	asked := v.asked()
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(p stats.Paired) bool { return !p.Decided }) &&
		!slices.ContainsFunc(v.Claims, func(c claims.Judgement) bool { return !c.Settled })
}

// wholeRounds is how many rounds there are in which every variant was measured, from the first on without a gap.
func wholeRounds(p *ComparisonPlan, runs *ComparisonRuns) int {
	rounds := 0
	for first := 0; first+len(p.Variants) <= len(runs.Members) && len(p.Variants) > 0; first += len(p.Variants) {
		round := runs.Members[first : first+len(p.Variants)]
		if slices.ContainsFunc(round, func(m Member) bool { return m.Measured == nil }) {
			break
		}
		rounds++
	}
	return rounds
}

// Judge compares the variants by their whole rounds, unless that was done before for as many.
func Judge(comparison *v1alpha1.BenchmarkComparison, p *ComparisonPlan, runs *ComparisonRuns, before Verdicts) Verdicts {
	rounds := wholeRounds(p, runs)
	if rounds == 0 || rounds == before.Rounds {
		return before
	}
	// values of a variant at a point, round by round.
	values := func(variant, point int) []float64 {
		list := make([]float64, rounds)
		for i, m := range p.Members[:rounds*len(p.Variants)] {
			if m.Variant == variant {
				list[m.Round-1] = runs.Members[i].Measured.Values[point]
			}
		}
		return list
	}
	first := func(variant int) *Measurements {
		return runs.Members[slices.IndexFunc(p.Members, func(m plan.Member) bool { return m.Variant == variant })].Measured
	}
	design := DesignOf(&comparison.Spec, len(p.Pairs))
	baselines := map[int][]float64{}
	v := Verdicts{Policy: comparison.Spec.EarlyStop.Policy, Rounds: rounds}
	for _, pair := range p.Pairs {
		if baselines[pair.With] == nil {
			baselines[pair.With] = values(p.Baseline, pair.With)
		}
		ours, theirs := first(pair.Variant).Metric, first(p.Baseline).Metric
		paired := stats.Paired{
			Variant: comparison.Spec.Variants[pair.Variant].Name, Baseline: comparison.Spec.Variants[p.Baseline].Name,
			Parameters:     p.Variants[pair.Variant].Plan.Points[pair.Of].Parameters,
			BaselineValues: baselines[pair.With], Values: values(pair.Variant, pair.Of),
		}
		paired.Measures(ours, theirs)
		paired.RateMissed = rateMissed(p, runs, rounds, pair)
		paired.Judge(design)
		paired.Costs = costs(p, runs, rounds, pair)
		v.Pairs = append(v.Pairs, paired)
	}
	v.Overall = design.Overall(v.Pairs)
	v.Claims = claimsOfComparison(comparison, p, runs, rounds)
	return v
}

// rateMissed says whether any of the rounds missed the offered rate at one of the two points of a pair.
func rateMissed(p *ComparisonPlan, runs *ComparisonRuns, rounds int, pair PlannedPair) bool {
	for i, m := range p.Members[:rounds*len(p.Variants)] {
		missed := runs.Members[i].Measured.RateMissed
		if m.Variant == pair.Variant && missed[pair.Of] || m.Variant == p.Baseline && missed[pair.With] {
			return true
		}
	}
	return false
}

// DesignOf a comparison is how it makes that many pairs. If these are more than there are variants besides the baseline, there
// are several points.
func DesignOf(spec *v1alpha1.BenchmarkComparisonSpec, comparisons int) stats.Design {
	stop := &spec.EarlyStop
	return stats.Design{
		MinRounds: int(stop.MinRounds), MaxRounds: int(spec.MaxRounds), EarlyStop: stop.Policy != v1alpha1.EarlyStopDisabled,
		EquivalencePercent: float64(spec.EquivalencePercent), Comparisons: comparisons,
		Together: comparisons > len(spec.Variants)-1,
	}
}
