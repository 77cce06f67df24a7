// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A comparison knows the plan of a variant by one seed, and every round measures the points in an order of its own.
func TestMeasurementsInAnotherOrder(t *testing.T) {
	p := planOf(t, oneAxis(3, 1))
	var records []*result.Record
	for number, point := range []int{2, 0, 1} {
		records = append(records, testutil.Record(number+1, 1, p.Points[point].Parameters, float64(10*(point+1))))
	}
	if diff := cmp.Diff([]float64{10, 20, 30}, MeasurementsOf(p, records, nil).Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A run's warnings are those of its points, each once, and of bounded size.
func TestMeasurementsHaveWarnings(t *testing.T) {
	p := planOf(t, oneAxis(2, 2))
	var records []*result.Record
	for number, point := range []int{1, 0, 0, 1} {
		r := testutil.Record(number+1, 1, p.Points[point].Parameters, 10)
		if point == 1 {
			r.Summary.Findings = []finding.Finding{finding.Retried(int64(number+1), 1)}
		}
		records = append(records, r)
	}
	records[1].Summary.Findings = []finding.Finding{finding.Retried(9, 2)}
	want := []stats.PointFinding{{Finding: finding.Merge([]finding.Finding{finding.Retried(1, 1), finding.Retried(9, 2)})[0].Finding, Trials: 3, Of: 4}}
	if diff := cmp.Diff(want, MeasurementsOf(p, records, nil).Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 1000 {
		f := finding.OfProgram(fmt.Sprintf("%d%s", i, strings.Repeat("x", 10_000)))
		records[0].Summary.Findings = append(records[0].Summary.Findings, f)
	}
	got := MeasurementsOf(p, records, nil).Warnings
	if len(got) != 64 || len(got[63].String()) > 600 {
		t.Errorf("%d warnings, the last has %d bytes", len(got), len(got[63].String()))
	}
}

// Values are those of accepted attempts, in the order of the points; a point without one is not a number.
func TestMeasurementsOf(t *testing.T) {
	p := planOf(t, oneAxis(3, 1))
	lost := disturbed(2, 1, result.OutcomeInvalidated, result.CauseEvicted)
	at := func(point int) map[string]string { return p.Points[point].Parameters }
	got := MeasurementsOf(p, []*result.Record{testutil.Record(3, 1, at(2), 30), lost, testutil.Record(1, 1, at(0), 10)}, nil)
	want := &Measurements{
		Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}, Values: []float64{10, math.NaN(), 30},
		Served: plan.Served{Number: 1, PodUID: "db-pod"}, Servers: []string{"db-pod"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A claim may be about a metric that is not compared.
func TestMeasurementsOfClaimedMetrics(t *testing.T) {
	p := planOf(t, oneAxis(2, 1))
	r := testutil.Record(2, 1, p.Points[1].Parameters, 30)
	r.Summary.Metrics = append(r.Summary.Metrics, result.Metric{Name: "lineitemSeconds", Value: 7, Unit: "s", Better: "lower"})
	m := MeasurementsOf(p, []*result.Record{r}, []string{"lineitemSeconds", "none", "durationSeconds", "rowsPerSecond"})
	of, values := m.Of("lineitemSeconds")
	if of.Unit != "s" || of.Value != 0 || len(values) != 2 || values[1] != 7 {
		t.Errorf("%+v %v", of, values)
	}
	if of, values := m.Of("durationSeconds"); of.Unit != "s" || len(values) != 2 || values[1] != 1 {
		t.Errorf("%+v %v", of, values)
	}
	if _, values := m.Of("none"); values != nil {
		t.Errorf("%v", values)
	}
	if of, _ := m.Of(""); of.Name != "rowsPerSecond" || m.index("rowsPerSecond") >= 0 {
		t.Errorf("%+v", of)
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
	for name, want := range map[string]float64{"rowsPerSecond": 200, "fsyncsPerRow": 1} {
		if got := meanOf(trials, name); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := meanOf(trials[:1], "rowsPerSecond"); got != 100 {
		t.Errorf("of one trial: %v", got)
	}
}

func TestPlanComparison(t *testing.T) {
	sweep := func(values ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.CommitSizeSweep {
		return &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		pairs  []PlannedPair
		says   string
	}{
		"one point": {func(*v1alpha1.BenchmarkRun) {}, []PlannedPair{{Variant: 1}}, ""},
		"another baseline": {
			func(s *v1alpha1.BenchmarkRun) { s.Spec.Baseline = "lazy" }, []PlannedPair{{Variant: 0}}, "",
		},
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
			p, err := PlanComparison(testutil.Pair(tc.change), planRun)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != tc.says {
				t.Errorf("it says %q, want %q", message, tc.says)
			}
			if diff := cmp.Diff(tc.pairs, p.Pairs, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
		})
	}
}

// Of many variables that differ, a few are named, and no value is longer than a person reads.
func TestManyDifferences(t *testing.T) {
	s := testutil.Pair()
	p := planOfComparison(t, s)
	runs := measuredRuns(s, p, 2)
	runs.Variables = []map[string]string{{}, {}}
	for i := range 20 {
		name := fmt.Sprintf("v%02d", i)
		runs.Variables[0][name], runs.Variables[1][name] = "1", strings.Repeat("x", 1000)
	}
	others := OfComparison(s, p, runs, Verdicts{}).Variants[1].Others
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
	p := planOfComparison(t, s)
	runs := measuredRuns(s, p, 1)
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
		runs.Variables = tc.variables
		if diff := cmp.Diff(tc.want, ServerVariables(p, runs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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
		"an item more": {
			[]*string{new(list), new(list + ",hash=on"), new("unset")}, []string{"…", "…,hash=on", "unset"},
		},
		"an item twice": {[]*string{new(list + ",a,a"), new(list + ",b")}, []string{"…,a,a", "…,b"}},
		"one list":      {[]*string{new(list), new("unset")}, []string{list[:maxValue-1] + "…", "unset"}},
	} {
		if diff := cmp.Diff(tc.want, shortValues(tc.values)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
