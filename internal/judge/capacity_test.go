// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// boundMicros of the 99th percentile, in what follows.
const boundMicros = 5_000

// capacityOfQueue is the truth: the response times of a queue with exponential arrivals and services (M/M/1) are exponential, too.
func capacityOfQueue(services float64) float64 { return services - math.Log(100)/(boundMicros/1e6) }

// queueP99 simulates such a queue for so many seconds, after a fifth of that to warm up.
func queueP99(r *rand.Rand, services, rate, seconds float64) float64 {
	var responses []float64
	wait, n := 0.0, int(1.2*seconds*rate)
	for i := range n {
		response := wait + r.ExpFloat64()/services
		if i >= n/6 {
			responses = append(responses, response)
		}
		wait = max(0, response-r.ExpFloat64()/rate)
	}
	slices.Sort(responses)
	return 1e6 * responses[len(responses)*99/100]
}

// asksCapacity makes a run ask for one between two rates.
func asksCapacity(run *v1alpha1.BenchmarkRun) {
	run.Spec.Workload.CommitSize.Sweep = new(v1alpha1.CommitSizeSweep)
	run.Spec.Workload.CommitSize.Sweep.RatePerSecond = []v1alpha1.RowsPerSecond{8000, 400}
	run.Spec.Capacity = &v1alpha1.CapacitySpec{AtMost: v1alpha1.ClaimedNumber(fmt.Sprint(boundMicros))}
}

// search what the operator would: the first trial that is left, until none is. services are those of the variants' servers.
func search(
	run *v1alpha1.BenchmarkRun, p *plan.Plan, r *rand.Rand, seconds float64, services ...float64,
) (records []*result.Record, c *Compared) {
	for {
		c = OfVariants(run, p, records, nil, c)
		g := ProgressOf(run, p, records)
		g.Keep(func(t *plan.Trial) bool { return c.Left(p, t) })
		if len(g.Left) == 0 {
			return records, c
		}
		next := *g.Left[0]
		if c != nil {
			next.Sides = c.SidesOf(&next)
		}
		records = append(records, offered(&next, p, func(side int, rate float64) float64 { return queueP99(r, services[side], rate, seconds) }))
	}
}

// offered is the record of a trial at its rate.
func offered(next *plan.Trial, p *plan.Plan, value func(side int, rate float64) float64) *result.Record {
	var rate float64
	parameters := p.Points[next.Point].Parameters
	fmt.Sscan(parameters["ratePerSecond"], &rate)
	record := func(side int) *result.Record {
		one := testutil.Record(next.Number, 1, parameters, 0)
		one.Summary.Metrics = []result.Metric{{Name: p.Metric, Unit: "µs", Better: "lower", Value: value(side, rate)}}
		return one
	}
	if len(next.Sides) == 0 {
		return record(0)
	}
	whole := record(next.Sides[0])
	for _, side := range next.Sides {
		name := p.Variants[side]
		whole.Sides = append(whole.Sides, result.SideRecord{Variant: name, Instance: side + 1})
		if len(next.Sides) > 1 {
			whole.Summary.Sides = append(whole.Summary.Sides, result.SideSummary{Variant: name, Summary: *record(side).Summary})
		}
	}
	return whole
}

// The interval of a capacity contains that of a queue with a known knee in 93 of 100 runs at least. After six rounds with trials of ten
// seconds, six minutes of load, it is ± 5%.
func TestCapacityOfAQueue(t *testing.T) {
	const services, rounds = 4000, 6
	runs, seconds := 300, 10.0
	if testing.Short() {
		runs, seconds = 50, 2
	}
	run := testutil.MakeRun("run", "ns").Repetitions(rounds).With(asksCapacity).Obj()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	must.Same(t, "bounded metric", "transactionP99Micros", p.Metric)
	contains, narrow, trials, truth := 0, 0, 0, capacityOfQueue(services)
	for seed := range runs {
		records, _ := search(run, p, rand.New(rand.NewPCG(uint64(seed), 2)), seconds, services)
		found := Capacities(run, p, records)[0]
		must.Same(t, "rounds", rounds, len(found.Values))
		if s := found.Summary; s.Low <= truth && truth <= s.High {
			contains++
			if (s.High-s.Low)/2 <= 0.05*s.Median {
				narrow++
			}
		}
		trials += len(records)
	}
	mean := float64(trials) / float64(runs)
	t.Logf("%d of %d intervals contain %.0f, %d of them within 5%%; %.1f trials in %d rounds", contains, runs, truth, narrow, mean, rounds)
	if contains < runs*93/100 || !testing.Short() && narrow < runs*9/10 || mean > 6*rounds {
		t.Error("that is too few, too wide or too long")
	}
}

// Variants are compared by their capacities, however they alternate; in slices, the others learn from a rate that one needs.
func TestCapacitiesOfVariants(t *testing.T) {
	for _, alternation := range []v1alpha1.Alternation{v1alpha1.AlternateSlices, v1alpha1.AlternateTrials, v1alpha1.AlternateRuns} {
		run := testutil.Pair(asksCapacity)
		run.Spec.Rounds.AtMost = 20
		run.Spec.Rounds.Until = v1alpha1.RoundsDecided
		p := must.Get(plan.New(run, alternation))(t)
		want := capacityOfQueue(5200) / capacityOfQueue(4000)
		records, c := search(run, p, rand.New(rand.NewPCG(7, 7)), 2, 4000, 5200)
		must.Same(t, "pairs", 1, len(c.Pairs))
		pair := c.Pairs[0]
		if pair.Verdict != stats.Faster || pair.Low > want || pair.High < want || pair.Metric.Name != CapacityMetric {
			t.Errorf("%s: %s, %s; the truth is %.2f", alternation, pair.Metric.Name, pair.String(), want)
		}
		if capacities := Capacities(run, p, records); len(capacities) != 2 || len(capacities[1].Values) < pair.Rounds {
			t.Errorf("%s: capacities %+v", alternation, capacities)
		}
		t.Logf("%s: %s, %d trials", alternation, pair.String(), len(records))
		_, c = search(run, p, rand.New(rand.NewPCG(9, 7)), 2, 4000, 4000)
		if c.Pairs[0].Verdict == stats.Faster || c.Pairs[0].Verdict == stats.Slower {
			t.Errorf("%s: equal servers: %s", alternation, c.Pairs[0].String())
		}
	}
}

// A capacity outside of the rates is no number, and has a finding that says on which side it is.
func TestCapacityOutsideOfTheRates(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(2).With(asksCapacity).Obj()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	for services, want := range map[float64]string{
		500:    "the capacity is below the rates that may be offered, 400 to 8000 rows/s, in 2 of 2 rounds",
		30_000: "the capacity is above the rates that may be offered, 400 to 8000 rows/s, in 2 of 2 rounds",
	} {
		records, _ := search(run, p, rand.New(rand.NewPCG(1, 1)), 1, services)
		found := OfRun(run, p, records).Findings
		must.Same(t, "findings", []string{want}, finding.Texts(found))
	}
	// What was not reached is too high, whatever was measured then.
	late := func(next *plan.Trial) *result.Record {
		r := offered(next, p, func(int, float64) float64 { return 1 })
		r.Summary.Findings = []finding.Finding{{Code: finding.RateNotReached}}
		return r
	}
	first := ProgressOf(run, p, nil).Left[0]
	c := capacityOf(&run.Spec, p, map[int]*result.Record{first.Number: late(first)})
	must.Same(t, "a rate that was not reached", first.Point, c.rounds[0][0].High)
}

// Pairs have no ratio where a variant's capacity is outside of the rates.
func TestCapacityOfOneVariantOutside(t *testing.T) {
	run := testutil.Pair(asksCapacity)
	run.Spec.Rounds.AtMost = 6
	p := must.Get(plan.New(run, v1alpha1.AlternateTrials))(t)
	_, c := search(run, p, rand.New(rand.NewPCG(3, 1)), 1, 4000, 100_000)
	must.Same(t, "cause", stats.NoRatio, c.Pairs[0].Cause)
	if !slices.ContainsFunc(c.Warnings, func(f finding.Finding) bool { return f.Code == finding.CapacityOutsideRates }) {
		t.Errorf("warnings %v", finding.Texts(c.Warnings))
	}
}

// What does not go with a capacity is refused, and not passed over.
func TestCheckCapacity(t *testing.T) {
	for want, change := range map[string]func(*v1alpha1.BenchmarkRunSpec){
		"neither claims nor":           func(s *v1alpha1.BenchmarkRunSpec) { s.Claims = v1alpha1.Claims{{Name: "is"}} },
		"trials.precision":             func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Precision = &v1alpha1.PrecisionSpec{Min: 6, Max: 12} },
		"must be Interleaved, not":     func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Order = v1alpha1.OrderShuffled },
		"trials.repetitions must be 1": func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Repetitions = new(int32(2)) },
		"variant lazy: capacity is looked": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{Sweep: new(v1alpha1.CommitSizeSweep)}}
			s.Variants[1].Workload.CommitSize.Sweep.RatePerSecond = []v1alpha1.RowsPerSecond{100, 8000}
		},
	} {
		run := testutil.Pair(asksCapacity)
		must.Do(t, planVariants(t, run).CheckClaims())
		change(&run.Spec)
		must.Fail(t, planVariants(t, run).CheckClaims(), want)
	}
}
