// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// CapacityMetric is the name of what a run finds that asks for a capacity.
const CapacityMetric = "capacity"

// capacity is what a run has found that asks for one: of each variant, or of the only server, round by round.
type capacity struct {
	bound float64
	// rates of the plan's points, ascending.
	rates  []float64
	metric result.Metric
	// text of the bound.
	text   string
	rounds [][]searched
	sides  []string
}

// searched is a round of a variant: where its search stands and, if that has ended, the rate that it found. That is above all
// rates, +Inf, if none was too high, and 0 if all were.
type searched struct {
	plan.Search
	rate float64
}

// capacityOf a run with that plan by its accepted records; nil unless the run asks for one.
func capacityOf(spec *v1alpha1.BenchmarkRunSpec, p *plan.Plan, accepted map[int]*result.Record) *capacity {
	if spec.Capacity == nil {
		return nil
	}
	c := &capacity{
		metric: result.Metric{Name: CapacityMetric, Unit: "rows/s", Better: "higher"}, sides: p.Variants,
		text: p.Metric + " ≤ " + string(spec.Capacity.AtMost),
	}
	c.bound, _ = strconv.ParseFloat(string(spec.Capacity.AtMost), 64) // the schema has numbers alone
	if w := &spec.Workload; w.Sysbench != nil || w.Pgbench != nil || w.Statements != nil {
		c.metric.Unit = "transactions/s"
	}
	for _, point := range p.Points {
		rate, _ := strconv.ParseFloat(point.Parameters["ratePerSecond"], 64) // as the plan has written it
		c.rates = append(c.rates, rate)
	}
	if len(c.sides) == 0 {
		c.sides = []string{""}
	}
	for side := range c.sides {
		c.rounds = append(c.rounds, c.search(p, accepted, side))
	}
	return c
}

func (c *capacity) search(p *plan.Plan, accepted map[int]*result.Record, side int) []searched {
	found := make([]map[int]float64, p.Rounds)
	for i := range found {
		found[i] = map[int]float64{}
	}
	for i := range p.Trials {
		t := &p.Trials[i]
		r := accepted[t.Number]
		if r == nil || len(t.Sides) > 0 && !slices.Contains(t.Sides, side) {
			continue
		}
		if name := c.sides[side]; len(r.Sides) > 0 {
			if !r.Measures(name) {
				continue
			}
			r = r.Side(name)
		}
		found[t.Round-1][t.Point] = boundedValue(r)
	}
	var rounds []searched
	for _, values := range found {
		s := plan.SearchOf(len(c.rates), func(rate int) (tooHigh, known bool) {
			value, known := values[rate]
			return !(value <= c.bound), known
		})
		rounds = append(rounds, searched{s, c.between(s, values)})
	}
	return rounds
}

// boundedValue is what a trial measured of the bounded metric: infinite if the rate was not reached, whatever was measured then.
func boundedValue(r *result.Record) float64 {
	m, measured := r.Summary.Metric("")
	late := func(f finding.Finding) bool { return f.Code == finding.RateNotReached }
	if !measured || slices.ContainsFunc(r.Summary.Findings, late) {
		return math.Inf(1)
	}
	return m.Value
}

// between the highest rate that is not too high and the lowest that is, the capacity is where a straight line through the
// logarithms meets the bound. Where a value has none that is of use, it is in the middle.
func (c *capacity) between(s plan.Search, values map[int]float64) float64 {
	switch {
	case s.Low < 0:
		return 0
	case s.High == len(c.rates):
		return math.Inf(1)
	}
	low, high, share := values[s.Low], values[s.High], 0.5
	if low > 0 && !math.IsInf(high, 1) {
		share = math.Log(c.bound/low) / math.Log(high/low)
	}
	return c.rates[s.Low] * math.Pow(c.rates[s.High]/c.rates[s.Low], share)
}

// wants says whether a trial that is not measured is what the search of a variant that is needed offers next. Without a search,
// each trial is.
func (c *capacity) wants(t *plan.Trial, needed func(side int) bool) bool {
	if c == nil {
		return true
	}
	sides := t.Sides
	if len(sides) == 0 {
		sides = []int{0}
	}
	return slices.ContainsFunc(sides, func(side int) bool { return c.rounds[side][t.Round-1].Next == t.Point && needed(side) })
}

// values of a variant are those of the rounds whose search has ended. What is outside of all rates has no ratio: with variants,
// it is 0.
func (c *capacity) values(side int) []float64 {
	var list []float64
	for _, round := range c.rounds[side] {
		switch {
		case round.Next >= 0:
			return list
		case len(c.sides) > 1 && math.IsInf(round.rate, 1):
			round.rate = 0
		}
		list = append(list, round.rate)
	}
	return list
}

// findings say in how many rounds the capacity of a variant was outside of the rates that may be offered.
func (c *capacity) findings() []finding.Finding {
	if c == nil {
		return nil
	}
	var list []finding.Finding
	for side, name := range c.sides {
		n, outside, where := len(c.values(side)), 0, "below"
		for _, round := range c.rounds[side][:n] {
			if math.IsInf(round.rate, 1) {
				where = "above"
			} else if round.rate > 0 {
				continue
			}
			outside++
		}
		if outside > 0 {
			list = append(list, finding.OutsideRates(name, where, c.rates[0], c.rates[len(c.rates)-1], c.metric.Unit, outside, n))
		}
	}
	return list
}

// checkCapacity refuses what does not go with a capacity: each round offers the rates that it needs, and each once.
func checkCapacity(spec *v1alpha1.BenchmarkRunSpec) error {
	switch order := spec.Trials.Order; {
	case spec.Capacity == nil:
		return nil
	case len(spec.Claims) > 0 || spec.Trials.Precision != nil:
		return errors.New("capacity goes with neither claims nor trials.precision: each round offers other rates")
	case order == v1alpha1.OrderShuffled || order == v1alpha1.OrderSequential:
		return fmt.Errorf("capacity is looked for round by round: trials.order must be %s, not %s", v1alpha1.OrderInterleaved, order)
	case len(spec.Variants) > 0 && plan.TrialsPerRound(spec) > 1:
		return errors.New("capacity offers each rate once in a round: with variants, trials.repetitions must be 1; set rounds.atMost")
	}
	return nil
}

func (c *Compared) checkCapacity() error {
	for i := range c.Variants {
		if c.Run.Spec.Capacity != nil && !slices.EqualFunc(c.Variants[i].Plan.Points, c.Variants[0].Plan.Points, plan.Point.Equal) {
			return fmt.Errorf("variant %s: capacity is looked for between the same rates in all variants", c.Variants[i].Name)
		}
	}
	return checkCapacity(&c.Run.Spec)
}

// Answering are the points whose best one is the answer of a run without variants: its capacity, if it asks for one.
func Answering(points, capacities []stats.Point) []stats.Point {
	if len(capacities) > 0 {
		return capacities
	}
	return points
}

// Capacities that a run with that plan has found, of each variant or of the only server: nil unless it asks for them.
func Capacities(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) []stats.Point {
	c := capacityOf(&run.Spec, p, byTrial(records))
	if c == nil {
		return nil
	}
	var list []stats.Point
	for side, name := range c.sides {
		point := stats.Point{Variant: name, Bound: c.text, Metric: c.metric, Values: c.values(side)}
		for i := range point.Values {
			point.Rounds = append(point.Rounds, i+1)
		}
		point.Summary = stats.Summarize(point.Values)
		list = append(list, point)
	}
	return list
}
