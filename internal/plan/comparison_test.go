// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// rounds are the members of a comparison as text: the variants of each round in their order.
func rounds(comparison *v1alpha1.BenchmarkRun) []string {
	var list []string
	for _, m := range plan.ForComparison(&comparison.Spec) {
		if len(list) < m.Round {
			list = append(list, "")
		}
		list[m.Round-1] += comparison.Spec.Variants[m.Variant].Name
	}
	return list
}

// The order of a seed never changes: the members of a comparison are computed anew by every release.
func TestComparisonOrderGolden(t *testing.T) {
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
			comparison := testutil.MakeComparison("s", "ns", tc.variants...).Obj()
			comparison.Spec.Rounds.AtMost = int32(len(tc.want))
			if comparison.Spec.Seed = &tc.seed; tc.seed < 0 {
				comparison.Spec.Seed = nil
			}
			if diff := cmp.Diff(tc.want, rounds(comparison)); diff != "" {
				t.Errorf("rounds (-want +got):\n%s", diff)
			}
		})
	}
}

// In every block of six rounds, every variant comes before each other one at least once, and the order is not that of the blocks
// before.
func TestComparisonOrderIsDrawn(t *testing.T) {
	for variants := 2; variants <= 16; variants++ {
		var names []string
		for i := range variants {
			names = append(names, fmt.Sprintf("v%d", i))
		}
		comparison := testutil.MakeComparison("s", "ns", names...).Obj()
		comparison.Spec.Rounds.AtMost = 18
		members := plan.ForComparison(&comparison.Spec)
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
	comparison := testutil.MakeComparison("s", "ns", "a", "b").Obj()
	seeds := map[int]int64{}
	seen := map[int64]bool{}
	for _, m := range plan.ForComparison(&comparison.Spec) {
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
	comparison := testutil.MakeComparison("s", "ns", "a", "b", "c").Obj()
	for name, want := range map[string]int{"": 0, "a": 0, "c": 2} {
		comparison.Spec.Baseline = name
		if got := plan.Baseline(&comparison.Spec); got != want {
			t.Errorf("baseline %q is variant %d, want %d", name, got, want)
		}
	}
}

// A member is the template with what its variant names, once.
func TestMemberRunGolden(t *testing.T) {
	comparison := testutil.MakeComparison("durable-or-not", "bench", "durable", "lazy").With(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Database.Variables = map[string]v1alpha1.VariableValue{"a": "1", "b": "2"}
		s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{
			Image:     "mariadb:10.11",
			Settings:  v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0), BinaryLog: ptr.To(true)},
			Variables: map[string]v1alpha1.VariableValue{"c": "3"},
		}
		s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{
			CommitSize: &v1alpha1.CommitSizeWorkload{Rows: ptr.To[int64](0)}, Limits: v1alpha1.WorkloadLimits{Seconds: ptr.To[int32](1)},
		}
	}).Obj()
	testutil.Golden(t, "members.yaml", testutil.YAML(t, plan.MemberRun(comparison, plan.Member{Round: 1, Variant: 0, Seed: 5}),
		plan.MemberRun(comparison, plan.Member{Round: 20, Variant: 1, Seed: 6})))
	if comparison.Spec.Database.Image != "mariadb:11.8" {
		t.Error("a member has changed its comparison")
	}
}

// How often a run of a comparison measures each point.
func TestTrialsPerRound(t *testing.T) {
	for name, tc := range map[string]struct {
		alternation v1alpha1.Alternation
		trials      *int32
		want        int32
	}{
		"runs":           {v1alpha1.AlternateRuns, nil, 1},
		"not said":       {"", nil, 1},
		"trials":         {v1alpha1.AlternateTrials, nil, 6},
		"so many trials": {v1alpha1.AlternateTrials, ptr.To[int32](2), 2},
	} {
		comparison := testutil.MakeComparison("s", "ns", "a", "b").Obj()
		comparison.Spec.Alternation, comparison.Spec.TrialsPerRound = tc.alternation, tc.trials
		if got := *plan.MemberRun(comparison, plan.Member{Round: 1}).Spec.Trials.Repetitions; got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
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

// The runs of a comparison stand in Kueue's queue of the comparison; other labels of it are not theirs.
func TestMemberRunStandsInTheQueueOfItsComparison(t *testing.T) {
	comparison := testutil.MakeComparison("comparison", "ns", "a", "b").With(func(s *v1alpha1.BenchmarkRun) {
		s.Labels = map[string]string{v1alpha1.LabelKueueQueue: "bench", v1alpha1.LabelKueuePriority: "low", "team": "storage"}
	}).Obj()
	labels := plan.MemberRun(comparison, plan.Member{Round: 1}).Labels
	if labels[v1alpha1.LabelKueueQueue] != "bench" || labels[v1alpha1.LabelKueuePriority] != "low" || labels["team"] != "" {
		t.Errorf("labels are %v", labels)
	}
}

// The longest names are allowed for a run.
func TestComparisonNamesAtTheirBounds(t *testing.T) {
	comparison := testutil.MakeComparison(strings.Repeat("s", 15), "ns", strings.Repeat("v", 20), "b").Obj()
	for _, m := range plan.ForComparison(&comparison.Spec) {
		if name := plan.MemberName(comparison, m); len(name) > 40 || len(validation.IsDNS1035Label(name)) > 0 {
			t.Errorf("%s is no name for a run", name)
		}
	}
	for label, value := range plan.MemberRun(comparison, plan.Member{Round: 20}).Labels {
		if problems := append(validation.IsQualifiedName(label), validation.IsValidLabelValue(value)...); len(problems) > 0 {
			t.Errorf("label %s=%s: %v", label, value, problems)
		}
	}
}
