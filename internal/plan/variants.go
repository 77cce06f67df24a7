// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Defaults of a run with variants, as the API server sets them.
const (
	defaultRounds, defaultLeastRounds = 20, 6
	defaultEquivalent                 = 5
)

// AsComparison is what a run with variants asks for, in the words of a comparison.
func AsComparison(run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	spec := run.Spec.DeepCopy()
	c := &v1alpha1.BenchmarkRun{ObjectMeta: run.ObjectMeta}
	rounds := ptr.Deref(spec.Rounds, v1alpha1.RoundsSpec{
		AtMost: defaultRounds, AtLeast: defaultLeastRounds, Until: v1alpha1.RoundsDecided,
	})
	c.Spec = v1alpha1.BenchmarkRunSpec{
		Variants: spec.Variants, Baseline: spec.Baseline, MaxRounds: rounds.AtMost, Alternation: spec.Alternation,
		TrialsPerRound: ptr.To(ptr.Deref(spec.Trials.Repetitions, 1)), Claims: spec.Claims, Seed: spec.Seed,
		EquivalencePercent: ptr.Deref(spec.EquivalentWithinPercent, defaultEquivalent),
		EarlyStop:          v1alpha1.EarlyStopSpec{Policy: v1alpha1.RoundsDecided, MinRounds: rounds.AtLeast},
	}
	switch rounds.Until {
	case v1alpha1.RoundsAll:
		c.Spec.Rounds.Until = v1alpha1.RoundsAll
	case v1alpha1.RoundsOverallDecided:
		c.Spec.Rounds.Until = v1alpha1.RoundsOverallDecided
	case v1alpha1.RoundsDecided:
	}
	if c.Spec.Alternation == "" {
		c.Spec.Alternation = v1alpha1.AlternateAutomatic
	}
	spec.Variants, spec.Baseline, spec.Rounds, spec.Alternation, spec.EquivalentWithinPercent = nil, "", nil, "", nil
	spec.Claims, spec.Title = nil, ""
	c.Spec = *spec
	c.Status.Conditions, c.Status.StartTime = run.Status.Conditions, run.Status.StartTime
	c.Status.VariantsStatus = run.Status.VariantsStatus
	return c
}

// Side is a run as one of its variants asks for it in a round: what is made and measured for that variant. It has the run's name,
// UID and labels, because what is made is the run's. A run without variants is its own.
func Side(run *v1alpha1.BenchmarkRun, variant, round int) *v1alpha1.BenchmarkRun {
	if len(run.Spec.Variants) == 0 {
		return run
	}
	c := AsComparison(run)
	one := MemberRun(c, Member{Round: round, Variant: variant, Seed: RoundSeed(&c.Spec, round)})
	one.TypeMeta, one.ObjectMeta, one.Status = run.TypeMeta, run.ObjectMeta, run.Status
	one.Spec.Suspend = run.Spec.Suspend
	return one
}

// Sides is how many variants a run measures: one if it has none.
func Sides(run *v1alpha1.BenchmarkRun) int { return max(1, len(run.Spec.Variants)) }

// The database instances of a run are numbered in sets: one for each variant, in their order.

// VariantOf an instance is the index of its variant.
func VariantOf(run *v1alpha1.BenchmarkRun, instance int) int { return (instance - 1) % Sides(run) }

// SetOf an instance is the number of its set, from 1; 0 is none.
func SetOf(run *v1alpha1.BenchmarkRun, instance int) int {
	return (instance + Sides(run) - 1) / Sides(run)
}

// InstanceIn a set is the instance of a variant.
func InstanceIn(run *v1alpha1.BenchmarkRun, set, variant int) int {
	return (set-1)*Sides(run) + variant + 1
}

// forVariants computes the plan of a run with variants: the trials of all rounds. All variants have the same points.
func forVariants(run *v1alpha1.BenchmarkRun, alternation v1alpha1.Alternation) (*Plan, error) {
	c := AsComparison(run)
	p := &Plan{Rounds: int(c.Spec.Rounds.AtMost), Alternation: alternation}
	for i, v := range c.Spec.Variants {
		one, err := ForRun(&Side(run, i, 1).Spec)
		switch {
		case err != nil:
			return nil, fmt.Errorf("variant %s: %w", v.Name, err)
		case i == 0:
			p.Points, p.Stages = one.Points, one.Stages
		case !slices.EqualFunc(p.Points, one.Points, Point.Equal):
			return nil, fmt.Errorf("variant %s: its sweep has other points than that of variant %s: all variants are measured at the "+
				"same points", v.Name, c.Spec.Variants[0].Name)
		}
		p.Variants = append(p.Variants, v.Name)
		p.Bytes += one.Bytes
	}
	each := int(TrialsPerRound(&c.Spec)) * max(1, len(p.Points)/max(1, p.Stages))
	if alternation != v1alpha1.AlternateSlices {
		each *= len(p.Variants)
	}
	if p.Rounds*each > MaxTrials {
		return nil, fmt.Errorf("a run has at most %d trials, but %d rounds of %d trials are %d: allow fewer rounds, or compare less",
			MaxTrials, p.Rounds, each, p.Rounds*each)
	}
	p.Trials = p.inRounds(run, c)
	return p, nil
}

// inRounds are the trials of all rounds. In one, all variants visit the points in the same order, which is drawn from its seed.
func (p *Plan) inRounds(run *v1alpha1.BenchmarkRun, c *v1alpha1.BenchmarkRun) []Trial {
	var trials []Trial
	add := func(round, point int, sides ...int) {
		trials = append(trials, Trial{Number: len(trials) + 1, Round: round, Point: point * max(1, p.Stages), Sides: sides})
	}
	all := make([]int, len(p.Variants))
	for i := range all {
		all[i] = i
	}
	members, repeated := ForComparison(&c.Spec), int(TrialsPerRound(&c.Spec))
	for first := 0; first < len(members); first += len(all) {
		round := members[first].Round
		visits := order(len(p.Points)/max(1, p.Stages), repeated, run.Spec.Trials.Order, members[first].Seed)
		switch p.Alternation {
		case v1alpha1.AlternateSlices:
			for _, v := range visits {
				add(round, v.Point, all...)
			}
		case v1alpha1.AlternateTrials:
			for turn, side := range Turns(members[first].Seed, len(all), len(visits)) {
				add(round, visits[turn/len(all)].Point, side)
			}
		default:
			for _, m := range members[first : first+len(all)] {
				for _, v := range visits {
					add(round, v.Point, m.Variant)
				}
			}
		}
	}
	return trials
}

// Together says whether the servers of all variants are up at the same time.
func (p *Plan) Together() bool { return p.Alternation.Together() }
