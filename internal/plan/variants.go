// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Streams of the random numbers of variants: their order must not change when more seeds are drawn, nor the other way round.
const (
	// variantOrderStream is "suite", which runs with variants were called: what a seed draws does not change with a word.
	variantOrderStream = 0x7375697465
	roundSeedStream    = 0x726f756e6473 // "rounds"
	turnStream         = 0x7475726e73   // "turns"
)

// seedBits is the size of a seed: the largest is 2^53-1, which JSON can hold everywhere.
const seedBits = 53

// Member is a variant in a round.
type Member struct {
	// Round counts from 1.
	Round int
	// Variant is an index into the run's variants.
	Variant int
	// Seed is the same for all members of a round, so that they load the same data.
	Seed int64
}

// roundsPerBlock is the number of rounds in which no variant always comes before another one.
const roundsPerBlock = 6

// Members of a run with variants in the order of measuring, for the most rounds that it may have: an early stop leaves out the
// end. The order is drawn anew for every round, so that no load that comes and goes regularly meets the same variant every time.
// In each block of six rounds, two are the opposite of each other: otherwise six rounds in the same order, which one of 32 runs
// of two variants begins with, would take an advantage of the first place for one of the variant. More balance would bring a
// regularity back. (See plan.go for how numbers are drawn.)
func Members(spec *v1alpha1.BenchmarkRunSpec) []Member {
	orders := rand.NewPCG(uint64(Seed(spec)), variantOrderStream) //nolint:gosec // a seed is not negative
	var block [][]int
	var members []Member
	for round := range int(Rounds(spec).AtMost) {
		if round%roundsPerBlock == 0 {
			block = ordersOfBlock(orders, len(spec.Variants))
		}
		seed := RoundSeed(spec, round+1)
		for _, v := range block[round%roundsPerBlock] {
			members = append(members, Member{Round: round + 1, Variant: v, Seed: seed})
		}
	}
	return members
}

// RoundSeed is the seed of a round, counted from 1.
func RoundSeed(spec *v1alpha1.BenchmarkRunSpec, round int) int64 {
	seeds := rand.NewPCG(uint64(Seed(spec)), roundSeedStream) //nolint:gosec // a seed is not negative
	seed := int64(0)
	for range round {
		seed = int64(seeds.Uint64() >> (64 - seedBits))
	}
	return seed
}

// ordersOfBlock draws the orders of a block: all but one, and the opposite of the first, shuffled.
func ordersOfBlock(pcg *rand.PCG, variants int) [][]int {
	block := make([][]int, roundsPerBlock)
	for round := range block[1:] {
		block[round] = inOrder(variants)
		shuffle(pcg, block[round])
	}
	opposite := slices.Clone(block[0])
	slices.Reverse(opposite)
	block[roundsPerBlock-1] = opposite
	shuffle(pcg, block)
	return block
}

// inOrder are so many indexes.
func inOrder(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Turns lists the indexes of a round's members in the order in which their trials are measured, for so many trials of each: all
// first trials, then all second ones, each time in an order that is drawn anew.
func Turns(seed int64, members, trials int) []int {
	pcg := rand.NewPCG(uint64(seed), turnStream) //nolint:gosec // a seed is not negative
	var turns []int
	for range trials {
		order := inOrder(members)
		shuffle(pcg, order)
		turns = append(turns, order...)
	}
	return turns
}

// Baseline is the index of the variant that the others are compared with.
func Baseline(spec *v1alpha1.BenchmarkRunSpec) int {
	return max(0, slices.IndexFunc(spec.Variants, func(v v1alpha1.Variant) bool { return v.Name == spec.Baseline }))
}

// SliceMilliseconds is the mean length of a slice: short against what a machine does from second to second, and long against a
// statement.
const SliceMilliseconds = 500

// Rounds of a run with variants, by default those that the API server sets.
func Rounds(spec *v1alpha1.BenchmarkRunSpec) v1alpha1.RoundsSpec {
	return ptr.Deref(spec.Rounds, v1alpha1.RoundsSpec{AtMost: 20, AtLeast: 6, Until: v1alpha1.RoundsDecided})
}

// EquivalentPercent is the difference between variants, in percent, that does not matter.
func EquivalentPercent(spec *v1alpha1.BenchmarkRunSpec) int32 {
	return ptr.Deref(spec.EquivalentWithinPercent, 5)
}

// TrialsPerRound is how often each point of each variant is measured in a round.
func TrialsPerRound(spec *v1alpha1.BenchmarkRunSpec) int32 {
	return ptr.Deref(spec.Trials.Repetitions, 1)
}

// Side is a run as one of its variants asks for it in a round: what is made and measured for that variant. It has the run's name,
// UID and labels, because what is made is the run's. A run without variants is its own.
func Side(run *v1alpha1.BenchmarkRun, variant, round int) *v1alpha1.BenchmarkRun {
	if len(run.Spec.Variants) == 0 {
		return run
	}
	one := &v1alpha1.BenchmarkRun{TypeMeta: run.TypeMeta, ObjectMeta: run.ObjectMeta, Spec: *run.Spec.DeepCopy(), Status: run.Status}
	spec, over := &one.Spec, run.Spec.Variants[variant].DeepCopy()
	spec.Variants, spec.Baseline, spec.Rounds, spec.Alternation, spec.EquivalentWithinPercent = nil, "", nil, "", nil
	spec.Claims, spec.Title, spec.TTLSecondsAfterFinished = nil, "", nil
	for _, path := range over.Remove {
		_ = remove(spec, path) // an error is told when the run is planned
	}
	overlay(&spec.Database, over.Database)
	overlay(&spec.Workload, over.Workload)
	overlay(&spec.Loader, over.Loader)
	spec.Trials.Repetitions, spec.Seed = ptr.To(TrialsPerRound(&run.Spec)), ptr.To(RoundSeed(&run.Spec, round))
	return one
}

// Sides is how many variants a run measures: one if it has none.
func Sides(run *v1alpha1.BenchmarkRun) int { return max(1, len(run.Spec.Variants)) }

// The database instances of a run are numbered in sets: one for each variant, in their order.

// VariantOf an instance is the index of its variant. Anybody may write a label: an instance that there is not is the first one's.
func VariantOf(run *v1alpha1.BenchmarkRun, instance int) int { return max(0, instance-1) % Sides(run) }

// VariantName is the name of the variant of an instance; empty without variants.
func VariantName(run *v1alpha1.BenchmarkRun, instance int) string {
	if len(run.Spec.Variants) == 0 {
		return ""
	}
	return run.Spec.Variants[VariantOf(run, instance)].Name
}

// SetOf an instance is the number of its set, from 1; 0 is none.
func SetOf(run *v1alpha1.BenchmarkRun, instance int) int {
	return (instance + Sides(run) - 1) / Sides(run)
}

// InstanceIn a set is the instance of a variant.
func InstanceIn(run *v1alpha1.BenchmarkRun, set, variant int) int {
	return (set-1)*Sides(run) + variant + 1
}

// forVariants computes the plan of a run with variants: the trials of all rounds. Its points are those of the first variant, and
// then those that only later ones have.
func forVariants(run *v1alpha1.BenchmarkRun, alternation v1alpha1.Alternation) (*Plan, error) {
	p := &Plan{Rounds: int(Rounds(&run.Spec).AtMost), Alternation: alternation}
	measured := 0
	var plans []*Plan
	for i, v := range run.Spec.Variants {
		one, err := ForRun(&Side(run, i, 1).Spec)
		if err != nil {
			return nil, fmt.Errorf("variant %s: %w", v.Name, err)
		}
		if p.Stages = one.Stages; i > 0 && one.Stages != plans[0].Stages {
			return nil, fmt.Errorf("variant %s: its workload has other stages than that of variant %s: all variants have the same",
				v.Name, run.Spec.Variants[0].Name)
		}
		if i == 0 {
			p.Points, p.Metric = one.Points, one.Metric
		} else if !slices.EqualFunc(plans[0].Points, one.Points, Point.Equal) {
			p.Points = joined(p.Points, one.Points)
		}
		if one.Metric != p.Metric {
			p.Metric = "" // one offers a rate, and another does not
		}
		plans, p.Variants = append(plans, one), append(p.Variants, v.Name)
		measured += len(one.Points) / max(1, one.Stages)
		p.Bytes += one.Bytes
	}
	each := int(TrialsPerRound(&run.Spec)) * measured
	if alternation == v1alpha1.AlternateSlices {
		each /= len(p.Variants)
	}
	if p.Rounds*each > MaxTrials {
		return nil, fmt.Errorf("a run has at most %d trials, but %d rounds of %d trials are %d: allow fewer rounds, or compare less",
			MaxTrials, p.Rounds, each, p.Rounds*each)
	}
	p.Trials = p.inRounds(run, plans)
	return p, nil
}

// joined are points, and those of another list that are not among them.
func joined(points, others []Point) []Point {
	there := indexes(points)
	points = slices.Clone(points)
	for _, p := range others {
		if _, known := there[p.key()]; !known {
			points = append(points, p)
		}
	}
	return points
}

// TrialsAt are trials as those of a plan that has these points alone, all of which they measure.
func (p *Plan) TrialsAt(trials []Trial, points []Point) []Trial {
	if slices.EqualFunc(p.Points, points, Point.Equal) {
		return trials
	}
	at, list := indexes(points), slices.Clone(trials)
	for i := range list {
		list[i].Point = at[p.Points[list[i].Point].key()]
	}
	return list
}

// inRounds are the trials of all rounds. In one, all variants visit the points in the same order, which is drawn from its seed. A
// variant that does not have a point leaves it out.
func (p *Plan) inRounds(run *v1alpha1.BenchmarkRun, plans []*Plan) []Trial {
	var trials []Trial
	lacks := lacking(p.Points, plans)
	p.Uneven = lacks != nil
	add := func(round, point int, sides ...int) {
		point *= max(1, p.Stages)
		if lacks == nil || !lacks[sides[0]][point] {
			trials = append(trials, Trial{Number: len(trials) + 1, Round: round, Point: point, Sides: sides})
		}
	}
	all := inOrder(len(p.Variants))
	members, repeated := Members(&run.Spec), int(TrialsPerRound(&run.Spec))
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

// lacking says for each plan which of the points it has not, by their indexes; nil if all have all.
func lacking(points []Point, plans []*Plan) []map[int]bool {
	if !slices.ContainsFunc(plans, func(one *Plan) bool { return len(one.Points) < len(points) }) {
		return nil
	}
	var list []map[int]bool
	for _, one := range plans {
		there, lacks := indexes(one.Points), map[int]bool{}
		for i, point := range points {
			_, has := there[point.key()]
			lacks[i] = !has
		}
		list = append(list, lacks)
	}
	return list
}

// Together says whether the servers of all variants are up at the same time.
func (p *Plan) Together() bool { return p.Alternation.Together() }
