// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// counts are what is compared of a progress.
type counts struct{ Planned, Measured, Invalidated, Next int }

func counted(g Progress) counts {
	c := counts{Planned: g.Planned, Measured: g.Measured, Invalidated: g.Invalidated}
	if len(g.Left) > 0 {
		c.Next = g.Left[0].Number
	}
	return c
}

// preciseRun has three points, of which each round visits each once, from 6 to 8 times.
func preciseRun() *v1alpha1.BenchmarkRun {
	run := oneAxis(3, 1)
	run.Spec.Trials.Repetitions, run.Spec.Trials.Order = nil, v1alpha1.OrderInterleaved
	run.Spec.Trials.Precision = &v1alpha1.PrecisionSpec{TargetRelativeCIPercent: 5, Min: 6, Max: 8}
	return run
}

// measure a plan's first trials; the value is a function of the point and the round.
func measure(p *plan.Plan, n int, value func(point, round int) float64) []*result.Record {
	var list []*result.Record
	for _, t := range p.Trials[:n] {
		list = append(list, testutil.Record(t.Number, 1, p.Points[t.Point].Parameters, value(t.Point, t.Round)))
	}
	return list
}

// steady points have a narrow interval from the start; wide ones never.
func steady(points ...int) func(point, round int) float64 {
	return func(point, round int) float64 {
		if slices.Contains(points, point) {
			return 1000 + float64(round%2)
		}
		return 1000 + 500*float64(round%2)
	}
}

func TestPrecisionSkipsAfterWholeRoundsOnly(t *testing.T) {
	run := preciseRun()
	p := planOf(t, run)
	// After five rounds no point may be left out, however steady it is, nor in the middle of the sixth.
	for n := range 6 * 3 {
		g := ProgressOf(run, p, measure(p, n, steady(0, 1, 2)))
		must.Same(t, fmt.Sprintf("after %d trials", n), counts{Planned: 24, Measured: n, Next: n + 1}, counted(g))
	}
	// After the sixth, all are precise enough.
	g := ProgressOf(run, p, measure(p, 18, steady(0, 1, 2)))
	must.Same(t, "after 18 trials", counts{Planned: 18, Measured: 18}, counted(g))
}

// A point that has reached its target is not measured again, and its trials leave the plan as soon as it has.
func TestPrecisionLeavesOutPoints(t *testing.T) {
	for point := range 3 {
		run := preciseRun()
		p := planOf(t, run)
		all := measure(p, 18, steady(point))
		for {
			g := ProgressOf(run, p, all)
			must.Same(t, fmt.Sprintf("point %d, after %d trials: planned", point, len(all)), 22, g.Planned)
			if len(g.Left) == 0 {
				break
			}
			next := g.Left[0]
			if next.Point == point {
				t.Fatalf("point %d is measured in round %d", point, next.Round)
			}
			all = append(all, testutil.Record(next.Number, 1, nil, steady(point)(next.Point, next.Round)))
		}
		must.Same(t, fmt.Sprintf("point %d: measured", point), 22, len(all))
	}
}

// Points reach their targets in different rounds: one value far above and one far below the others are outside of the
// interval of the median from ten values on, if it was looked at from the sixth on.
func TestPrecisionShrinksThePlanStepByStep(t *testing.T) {
	run := preciseRun()
	run.Spec.Trials.Precision.Max = 12
	p := planOf(t, run)
	value := func(point, round int) float64 {
		switch {
		case point == 1 && round == 1:
			return 100
		case point == 1 && round == 2:
			return 9000
		default:
			return steady(0, 1)(point, round)
		}
	}
	planned := []int{36}
	var all []*result.Record
	for g := ProgressOf(run, p, nil); len(g.Left) > 0; g = ProgressOf(run, p, all) {
		if g.Planned != planned[len(planned)-1] {
			planned = append(planned, g.Planned)
		}
		next := g.Left[0]
		all = append(all, testutil.Record(next.Number, 1, nil, value(next.Point, next.Round)))
	}
	must.Same(t, "planned trials", []int{36, 30, 28}, planned)
	must.Same(t, "count", 28, len(all))
}

// A disturbed attempt in the sixth round holds up the look at the precision; it is not a value.
func TestPrecisionWaitsForDisturbedTrials(t *testing.T) {
	run := preciseRun()
	p := planOf(t, run)
	all := measure(p, 18, steady(0, 1, 2))
	all[16] = disturbed(17, 1, result.OutcomeInvalidated, result.CauseEvicted)
	must.Same(t, "progress", counts{24, 17, 1, 17}, counted(ProgressOf(run, p, all)))
	all = append(all, testutil.Record(17, 2, nil, 1000))
	must.Same(t, "progress", counts{18, 18, 1, 0}, counted(ProgressOf(run, p, all)))
}

func TestPoints(t *testing.T) {
	run := oneAxis(2, 2)
	p := planOf(t, run)
	list := []*result.Record{
		testutil.Record(3, 1, nil, 30), testutil.Record(2, 2, nil, 20), testutil.Record(1, 1, nil, 10),
		disturbed(2, 1, result.OutcomeInvalidated, result.CauseEvicted),
	}
	var values [][]float64
	for i, point := range Points(run, p, list) {
		must.Same(t, fmt.Sprintf("point %d", i), p.Points[i].Parameters, point.Parameters)
		values = append(values, point.Values)
	}
	must.Same(t, "values", [][]float64{{10, 20}, {30}}, values)
}

// The latest attempt that counts says where a run is measured; before there is one, the latest of all does.
func TestEnvironmentOf(t *testing.T) {
	at := func(node string, r *result.Record) *result.Record {
		r.Place.DatabaseNode = node
		return r
	}
	run := testutil.MakeRun("run", "bench").Obj()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	accepted, later := at("a", testutil.Record(1, 1, nil, 1)), at("b", testutil.Record(2, 1, nil, 1))
	evicted := at("c", disturbed(3, 1, result.OutcomeInvalidated, result.CauseEvicted))
	for name, tc := range map[string]struct {
		records []*result.Record
		want    string
	}{
		"the latest that counts": {[]*result.Record{accepted, later, evicted}, "b"},
		"none that counts":       {[]*result.Record{evicted}, "c"},
	} {
		got := OfRun(run, p, tc.records).Environment
		if got.DatabaseNode != tc.want || (got.ServerVersion == "") != (tc.want == "c") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := OfRun(run, p, nil).Environment; got != nil {
		t.Errorf("without a record: %+v", got)
	}
}

// Of variants that one loader measures in slices, the environment is that of the baseline.
func TestEnvironmentOfSlices(t *testing.T) {
	run := testutil.MakeVariants("pair", "bench", "durable", "lazy").Sweep(1).Obj()
	run.Spec.Baseline = "lazy"
	p := must.Get(plan.New(run, v1alpha1.AlternateSlices))(t)
	record := &result.Record{Trial: 1, Outcome: result.OutcomeAccepted, Summary: new(result.Summary)}
	for _, name := range p.Variants {
		record.Sides = append(record.Sides, result.SideRecord{Variant: name, Place: result.Place{DatabaseNode: "node of " + name}})
		record.Summary.Sides = append(record.Summary.Sides, result.SideSummary{Variant: name, Summary: result.Summary{ServerVersion: name}})
	}
	e := OfRun(run, p, []*result.Record{record}).Environment
	if e.ServerVersion != "lazy" || e.DatabaseNode != "node of lazy" {
		t.Errorf("%+v", e)
	}
}

// onVolumes puts the data of the first variant on a disk with a limit, and that of the second on one without.
func onVolumes(c *Compared) {
	for i := range c.Sides {
		e := &c.Sides[i].Environment
		e.Filesystem, e.FdatasyncMicros, e.FdatasyncMeanMicros = "ext4", 250, 9870
		if c.Sides[i].Variant == 1 {
			e.FdatasyncMeanMicros = 260
		}
	}
}

// A claim that needs a slow disk is not judged on another.
func TestClaimsAboutVariants(t *testing.T) {
	of := func(variant string) v1alpha1.PointSelector { return v1alpha1.PointSelector{Variant: variant} }
	for needs, want := range map[int64]claims.Judgement{
		200: {Verdict: claims.DoesNotHold, Detail: "3× (2.99–3.01×; claimed: at least 10×)"},
		5000: {Verdict: claims.PremiseMissing, Detail: "needs an fdatasync of at least 5 ms, and here it takes 0.25 ms (median); " +
			"without that: 3× (2.99–3.01×; claimed: at least 10×)"},
	} {
		s := testutil.Pair(testutil.FixedRounds(6), func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Claims = v1alpha1.Claims{{
				Name: "tenfold", Ratio: &v1alpha1.RatioClaim{Of: of("lazy"), To: of("durable"), AtLeast: "10"},
				Needs: v1alpha1.ClaimNeeds{FdatasyncMicros: v1alpha1.LeastNumber{AtLeast: needs}},
			}}
		})
		c := measured(t, s, 12)
		onVolumes(c)
		c.Judge(nil)
		if got := c.Claims[0]; got.Detail != want.Detail || got.Verdict != want.Verdict {
			t.Errorf("%s: %q, want %q", got.Verdict, got.Detail, want.Detail)
		}
	}
}

// Variants are not equal because no data and no log filled the smaller of two caches. A difference is one all the same.
func TestNotExercised(t *testing.T) {
	const mib, other = 1 << 20, "sort_buffer_size"
	pool, redo := "innodb_buffer_pool_size", "innodb_log_file_size"
	large := resource.MustParse("512Mi")
	for name, tc := range map[string]struct {
		variables string             // with spaces between them
		set       *result.WorkingSet // of the last trial; those before used nothing
		faster    float64
		want      string
	}{
		"the data fit":           {pool, &result.WorkingSet{BufferPoolBytes: 64 * mib, RedoLogBytes: 900 * mib}, 1, "CannotSay SettingNotExercised 1"},
		"more than the smaller":  {pool, &result.WorkingSet{BufferPoolBytes: 64*mib + 1}, 1, "Equal  0"},
		"the log is not written": {redo, &result.WorkingSet{BufferPoolBytes: 900 * mib, RedoLogBytes: 64 * mib}, 1, "CannotSay SettingNotExercised 1"},
		"the log is overwritten": {redo, &result.WorkingSet{RedoLogBytes: 65 * mib}, 1, "Equal  0"},
		"not known":              {pool, nil, 1, "Equal  0"},
		"another variable":       {other, &result.WorkingSet{}, 1, "Equal  0"},
		"neither is used":        {pool + " " + redo, &result.WorkingSet{}, 1, "CannotSay SettingNotExercised 2"},
		"one of two is used":     {pool + " " + redo, &result.WorkingSet{RedoLogBytes: 65 * mib}, 1, "CannotSay SettingNotExercised 1"},
		"a difference":           {pool, &result.WorkingSet{}, 3, "Faster  1"},
	} {
		run := testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Rounds.AtMost = 20
			s.Spec.Database.Settings, s.Spec.Variants[1].Database = v1alpha1.ServerSettings{}, &v1alpha1.DatabaseSpec{}
			settings := &s.Spec.Variants[1].Database.Settings
			settings.BufferPoolSize = map[bool]*resource.Quantity{true: &large}[strings.Contains(tc.variables, pool)]
			settings.RedoLogSize = map[bool]*resource.Quantity{true: &large}[strings.Contains(tc.variables, redo)]
			if tc.variables == other {
				s.Spec.Variants[1].Database.Variables = map[string]v1alpha1.VariableValue{other: "536870912"}
			}
		})
		c := measured(t, run, 40)
		for i := range c.Variants {
			c.Variants[i].Variables = map[string]string{}
			for variable := range strings.FieldsSeq(tc.variables) {
				c.Variants[i].Variables[variable] = fmt.Sprint([]int{64 * mib, 512 * mib}[i])
			}
		}
		for i := range 40 {
			summary := c.Sides[i].Points[0].Records[0].Summary
			summary.Metrics[0].Value = 100 + float64(i/2%3)
			if c.Sides[i].Variant != c.Baseline {
				summary.Metrics[0].Value *= tc.faster
			}
			summary.WorkingSet = &result.WorkingSet{}
			if i == 39 {
				summary.WorkingSet = tc.set
			}
		}
		c.Judge(nil)
		warned := 0
		for _, w := range c.Warnings {
			if w.Code == finding.SettingNotExercised && strings.Contains(tc.variables, w.Where["variable"]) {
				warned++
			}
		}
		p := &c.Pairs[0]
		must.Same(t, name, tc.want, fmt.Sprint(p.Verdict, " ", p.Cause, " ", warned))
		if warned > 1 || p.Cause == stats.SettingNotExercised && !strings.Contains(tc.variables, " ") {
			must.Same(t, name, "the load never used more than the smaller "+
				strings.ReplaceAll(tc.variables, " ", " and "), p.Why())
		}
	}
}

// oneAxis is a run with points rowsPerCommit=1, 2 and so on, in the order of the sweep.
func oneAxis(points int, repetitions int32) *v1alpha1.BenchmarkRun {
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range points {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	return testutil.MakeRun("run", "ns").Sweep(values...).Repetitions(repetitions).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Order = v1alpha1.OrderSequential
	}).Obj()
}

func planRun(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&run.Spec) }

func planOf(t *testing.T, run *v1alpha1.BenchmarkRun) *plan.Plan {
	t.Helper()
	p := must.Get(planRun(run))(t)
	return p
}

// disturbed is the record of an attempt that does not count.
func disturbed(number, attempt int, outcome result.Outcome, cause result.Cause) *result.Record {
	r := testutil.Record(number, attempt, map[string]string{"rowsPerCommit": "1"}, 0)
	r.Outcome, r.Cause, r.Message, r.Summary = outcome, cause, "what happened", nil
	return r
}

func planVariants(t *testing.T, run *v1alpha1.BenchmarkRun) *Compared {
	t.Helper()
	c := must.Get(PlanVariants(run, planRun))(t)
	return c
}

// measured is a run with variants of which so many sides are measured: those of lazy are three times as fast. The noise is small,
// and the same whatever the number of sides.
func measured(t *testing.T, run *v1alpha1.BenchmarkRun, sides int) *Compared {
	t.Helper()
	c := planVariants(t, run)
	for i := range c.Sides[:sides] {
		s := &c.Sides[i]
		s.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2", DatabaseImage: "mariadb@1"}
		for _, p := range c.Variants[s.Variant].Plan.Points {
			record := testutil.Record(i+1, 1, p.Parameters, testutil.PairValue(i, s.Variant))
			s.Points = append(s.Points, stats.Looks{}.Summarized(stats.Point{Parameters: p.Parameters, Records: []*result.Record{record}}))
		}
	}
	return c
}

// add a metric to all that is measured.
func (s *Side) add(m result.Metric) {
	for _, p := range s.Points {
		p.Records[0].Summary.Metrics = append(p.Records[0].Summary.Metrics, m)
	}
}
