// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// planned is the plan of a run with so many points and rounds.
func planned(t *testing.T, points int, rounds int32, order v1alpha1.TrialOrder, seed int64) *plan.Plan {
	t.Helper()
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range points {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	spec := commits(values...)
	spec.Trials.Order, spec.Trials.Repetitions, spec.Seed = order, &rounds, &seed
	p, err := plan.ForRun(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// visits are the points in the order of measuring.
func visits(p *plan.Plan) []int {
	var list []int
	for _, trial := range p.Trials {
		list = append(list, trial.Point)
	}
	return list
}

// The order of a seed never changes: a plan is computed anew by every release.
func TestOrderGolden(t *testing.T) {
	cases := map[string]struct {
		order v1alpha1.TrialOrder
		seed  int64
		want  []int
	}{
		"interleaved, seed 1":        {v1alpha1.OrderInterleaved, 1, []int{0, 2, 3, 1, 2, 1, 0, 3, 3, 2, 0, 1}},
		"interleaved, seed 2":        {v1alpha1.OrderInterleaved, 2, []int{0, 1, 2, 3, 2, 3, 1, 0, 3, 2, 1, 0}},
		"interleaved, largest seed":  {v1alpha1.OrderInterleaved, 9007199254740991, []int{2, 0, 3, 1, 1, 0, 3, 2, 3, 1, 0, 2}},
		"no order is interleaved":    {"", 1, []int{0, 2, 3, 1, 2, 1, 0, 3, 3, 2, 0, 1}},
		"shuffled, seed 1":           {v1alpha1.OrderShuffled, 1, []int{0, 3, 0, 3, 2, 2, 2, 0, 1, 1, 3, 1}},
		"shuffled, seed 0":           {v1alpha1.OrderShuffled, 0, []int{0, 3, 3, 2, 1, 0, 1, 3, 1, 2, 2, 0}},
		"sequential, seed 1":         {v1alpha1.OrderSequential, 1, []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}},
		"sequential, any other seed": {v1alpha1.OrderSequential, 99, []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, visits(planned(t, 4, 3, tc.order, tc.seed))); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeedDefaultsToOne(t *testing.T) {
	spec := commits(1, 2, 3, 4)
	spec.Seed = nil
	p, err := plan.ForRun(spec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planned(t, 4, v1alpha1.DefaultRepetitions, v1alpha1.OrderInterleaved, 1).Trials, p.Trials); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// Whatever the order, each point has one trial in each round, and trials are numbered as they are measured.
func TestEachPointOncePerRound(t *testing.T) {
	for _, order := range []v1alpha1.TrialOrder{v1alpha1.OrderInterleaved, v1alpha1.OrderShuffled, v1alpha1.OrderSequential} {
		t.Run(string(order), func(t *testing.T) {
			p := planned(t, 11, 7, order, 5)
			seen := map[plan.Trial]bool{}
			for i, trial := range p.Trials {
				if trial.Number != i+1 {
					t.Errorf("trial %d has number %d", i+1, trial.Number)
				}
				if order == v1alpha1.OrderInterleaved && trial.Round != i/11+1 {
					t.Errorf("trial %d is in round %d, want %d", trial.Number, trial.Round, i/11+1)
				}
				trial.Number = 0
				if seen[trial] || trial.Round < 1 || trial.Round > 7 || trial.Point < 0 || trial.Point > 10 {
					t.Errorf("trial %d: %+v is not of the plan, or comes twice", i+1, trial)
				}
				seen[trial] = true
			}
			if len(seen) != 77 {
				t.Errorf("%d trials", len(seen))
			}
		})
	}
}

func TestShuffledMixesRounds(t *testing.T) {
	p := planned(t, 11, 7, v1alpha1.OrderShuffled, 5)
	if slices.IsSortedFunc(p.Trials, func(a, b plan.Trial) int { return a.Round - b.Round }) {
		t.Error("all rounds come one after the other")
	}
}

func TestOrderDependsOnSeed(t *testing.T) {
	for _, order := range []v1alpha1.TrialOrder{v1alpha1.OrderInterleaved, v1alpha1.OrderShuffled} {
		seen := map[string]int64{}
		for seed := range int64(50) {
			text := cmp.Diff([]int(nil), visits(planned(t, 10, 3, order, seed)))
			if other, twice := seen[text]; twice {
				t.Errorf("%s: seeds %d and %d give one order", order, seed, other)
			}
			seen[text] = seed
		}
	}
}

// Each point is equally likely at each place: chi-squared with 5 degrees of freedom is below 25.7 for all but one in 10,000
// tables.
func TestOrderIsUnbiased(t *testing.T) {
	const points, seeds = 6, 6000
	var counts [points][points]int
	for seed := range int64(seeds) {
		for place, point := range visits(planned(t, points, 1, v1alpha1.OrderInterleaved, seed)) {
			counts[place][point]++
		}
	}
	for place := range counts {
		chi := 0.0
		for _, n := range counts[place] {
			d := float64(n) - seeds/points
			chi += d * d / (seeds / points)
		}
		if chi > 25.7 {
			t.Errorf("place %d: %v, chi-squared is %.1f", place, counts[place], chi)
		}
	}
}
