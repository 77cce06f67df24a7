// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Streams of a comparison's random numbers: its order must not change when more seeds are drawn, nor the other way round.
const (
	// comparisonOrderStream is "suite", which comparisons were called: what a seed draws does not change with a word.
	comparisonOrderStream = 0x7375697465
	roundSeedStream       = 0x726f756e6473 // "rounds"
	turnStream            = 0x7475726e73   // "turns"
)

// seedBits is the size of a seed: the largest is 2^53-1, which JSON can hold everywhere.
const seedBits = 53

// Member is one run of a comparison: a variant in a round.
type Member struct {
	// Round counts from 1.
	Round int
	// Variant is an index into the comparison's variants.
	Variant int
	// Seed of the run: the same for all members of a round, so that they load the same data.
	Seed int64
}

// roundsPerBlock is the number of rounds in which no variant always comes before another one.
const roundsPerBlock = 6

// ForComparison lists the members of a comparison in the order of measuring, for the most rounds that it may have: an early stop
// leaves out the end. The order is drawn anew for every round, so that no load that comes and goes regularly meets the same
// variant every time. In each block of six rounds, two are the opposite of each other: otherwise six rounds in the same order,
// which one of 32 comparisons of two variants begins with, would take an advantage of the first place for one of the variant.
// More balance would bring a regularity back. (See plan.go for how numbers are drawn.)
func ForComparison(spec *v1alpha1.BenchmarkRunSpec) []Member {
	seed := uint64(ptr.Deref(spec.Seed, v1alpha1.DefaultSeed)) //nolint:gosec // a seed is not negative
	orders, seeds := rand.NewPCG(seed, comparisonOrderStream), rand.NewPCG(seed, roundSeedStream)
	var block [][]int
	var members []Member
	for round := range int(spec.MaxRounds) {
		if round%roundsPerBlock == 0 {
			block = ordersOfBlock(orders, len(spec.Variants))
		}
		of := int64(seeds.Uint64() >> (64 - seedBits))
		for _, v := range block[round%roundsPerBlock] {
			members = append(members, Member{Round: round + 1, Variant: v, Seed: of})
		}
	}
	return members
}

// RoundSeed is the seed of a round, counted from 1.
func RoundSeed(spec *v1alpha1.BenchmarkRunSpec, round int) int64 {
	seeds := rand.NewPCG(uint64(ptr.Deref(spec.Seed, v1alpha1.DefaultSeed)), roundSeedStream) //nolint:gosec // it is not negative
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
		block[round] = make([]int, variants)
		for i := range variants {
			block[round][i] = i
		}
		shuffle(pcg, block[round])
	}
	opposite := slices.Clone(block[0])
	slices.Reverse(opposite)
	block[roundsPerBlock-1] = opposite
	shuffle(pcg, block)
	return block
}

// defaultTrialsPerRound of comparisons whose trials alternate.
const defaultTrialsPerRound = 6

// TrialsPerRound is how often each run of a comparison measures each of its points.
func TrialsPerRound(spec *v1alpha1.BenchmarkRunSpec) int32 {
	if spec.Alternation == v1alpha1.AlternateTrials {
		return ptr.Deref(spec.TrialsPerRound, defaultTrialsPerRound)
	}
	return ptr.Deref(spec.TrialsPerRound, 1)
}

// defaultSliceMilliseconds is short against what a machine does from second to second, and long against a statement.
const defaultSliceMilliseconds = 500

// SliceMilliseconds is the mean length of the slices in which a comparison measures.
func SliceMilliseconds(spec *v1alpha1.BenchmarkRunSpec) int32 {
	return ptr.Deref(spec.SliceMilliseconds, defaultSliceMilliseconds)
}

// Turns lists the indexes of a round's members in the order in which their trials are measured, for so many trials of each: all
// first trials, then all second ones, each time in an order that is drawn anew.
func Turns(seed int64, members, trials int) []int {
	pcg := rand.NewPCG(uint64(seed), turnStream) //nolint:gosec // a seed is not negative
	var turns []int
	for range trials {
		order := make([]int, members)
		for i := range order {
			order[i] = i
		}
		shuffle(pcg, order)
		turns = append(turns, order...)
	}
	return turns
}

// Baseline is the index of the variant that the others are compared with.
func Baseline(spec *v1alpha1.BenchmarkRunSpec) int {
	return max(0, slices.IndexFunc(spec.Variants, func(v v1alpha1.Variant) bool { return v.Name == spec.Baseline }))
}

// MemberName is the name of a member's run.
func MemberName(comparison *v1alpha1.BenchmarkRun, m Member) string {
	return fmt.Sprintf("%s-r%d-%s", comparison.Name, m.Round, comparison.Spec.Variants[m.Variant].Name)
}

// ComparisonKind is the kind of comparisons.
const ComparisonKind = "BenchmarkComparison"

// ComparisonOf is the name and the UID of the comparison that controls a run; both are empty if none does.
func ComparisonOf(run *v1alpha1.BenchmarkRun) (name, uid string) {
	for _, o := range run.OwnerReferences {
		ours := strings.HasPrefix(o.APIVersion, v1alpha1.GroupVersion.Group+"/")
		if ours && o.Kind == ComparisonKind && ptr.Deref(o.Controller, false) {
			return o.Name, string(o.UID)
		}
	}
	return "", ""
}

// ComparisonResultsName is the name of the ConfigMap of a finished comparison.
func ComparisonResultsName(comparison *v1alpha1.BenchmarkRun) string {
	return comparison.Name + "-results"
}

// ComparisonLabels are on the runs and on the results of a comparison.
func ComparisonLabels(comparison *v1alpha1.BenchmarkRun) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "benchrun",
		"app.kubernetes.io/managed-by": "benchrun",
		v1alpha1.LabelComparison:       comparison.Name,
		v1alpha1.LabelComparisonUID:    string(comparison.UID),
	}
}

// MemberRun is the run of a member: the template with the variant laid over it, measured once.
func MemberRun(comparison *v1alpha1.BenchmarkRun, m Member) *v1alpha1.BenchmarkRun {
	variant := comparison.Spec.Variants[m.Variant].DeepCopy()
	run := &v1alpha1.BenchmarkRun{Spec: *comparison.Spec.DeepCopy()}
	run.Namespace, run.Name, run.Labels = comparison.Namespace, MemberName(comparison, m), ComparisonLabels(comparison)
	run.Labels[v1alpha1.LabelRound], run.Labels[v1alpha1.LabelVariant] = strconv.Itoa(m.Round), variant.Name
	maps.Copy(run.Labels, QueueLabels(comparison.Labels))
	if variant.Database != nil {
		overlay(&run.Spec.Database, variant.Database)
	}
	if variant.Workload != nil {
		overlay(&run.Spec.Workload, variant.Workload)
	}
	run.Spec.Trials.Repetitions, run.Spec.Trials.Precision = ptr.To(TrialsPerRound(&comparison.Spec)), nil
	run.Spec.Seed, run.Spec.Suspend, run.Spec.TTLSecondsAfterFinished = ptr.To(m.Seed), nil, nil
	if CopiesData(run) && run.Spec.Trials.DataSeed == nil {
		run.Spec.Trials.DataSeed = ptr.To(ptr.Deref(comparison.Spec.Seed, v1alpha1.DefaultSeed))
	}
	return run
}

// overlay lays a part of a specification over another one. What is not set in it stays as it is; maps, lists and values are
// replaced as a whole. An explicit zero is set where the type can tell it from none: where it is allowed, a field is a pointer.
func overlay[T any](onto, over *T) {
	lay(reflect.ValueOf(onto).Elem(), reflect.ValueOf(over).Elem())
}

func lay(onto, over reflect.Value) {
	switch {
	case over.IsZero():
	case over.Kind() == reflect.Pointer && !onto.IsNil() && transparent(over.Type().Elem()):
		lay(onto.Elem(), over.Elem())
	case transparent(over.Type()):
		for i := range over.NumField() {
			lay(onto.Field(i), over.Field(i))
		}
	default:
		onto.Set(over)
	}
}

// transparent says whether a type is a struct of fields, and not a value that its own methods make, such as a quantity.
func transparent(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for field := range t.Fields() {
		if !field.IsExported() {
			return false
		}
	}
	return true
}
