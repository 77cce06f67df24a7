// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// commits is a specification with a sweep of rowsPerCommit.
func commits(values ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.BenchmarkRunSpec {
	run := testutil.MakeRun("r", "ns").Sweep(values...).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload.CommitSize.RowsPerCommit = 7
	}).Obj()
	return &run.Spec
}

// specOf is a specification with a workload as its author writes it.
func specOf(t *testing.T, workload string, mode v1alpha1.SweepMode) *v1alpha1.BenchmarkRunSpec {
	t.Helper()
	spec := testutil.MakeRun("r", "ns").Obj().Spec
	spec.Workload = v1alpha1.WorkloadSpec{}
	decoder := json.NewDecoder(strings.NewReader(workload))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&spec.Workload); err != nil {
		t.Fatalf("%v in %s", err, workload)
	}
	if mode != "" {
		spec.Sweep = &v1alpha1.SweepSpec{Mode: mode}
	}
	return &spec
}

type parameters = map[string]string

func TestPoints(t *testing.T) {
	const bulk = `{"type": "BulkInsert", "bulkInsert": {"rowsPerStatement": 10, "clients": 1, "storageEngine": "InnoDB", `
	const sysbench = `{"type": "Sysbench", "sysbench": {"clients": 2, "ratePerSecond": 0, "tableSize": 100, "options": {"range_size": "10"}, `
	cases := map[string]struct {
		workload string
		mode     v1alpha1.SweepMode
		want     []parameters
	}{
		"nothing swept":  {`{"type": "CommitSize", "commitSize": {}}`, "", []parameters{nil}},
		"grid, in order": {bulk + `"sweep": {"clients": [4, 1]}}}`, "", []parameters{{"clients": "4"}, {"clients": "1"}}},
		"grid of two axes, the last one varies fastest": {
			bulk + `"sweep": {"storageEngine": ["Aria", "MyISAM"], "rowsPerStatement": [5, 50]}}}`, v1alpha1.SweepGrid,
			[]parameters{
				{"rowsPerStatement": "5", "storageEngine": "Aria"},
				{"rowsPerStatement": "5", "storageEngine": "MyISAM"},
				{"rowsPerStatement": "50", "storageEngine": "Aria"},
				{"rowsPerStatement": "50", "storageEngine": "MyISAM"},
			},
		},
		"one factor around the workload's own values, each point once": {
			bulk + `"sweep": {"rowsPerStatement": [5, 10], "clients": [1, 4]}}}`, v1alpha1.SweepOneFactor,
			[]parameters{
				{"rowsPerStatement": "5", "clients": "1"},
				{"rowsPerStatement": "10", "clients": "1"},
				{"rowsPerStatement": "10", "clients": "4"},
			},
		},
		"points, each once, with the workload's own values for what they leave out": {
			bulk + `"points": [{"clients": 8}, {"rowsPerStatement": 5}, {"clients": 8, "rowsPerStatement": 10}]}}`, "",
			[]parameters{{"clients": "8", "rowsPerStatement": "10"}, {"clients": "1", "rowsPerStatement": "5"}},
		},
		"booleans": {
			`{"type": "TPROCHLoad", "tprochLoad": {"sweep": {"uniqueChecks": [true, false]}}}`, "",
			[]parameters{{"uniqueChecks": "true"}, {"uniqueChecks": "false"}},
		},
		"a map of lists": {
			sysbench + `"sweep": {"clients": [1], "options": {"range_size": ["5", "ten"]}}}}`, "",
			[]parameters{{"clients": "1", "range_size": "5"}, {"clients": "1", "range_size": "ten"}},
		},
		"one factor in a map": {
			sysbench + `"sweep": {"tableSize": [3000000000], "options": {"range_size": ["5"]}}}}`, v1alpha1.SweepOneFactor,
			[]parameters{{"tableSize": "3000000000", "range_size": "10"}, {"tableSize": "100", "range_size": "5"}},
		},
		"points with a map": {
			`{"type": "Custom", "custom": {"parameters": {"vu": "1", "scale": "5"}, "points": [{"parameters": {"vu": "8"}},
			  {"parameters": {"scale": "9"}}]}}`, "",
			[]parameters{{"vu": "8", "scale": "5"}, {"vu": "1", "scale": "9"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := must.Get(plan.ForRun(specOf(t, tc.workload, tc.mode)))(t)
			var got []parameters
			for _, point := range p.Points {
				got = append(got, point.Parameters)
			}
			must.Same(t, "points", tc.want, got)
			must.Same(t, "trials", int(v1alpha1.DefaultRepetitions)*len(tc.want), len(p.Trials))
		})
	}
}

// The loader gets the workload's parameters at the point: as the specification has them, without sweep and points.
func TestParametersAtPoint(t *testing.T) {
	cases := map[string]struct{ workload, want string }{
		"no point": {`{"type": "CommitSize", "commitSize": {"rows": 5, "asPublished": "None"}}`, `{"asPublished":"None","rows":5}`},
		"a number": {
			`{"type": "CommitSize", "commitSize": {"rows": 5, "rowsPerCommit": 1, "sweep": {"rowsPerCommit": [3]}}}`,
			`{"rows":5,"rowsPerCommit":3}`,
		},
		"a parameter that is set only here": {
			`{"type": "Sysbench", "sysbench": {"script": "tpcc", "points": [{"scale": 10}]}}`, `{"scale":10,"script":"tpcc"}`,
		},
		"in a map": {
			`{"type": "Sysbench", "sysbench": {"options": {"a": "1", "b": "2"}, "sweep": {"options": {"b": ["3"]}}}}`,
			`{"options":{"a":"1","b":"3"}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := specOf(t, tc.workload, "")
			before := spec.DeepCopy()
			p := must.Get(plan.ForRun(spec))(t)
			got, err := parametersAt(&spec.Workload, p.Points[0])
			if err != nil || string(got) != tc.want {
				t.Errorf("parameters are %s, %v, want %s", got, err, tc.want)
			}
			must.Same(t, "the specification was changed", before, spec)
		})
	}
}

func TestRounds(t *testing.T) {
	cases := map[string]struct {
		trials v1alpha1.TrialsSpec
		want   int
	}{
		"neither":     {v1alpha1.TrialsSpec{}, 6},
		"repetitions": {v1alpha1.TrialsSpec{Repetitions: ptr.To[int32](5)}, 5},
		"precision":   {v1alpha1.TrialsSpec{Precision: &v1alpha1.PrecisionSpec{Min: 6, Max: 9}}, 9},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := commits(1, 2)
			spec.Trials = tc.trials
			p := must.Get(plan.ForRun(spec))(t)
			if p.Rounds != tc.want || len(p.Trials) != 2*tc.want {
				t.Errorf("%d rounds and %d trials, want %d and %d", p.Rounds, len(p.Trials), tc.want, 2*tc.want)
			}
		})
	}
}

// numbers are the numbers from 1 to n as JSON.
func numbers(n int) string {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func TestPlanRefusals(t *testing.T) {
	cases := map[string]struct {
		workload string
		mode     v1alpha1.SweepMode
		want     string
	}{
		"no member":        {`{"type": "CommitSize"}`, "", "workload type CommitSize lacks its member commitSize"},
		"unknown workload": {`{"type": "Nonsense", "commitSize": {}}`, "", "workload type Nonsense lacks its member nonsense"},
		"points with a mode": {
			`{"type": "CommitSize", "commitSize": {"points": [{"rowsPerCommit": 1}]}}`, v1alpha1.SweepOneFactor,
			"sweep.mode OneFactor goes with workload.commitSize.sweep: points are measured as they are listed",
		},
		"one factor around nothing": {
			`{"type": "TPROCHLoad", "tprochLoad": {"sweep": {"clients": [1, 8]}}}`, v1alpha1.SweepOneFactor,
			"sweep.mode OneFactor varies one parameter around the workload's own values: set workload.tprochLoad.clients",
		},
		"a point that says too little": {
			`{"type": "Sysbench", "sysbench": {"clients": 1, "points": [{"clients": 2}, {"tables": 2}]}}`, "",
			"workload.sysbench.points[0] leaves out tables, which the workload does not set: set it in one of them",
		},
		"a large grid": {
			`{"type": "BulkInsert", "bulkInsert": {"sweep": {"rowsPerStatement": ` + numbers(1000) + `, "statementsPerTransaction": ` +
				numbers(1000) + `, "clients": [1, 2]}}}`, "",
			"a sweep has at most 1000 points: the product of the numbers of values is above that",
		},
		"a large sum": {
			`{"type": "BulkInsert", "bulkInsert": {"rowsPerStatement": 1, "statementsPerTransaction": 1, "sweep": {"rowsPerStatement": ` +
				numbers(600) + `, "statementsPerTransaction": ` + numbers(600) + `}}}`, v1alpha1.SweepOneFactor,
			"a sweep has at most 1000 points: the sum of the numbers of values is above that",
		},
		"too many parameters": {
			`{"type": "Sysbench", "sysbench": {"sweep": {"clients": [1], "ratePerSecond": [1], "tables": [1], "tableSize": [1], "scale": [1],
			  "options": {"a": ["1"], "b": ["1"]}}}}`, "",
			"a sweep varies at most 6 parameters, not 7",
		},
		"too many parameters in points": {
			`{"type": "Sysbench", "sysbench": {"points": [{"clients": 1, "ratePerSecond": 1, "tables": 1}, {"tableSize": 1, "scale": 1,
			  "options": {"a": "1", "b": "1"}}]}}`, "",
			"a sweep varies at most 6 parameters, not 7",
		},
		"an empty list": {`{"type": "CommitSize", "commitSize": {"sweep": {}}}`, "", "workload.commitSize.sweep lists no values"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "error", tc.want, must.Text(must.Err(plan.ForRun(specOf(t, tc.workload, tc.mode)))))
		})
	}
	spec := commits(1, 2)
	spec.Trials.Repetitions = ptr.To[int32](2501)
	const want = "a run has at most 5000 trials, but 2 points times 2501 repetitions (or precision.max) are 5002"
	must.Same(t, "error", want, must.Text(must.Err(plan.ForRun(spec))))
}

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
			must.Same(t, fmt.Sprintf("%d variants: pairs in their order", variants), variants*(variants-1), len(before))
		}
		must.Same(t, fmt.Sprintf("%d variants: different blocks", variants), 3, len(blocks))
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
		must.Same(t, "baseline "+name, want, plan.Baseline(&run.Spec))
	}
}

// Every member has each of its trials once, after all members have had the one before; the order is drawn anew each time.
func TestTurns(t *testing.T) {
	turns := plan.Turns(1, 3, 40)
	orders := map[string]bool{}
	for trial := range 40 {
		order := turns[3*trial : 3*trial+3]
		must.Same(t, fmt.Sprintf("trial %d", trial+1), []int{0, 1, 2}, slices.Sorted(slices.Values(order)))
		orders[fmt.Sprint(order)] = true
	}
	if len(turns) != 120 || len(orders) != 6 {
		t.Errorf("%d turns in %d orders", len(turns), len(orders))
	}
	if slices.Equal(turns, plan.Turns(2, 3, 40)) || !slices.Equal(turns, plan.Turns(1, 3, 40)) {
		t.Error("the order does not follow from the seed")
	}
}
