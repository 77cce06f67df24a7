// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// rounds are the members of a run with variants as text: the variants of each round in their order.
func rounds(run *v1alpha1.BenchmarkRun) []string {
	var list []string
	for _, m := range plan.Members(&run.Spec) {
		if len(list) < m.Round {
			list = append(list, "")
		}
		list[m.Round-1] += run.Spec.Variants[m.Variant].Name
	}
	return list
}

// The order of a seed never changes: the members of a run are computed anew by every release.
func TestOrderOfVariantsGolden(t *testing.T) {
	for name, tc := range map[string]struct {
		variants []string
		seed     int64
		want     []string
	}{
		"two, seed 1":           {[]string{"a", "b"}, 1, []string{"ba", "ab", "ab", "ab", "ab", "ab", "ba", "ba"}},
		"two, seed 2":           {[]string{"a", "b"}, 2, []string{"ba", "ab", "ab", "ba", "ba", "ab", "ba", "ba"}},
		"three, seed 1":         {[]string{"a", "b", "c"}, 1, []string{"abc", "abc", "acb", "bca", "acb", "abc", "abc"}},
		"three, largest seed":   {[]string{"a", "b", "c"}, 9007199254740991, []string{"bca"}},
		"four, an odd number":   {[]string{"a", "b", "c", "d"}, 7, []string{"cbad", "dbac", "cbda"}},
		"two, no seed is one's": {[]string{"a", "b"}, -1, []string{"ba", "ab"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.MakeVariants("s", "ns", tc.variants...).Obj()
			run.Spec.Rounds.AtMost = int32(len(tc.want))
			if run.Spec.Seed = &tc.seed; tc.seed < 0 {
				run.Spec.Seed = nil
			}
			must.Same(t, "rounds", tc.want, rounds(run))
		})
	}
}

// In every block of six rounds, every variant comes before each other one at least once, and the order is not that of the blocks
// before.
func TestOrderOfVariantsIsDrawn(t *testing.T) {
	for variants := 2; variants <= 16; variants++ {
		var names []string
		for i := range variants {
			names = append(names, fmt.Sprintf("v%d", i))
		}
		run := testutil.MakeVariants("s", "ns", names...).Obj()
		run.Spec.Rounds.AtMost = 18
		members := plan.Members(&run.Spec)
		blocks := map[string]bool{}
		for block := range slices.Chunk(members, 6*variants) {
			before := map[[2]int]int{}
			text := ""
			for i, m := range block {
				text += fmt.Sprint(m.Variant, " ")
				for _, later := range block[i+1:] {
					if later.Round == m.Round {
						before[[2]int{m.Variant, later.Variant}]++
					}
				}
			}
			blocks[text] = true
			if len(before) != variants*(variants-1) {
				t.Errorf("%d variants: there are %d of %d pairs in their order", variants, len(before), variants*(variants-1))
			}
		}
		if len(blocks) != 3 {
			t.Errorf("%d variants: %d different blocks of 3", variants, len(blocks))
		}
	}
}

func TestSeedsOfRounds(t *testing.T) {
	run := testutil.MakeVariants("s", "ns", "a", "b").Obj()
	seeds := map[int]int64{}
	seen := map[int64]bool{}
	for _, m := range plan.Members(&run.Spec) {
		if have, found := seeds[m.Round]; found && have != m.Seed {
			t.Errorf("round %d has the seeds %d and %d", m.Round, have, m.Seed)
		} else if !found && seen[m.Seed] {
			t.Errorf("round %d has the seed of another", m.Round)
		}
		if m.Seed < 0 || m.Seed > 9007199254740991 {
			t.Errorf("seed %d is out of bounds", m.Seed)
		}
		seeds[m.Round], seen[m.Seed] = m.Seed, true
	}
	// Seeds never change, for the same reason as the order.
	if seeds[1] != 6294334719467364 || seeds[2] != 976926178894953 {
		t.Errorf("the first seeds are %d and %d", seeds[1], seeds[2])
	}
}

func TestBaseline(t *testing.T) {
	run := testutil.MakeVariants("s", "ns", "a", "b", "c").Obj()
	for name, want := range map[string]int{"": 0, "a": 0, "c": 2} {
		run.Spec.Baseline = name
		if got := plan.Baseline(&run.Spec); got != want {
			t.Errorf("baseline %q is variant %d, want %d", name, got, want)
		}
	}
}

// Every member has each of its trials once, after all members have had the one before; the order is drawn anew each time.
func TestTurns(t *testing.T) {
	turns := plan.Turns(1, 3, 40)
	orders := map[string]bool{}
	for trial := range 40 {
		order := turns[3*trial : 3*trial+3]
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, []int{0, 1, 2}) {
			t.Errorf("trial %d: %v", trial+1, order)
		}
		orders[fmt.Sprint(order)] = true
	}
	if len(turns) != 120 || len(orders) != 6 {
		t.Errorf("%d turns in %d orders", len(turns), len(orders))
	}
	if slices.Equal(turns, plan.Turns(2, 3, 40)) || !slices.Equal(turns, plan.Turns(1, 3, 40)) {
		t.Error("the order does not follow from the seed")
	}
}
