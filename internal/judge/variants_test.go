// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// The warnings of a side are those of its points, each once, and of bounded size.
func TestSidesHaveWarnings(t *testing.T) {
	c := measured(t, testutil.Pair(), 1)
	warnings := &c.Sides[0].Points[0].Warnings
	for i := range 1000 {
		f := finding.OfProgram(fmt.Sprintf("%d%s", i, strings.Repeat("x", 10_000)))
		*warnings = append(*warnings, f.InTrials(1, 1))
	}
	if got := c.sideFindings(); len(got) != 64 || len(got[63].String()) > 600 {
		t.Errorf("%d warnings, the last has %d bytes", len(got), len(got[63].String()))
	}
}

// A claim may be about a metric that is not compared, and a value may be missing at a point.
func TestMetricsOfSides(t *testing.T) {
	c := measured(t, testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	}), 1)
	s := &c.Sides[0]
	summary := s.Points[1].Records[0].Summary
	summary.Metrics = append(summary.Metrics, result.Metric{Name: "lineitemSeconds", Value: 7, Unit: "s", Better: "lower"})
	for name, unit := range map[string]string{"": "rows/s", "rowsPerSecond": "rows/s", "lineitemSeconds": "s", "durationSeconds": "s"} {
		if m, found := s.Metric(name); !found || m.Unit != unit || m.Value != 0 {
			t.Errorf("%q: %+v", name, m)
		}
	}
	if _, found := s.Metric("none"); found || !math.IsNaN(s.Value("lineitemSeconds", 0)) || s.Value("lineitemSeconds", 1) != 7 {
		t.Errorf("%g and %g", s.Value("lineitemSeconds", 0), s.Value("lineitemSeconds", 1))
	}
}

// The trials of a round are one value: the geometric mean of a rate, the mean of what may be zero.
func TestMeanOfTrials(t *testing.T) {
	trial := func(rate, fsyncs float64) *result.Record {
		return &result.Record{Summary: &result.Summary{Metrics: []result.Metric{
			{Name: "rowsPerSecond", Value: rate}, {Name: "fsyncsPerRow", Value: fsyncs},
		}}}
	}
	trials := []*result.Record{trial(100, 0), trial(400, 2), trial(200, 1)}
	of := func(trials []*result.Record) *Side {
		return &Side{Points: []stats.Point{{Records: trials, Rounds: []int{1, 1, 1}}}}
	}
	for name, want := range map[string]float64{"rowsPerSecond": 200, "fsyncsPerRow": 1} {
		if got := of(trials).Value(name, 0); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	must.Same(t, "of one trial", 100.0, of(trials[:1]).Value("rowsPerSecond", 0))
}

func TestPlanVariants(t *testing.T) {
	sweep := func(values ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.CommitSizeSweep {
		return &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		pairs  []PlannedPair
		says   string
	}{
		"one point":        {func(*v1alpha1.BenchmarkRun) {}, []PlannedPair{{Variant: 1}}, ""},
		"another baseline": {func(s *v1alpha1.BenchmarkRun) { s.Spec.Baseline = "lazy" }, []PlannedPair{{Variant: 0}}, ""},
		"a part of the points": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Workload.CommitSize.Sweep = sweep(1, 4, 16)
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: sweep(16, 8, 4)}}
		}, []PlannedPair{{Variant: 1, Of: 0, With: 2}, {Variant: 1, Of: 2, With: 1}}, ""},
		"no point in common": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Workload.CommitSize.Sweep = sweep(1)
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: sweep(2)}}
		}, nil, "variant lazy has no point in common with the baseline durable: nothing can be compared"},
		"no plan": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor}
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{
				Points: []v1alpha1.CommitSizePoint{{RowsPerCommit: ptr.To(v1alpha1.CommitSizeRowsPerCommit(2))}},
			}}
		}, nil, "variant lazy: sweep.mode OneFactor goes with workload.commitSize.sweep: points are measured as they are listed"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := PlanVariants(testutil.Pair(tc.change), planRun)
			must.Same(t, "message", tc.says, must.Text(err))
			must.Same(t, "pairs", tc.pairs, p.Planned, cmpopts.EquateEmpty())
		})
	}
}

// Of many variables that differ, a few are named, and no value is longer than a person reads.
func TestManyDifferences(t *testing.T) {
	s := testutil.Pair()
	c := measured(t, s, 2)
	first, second := map[string]string{}, map[string]string{}
	c.Variants[0].Variables, c.Variants[1].Variables = first, second
	for i := range 20 {
		name := fmt.Sprintf("v%02d", i)
		first[name], second[name] = "1", strings.Repeat("x", 1000)
	}
	others := c.otherVariables(1)
	text := others.String()
	if others.Differing != 20 || len(others.Differ) != maxOthers || !strings.Contains(text, "20 of the other 20") || !strings.HasSuffix(text, "and 8 more: `kubectl benchrun report -o variables` has all") ||
		len(text) > 1500 || !strings.Contains(text, "v11 (1 → xxx") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// A variable that differs in one variant has the values of all: those that changed first, then those that a server lacks.
func TestServerVariables(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Database.Settings.RedoLogSize = nil
		third := s.Spec.Variants[1].DeepCopy()
		third.Name = "third"
		other := v1alpha1.Variant{Name: "mysql", Database: &v1alpha1.DatabaseSpec{Engine: v1alpha1.EngineMySQL, Image: "mysql:9.7"}}
		s.Spec.Variants = append(s.Spec.Variants, *third, other)
	})
	c := measured(t, s, 1)
	base := map[string]string{"a_new": "", "character_set_server": "latin1", "sql_mode": "", "hostname": "h1", "innodb_log_file_size": "1"}
	second := map[string]string{"character_set_server": "utf8mb4", "sql_mode": "", "hostname": "h2", "innodb_log_file_size": "1"}
	mysql := map[string]string{"character_set_server": "latin1", "sql_mode": "ANSI", "gtid_mode": "OFF", "innodb_redo_log_capacity": "2"}
	unset := "unset"
	of := func(name string, values ...*string) ServerVariable { return ServerVariable{name, values} }
	for name, tc := range map[string]struct {
		variables []map[string]string
		want      []ServerVariable
	}{
		"nothing is known":                 {nil, nil},
		"nothing is known of the baseline": {[]map[string]string{nil, second, second, mysql}, nil},
		"nothing differs":                  {[]map[string]string{base, base, nil, nil}, nil},
		"one variant, the others are not known": {[]map[string]string{base, second, nil, nil}, []ServerVariable{
			of("character_set_server", new("latin1"), new("utf8mb4"), nil, nil), of("a_new", new(""), &unset, nil, nil),
		}},
		"two engines": {[]map[string]string{base, base, second, mysql}, []ServerVariable{
			of("character_set_server", new("latin1"), new("latin1"), new("utf8mb4"), new("latin1")),
			of("innodb_log_file_size or innodb_redo_log_capacity", new("1"), new("1"), new("1"), new("2")),
			of("sql_mode", new(""), new(""), new(""), new("ANSI")), of("a_new", new(""), new(""), &unset, &unset),
		}},
	} {
		for i := range c.Variants {
			if c.Variants[i].Variables = nil; i < len(tc.variables) {
				c.Variants[i].Variables = tc.variables[i]
			}
		}
		must.Same(t, name, tc.want, c.ServerVariables())
	}
}

// Of long lists, what is not in all is shown; of one list, its beginning.
func TestShortValues(t *testing.T) {
	long := strings.Repeat("x", maxValue)
	list := "index_merge=on,semijoin=on,derived_merge=on,materialization=on"
	for name, tc := range map[string]struct {
		values []*string
		want   []string
	}{
		"short ones":           {[]*string{new("a,b"), new("a,c"), new(""), nil}, []string{"a,b", "a,c", `""`, "?"}},
		"one of the full size": {[]*string{&long}, []string{long}},
		"a long one":           {[]*string{new(long + "y")}, []string{long[1:] + "…"}},
		"an item more":         {[]*string{new(list), new(list + ",hash=on"), new("unset")}, []string{"…", "…,hash=on", "unset"}},
		"an item twice":        {[]*string{new(list + ",a,a"), new(list + ",b")}, []string{"…,a,a", "…,b"}},
		"one list":             {[]*string{new(list), new("unset")}, []string{list[:maxValue-1] + "…", "unset"}},
	} {
		must.Same(t, name, tc.want, shortValues(tc.values))
	}
}
