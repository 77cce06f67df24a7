// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Compared is a run with variants: what is compared, what was measured of it, and what that says.
type Compared struct {
	Run *v1alpha1.BenchmarkRun
	// Alternation is that of the plan.
	Alternation v1alpha1.Alternation
	// Variants in the order of the specification; Baseline is an index into them.
	Variants []Variant
	Baseline int
	// Sides are the variants in each round, in the order of measuring.
	Sides []Side
	// Rounds in which all was measured that they need.
	Rounds int
	// Pairs are judged in the order of Planned, by whole rounds. Overall has what all points of a variant with several say together.
	Pairs, Overall []stats.Paired
	// Planned are the points to compare.
	Planned []PlannedPair
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement
	// Warnings must be read with the answer.
	Warnings []finding.Finding
	// decidedBy is, by the label of a point, the round that decided the last of its pairs. The pairs are those of the judged rounds.
	decidedBy map[string]int
	// droppedBy is, by its index, the round that decided the last pair of a variant.
	droppedBy map[int]int
	judged    int
	// capacity is nil unless the run asks for one: pairs are then those of capacities.
	capacity *capacity
	// records are how many it is made of.
	records int
}

// Variant is what a run asks for in a variant, and what the records say of its server.
type Variant struct {
	Name string
	// Run as the variant asks for it, in the first round, and the plan of that.
	Run  *v1alpha1.BenchmarkRun
	Plan *plan.Plan
	// Differences from the baseline that are requested. Others is nil of the baseline, and if nothing is known of them.
	Differences []plan.Difference
	Others      *OtherVariables
	// Volume is nil if nothing is known of it.
	Volume *v1alpha1.VolumeStatus
	// Variables of the server, as the first attempt that counts read them; nil if they are not known.
	Variables map[string]string
}

// Side is a variant in a round.
type Side struct {
	plan.Member
	Environment v1alpha1.Environment
	// Points are those of the variant's plan with what was measured; nil until all trials are that the round needs.
	Points []stats.Point
}

// Measured says whether all is measured that the round needs of the variant, and that this is not nothing.
func (s *Side) Measured() bool {
	return slices.ContainsFunc(s.Points, func(p stats.Point) bool { return len(p.Records) > 0 })
}

// PlannedPair is a point of a variant that the baseline has too.
type PlannedPair struct {
	Variant int
	// Of and With are the indexes of the point among those of the variant and of the baseline.
	Of, With int
}

// PlanVariants is what a run with variants compares. What each variant asks for is planned by the function; it has the conditions
// of the run. The error is for the author of a run that the API server accepts and that cannot be carried out.
func PlanVariants(
	run *v1alpha1.BenchmarkRun, planRun func(*v1alpha1.BenchmarkRun) (*plan.Plan, error),
) (*Compared, error) {
	c := &Compared{Run: run, Baseline: plan.Baseline(&run.Spec)}
	for _, m := range plan.Members(&run.Spec) {
		c.Sides = append(c.Sides, Side{Member: m})
	}
	var err error
	for i := range run.Spec.Variants {
		v := Variant{Name: run.Spec.Variants[i].Name, Run: plan.Side(run, i, 1)}
		v.Run.Status = v1alpha1.BenchmarkRunStatus{Conditions: run.Status.Conditions}
		if v.Plan, err = planRun(v.Run); err != nil {
			return new(Compared), fmt.Errorf("variant %s: %w", v.Name, err)
		}
		c.Variants = append(c.Variants, v)
	}
	baseline := &c.Variants[c.Baseline]
	for i := range c.Variants {
		if i == c.Baseline {
			continue
		}
		v := &c.Variants[i]
		pairs := pairsOf(i, v.Plan, baseline.Plan)
		if len(pairs) == 0 {
			return new(Compared), fmt.Errorf("variant %s has no point in common with the baseline %s: nothing can be compared",
				v.Name, baseline.Name)
		}
		if run.Spec.Capacity != nil {
			pairs = pairs[:1] // one capacity for all rates
		}
		c.Planned = append(c.Planned, pairs...)
		if v.Differences, err = plan.Differences(&baseline.Run.Spec, &v.Run.Spec); err != nil {
			return new(Compared), fmt.Errorf("variant %s: %w", v.Name, err)
		}
	}
	return c, nil
}

// pairsOf are the points of a variant that the baseline has too, in the variant's order.
func pairsOf(variant int, of, baseline *plan.Plan) []PlannedPair {
	there := map[string]int{}
	for i, point := range baseline.Points {
		there[stats.Label(point.Parameters)] = i
	}
	var pairs []PlannedPair
	for i, point := range of.Points {
		if with, found := there[stats.Label(point.Parameters)]; found {
			pairs = append(pairs, PlannedPair{Variant: variant, Of: i, With: with})
		}
	}
	return pairs
}

// OfVariants analyses a run with that plan, unless that was done before for as many records; nil of a run without variants.
// Variables are those of the servers by variant, as far as they are known.
func OfVariants(
	run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record, variables map[string]map[string]string, before *Compared,
) *Compared {
	switch {
	case p == nil || len(p.Variants) == 0:
		return nil
	case before != nil && before.records == len(records):
		return before
	}
	c, err := PlanVariants(run, func(one *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&one.Spec) })
	if err != nil {
		return nil // it was refused before anything was measured
	}
	c.Alternation, c.records, c.decidedBy, c.droppedBy = p.Alternation, len(records), map[string]int{}, map[int]int{}
	for i := range c.Variants {
		c.Variants[i].Variables = variables[c.Variants[i].Name]
	}
	accepted := byTrial(records)
	c.capacity = capacityOf(&run.Spec, p, accepted)
	for i := range c.Sides {
		c.measure(&c.Sides[i], p, records, accepted)
		if (i+1)%len(c.Variants) == 0 {
			c.decide(p, (i+1)/len(c.Variants), before)
		}
	}
	c.Judge(before)
	return c
}

// measure sets what the records, of which the accepted ones are given by their trials, say of a side.
func (c *Compared) measure(s *Side, p *plan.Plan, records []*result.Record, accepted map[int]*result.Record) {
	trials, own := c.trialsOf(p, records, accepted, s.Member)
	if len(trials) > 0 && len(own) == 0 {
		return
	}
	s.Environment = environmentOf(&c.Run.Spec, own)
	if len(AcceptedIn(own)) == len(trials) {
		of := &plan.Plan{Points: c.Variants[s.Variant].Plan.Points, Stages: p.Stages, Rounds: 1}
		of.Trials = p.TrialsAt(trials, of.Points)
		s.Points = pointsOf(c.Run, of, own)
	}
}

// trialsOf a side are those of its round that measure its variant, with their records as if nothing else was measured. One with
// an accepted record has measured what that says, and no more is needed of it.
func (c *Compared) trialsOf(
	p *plan.Plan, records []*result.Record, accepted map[int]*result.Record, m plan.Member,
) (trials []plan.Trial, own []*result.Record) {
	numbers := map[int]bool{}
	for i := range p.Trials {
		t := &p.Trials[i]
		if t.Round != m.Round || !slices.Contains(t.Sides, m.Variant) {
			continue
		}
		needed := c.Needs(m.Variant, t.Round) && !c.leavesOut(p, t)
		if r := accepted[t.Number]; r != nil {
			needed = len(r.Sides) == 0 || r.Measures(p.Variants[m.Variant])
		}
		if needed {
			trials, numbers[t.Number] = append(trials, *t), true
		}
	}
	for _, r := range records {
		if numbers[r.Trial] {
			own = append(own, r.Side(p.Variants[m.Variant]))
		}
	}
	return trials, own
}

// Metric that the side measured, by its name: empty is the headline metric. It says whether there is one.
func (s *Side) Metric(name string) (m result.Metric, found bool) {
	for _, r := range recordsAt(s.Points) {
		if of, has := r.Summary.Metric(name); has {
			m, found = of, true
		}
	}
	m.Value = 0
	return m, found
}

// Value of a metric at a point, or not a number.
func (s *Side) Value(name string, point int) float64 {
	if values := s.Points[point].In(name).Values; len(values) > 0 {
		return values[0] // of one round
	}
	return math.NaN()
}

// MissedRate says whether a stage did not reach its offered rate. Without stages, the rate is what is measured.
func MissedRate(r *result.Record) bool {
	return r.Summary.Stage != "" && slices.ContainsFunc(r.Summary.Findings, func(f finding.Finding) bool {
		return f.Code == finding.RateNotReached
	})
}
