// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Compared is what a run with variants says of them, from the records of its attempts so far.
type Compared struct {
	*Comparison
	// Asked is the run, Plan how its variants are compared, and Runs what each variant measured in each round.
	Asked *v1alpha1.BenchmarkRun
	Plan  *ComparisonPlan
	Runs  *ComparisonRuns
	// records are how many it is made of.
	records int
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
	c := &Compared{Asked: run, records: len(records)}
	var err error
	if c.Plan, err = PlanComparison(c.Asked, func(one *v1alpha1.BenchmarkRun) (*plan.Plan, error) {
		return plan.ForRun(&one.Spec)
	}); err != nil {
		return nil // it was refused before anything was measured
	}
	c.Plan.Alternation = p.Alternation
	c.Runs = memberRuns(run, p, c, records)
	for _, name := range p.Variants {
		c.Runs.Variables = append(c.Runs.Variables, variables[name])
	}
	verdicts := Verdicts{}
	if before != nil {
		verdicts = before.Verdicts
	}
	c.Comparison = OfComparison(c.Asked, c.Plan, c.Runs, Judge(c.Asked, c.Plan, c.Runs, verdicts))
	return c
}

// Enough says whether no further round is needed.
func (c *Compared) Enough() bool {
	return c != nil && c.Rounds > 0 && DesignOf(&c.Asked.Spec, len(c.Plan.Pairs)).EarlyStop && c.Decided()
}

// WhyStopped says why no further round is measured.
func (c *Compared) WhyStopped() string {
	if !c.Enough() {
		return fmt.Sprintf("all %d rounds are measured", c.Rounds)
	}
	if !c.Answered() {
		return fmt.Sprintf("%d rounds are measured, and a few more would give no answer", c.Rounds)
	}
	what := "every pair"
	if c.Policy == v1alpha1.RoundsOverallDecided && len(c.Overall) > 0 {
		what = "every variant, over all points together,"
	}
	if len(c.Claims) > 0 {
		what += " and every claim"
	}
	return fmt.Sprintf("%s has its answer after %d rounds", what, c.Rounds)
}

// memberRuns are what each variant measured in each round, as if each were a run of its own.
func memberRuns(run *v1alpha1.BenchmarkRun, p *plan.Plan, c *Compared, records []*result.Record) *ComparisonRuns {
	named := NamedMetrics(run.Spec.Claims)
	runs := &ComparisonRuns{Members: make([]Member, len(c.Plan.Members))}
	for i, m := range c.Plan.Members {
		trials, own := trialsOf(p, records, m)
		if len(own) == 0 {
			continue
		}
		one := plan.Side(run, m.Variant, m.Round)
		one.Name = plan.MemberName(c.Asked, m)
		one.Status = memberStatus(run, own)
		runs.Members[i].Run = one
		for _, t := range trials {
			runs.Members[i].Trials = append(runs.Members[i].Trials, t.Number)
		}
		if len(AcceptedIn(own)) == len(trials) {
			of := &plan.Plan{Points: c.Plan.Variants[m.Variant].Plan.Points, Stages: p.Stages, Rounds: 1}
			of.Trials = p.TrialsAt(trials, of.Points)
			runs.Members[i].Measured = MeasurementsOf(of, own, named)
			one.Status.Conditions = []metav1.Condition{
				{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue},
				{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue},
			}
		}
	}
	return runs
}

// trialsOf a member are those of its round that measure its variant, with their records as if nothing else was measured.
func trialsOf(p *plan.Plan, records []*result.Record, m plan.Member) (trials []plan.Trial, own []*result.Record) {
	numbers := map[int]bool{}
	for _, t := range p.Trials {
		if t.Round == m.Round && slices.Contains(t.Sides, m.Variant) {
			trials, numbers[t.Number] = append(trials, t), true
		}
	}
	for _, r := range records {
		if numbers[r.Trial] {
			own = append(own, r.Side(p.Variants[m.Variant]))
		}
	}
	return trials, own
}

// memberStatus is what the records of a variant in a round say of where it was measured.
func memberStatus(run *v1alpha1.BenchmarkRun, own []*result.Record) v1alpha1.BenchmarkRunStatus {
	status := v1alpha1.BenchmarkRunStatus{Images: run.Status.Images}
	external := run.Spec.Database.Provisioner == v1alpha1.ProvisionerExternal
	status.Environment = APIEnvironment(EnvironmentOf(own), external)
	invalidated := int32(0)
	for _, r := range own {
		if r.Outcome == result.OutcomeInvalidated {
			invalidated++
		}
	}
	status.Trials.Invalidated = ptr.To(invalidated)
	return status
}
