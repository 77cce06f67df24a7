// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// until says whose answers the run is to have.
func (c *Compared) until() v1alpha1.RoundsUntil { return plan.Rounds(&c.Run.Spec).Until }

func (c *Compared) design() stats.Design { return DesignOf(&c.Run.Spec, len(c.Planned)) }

// asked are those whose answers the run is to have: all pairs, or what the points of each variant say together, and the pairs of
// a variant whose points do not.
func (c *Compared) asked() []stats.Paired {
	if c.until() != v1alpha1.RoundsOverallDecided {
		return c.Pairs
	}
	asked := slices.Clone(c.Overall)
	for _, p := range c.Pairs {
		if !slices.ContainsFunc(c.Overall, func(o stats.Paired) bool { return o.Variant == p.Variant }) {
			asked = append(asked, p)
		}
	}
	return asked
}

// Answered says whether all that the run is to have has an answer.
func (c *Compared) Answered() bool { return unanswered(c.asked()) == 0 }

// Unanswered is how many pairs have no answer.
func (c *Compared) Unanswered() int { return unanswered(c.Pairs) }

func unanswered(pairs []stats.Paired) int {
	return len(slices.DeleteFunc(slices.Clone(pairs), func(p stats.Paired) bool { return p.Answered() }))
}

// decided says whether neither what is asked nor a claim needs more rounds.
func (c *Compared) decided() bool {
	asked := c.asked()
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(p stats.Paired) bool { return !p.Decided }) &&
		!slices.ContainsFunc(c.Claims, func(j claims.Judgement) bool { return !j.Settled })
}

// Enough says whether no further round is needed.
func (c *Compared) Enough() bool {
	return c != nil && c.Rounds > 0 && c.design().EarlyStop && c.decided()
}

// Left says whether a trial that is not measured has to be.
func (c *Compared) Left(p *plan.Plan, t *plan.Trial) bool {
	over := c.Enough() && t.Round > c.Rounds
	return c == nil || !over && !c.leavesOut(p, t)
}

// leavesOut says whether rounds before that of the trial have decided the pairs at all of its points, or of all of its variants,
// or whether no search for a capacity needs it.
// A point at which nothing is compared is measured in every round.
func (c *Compared) leavesOut(p *plan.Plan, t *plan.Trial) bool {
	from, to := p.Measured(t)
	open := slices.ContainsFunc(p.Points[from:to], func(at plan.Point) bool {
		by := c.decidedBy[stats.Label(at.Parameters)]
		return by == 0 || t.Round <= by
	})
	return !open || len(c.SidesOf(t)) == 0 || !c.capacity.wants(t, func(side int) bool { return c.Needs(side, t.Round) })
}

// Needs says whether a round measures a variant: rounds before have not decided all of its pairs, or it is the baseline.
func (c *Compared) Needs(variant, round int) bool {
	return c == nil || c.droppedBy[variant] == 0 || round <= c.droppedBy[variant]
}

// SidesOf a trial are the variants that it measures: those of the plan that its round needs.
func (c *Compared) SidesOf(t *plan.Trial) []int {
	return slices.DeleteFunc(slices.Clone(t.Sides), func(variant int) bool { return !c.Needs(variant, t.Round) })
}

// decide notes the points and the variants that so many rounds have decided, if they are whole. Each pair is judged by a test of
// its own; claims, and what all points say together, need all of them in every round; so does a variant with points of its own.
// What as many rounds have decided before, they still have.
func (c *Compared) decide(p *plan.Plan, rounds int, before *Compared) {
	together := c.until() != v1alpha1.RoundsDecided || len(c.Run.Spec.Claims) > 0
	if together || rounds < c.design().FirstLook() || c.wholeRounds() != rounds {
		return
	}
	if before != nil && rounds <= before.Rounds {
		maps.Copy(c.decidedBy, before.decidedBy)
		maps.Copy(c.droppedBy, before.droppedBy)
		return
	}
	c.Rounds, c.judged = rounds, rounds
	c.Pairs = c.pairs()
	points, variants := map[string]bool{}, map[int]bool{c.Baseline: true} // whether they are open
	for i, pair := range c.Pairs {
		point, variant := stats.Label(pair.Parameters), c.Planned[i].Variant
		points[point] = points[point] || !pair.Decided
		variants[variant] = variants[variant] || !pair.Decided || p.Uneven
	}
	settle(c.decidedBy, points, rounds)
	settle(c.droppedBy, variants, rounds)
}

// settle notes that so many rounds have decided what is not open.
func settle[K comparable](by map[K]int, open map[K]bool, rounds int) {
	for key := range open {
		if !open[key] && by[key] == 0 {
			by[key] = rounds
		}
	}
}

// WhyStopped says why no further round is measured.
func (c *Compared) WhyStopped() string {
	if !c.Enough() {
		return fmt.Sprintf("all %d rounds are measured", c.Rounds)
	}
	if !c.Answered() {
		return fmt.Sprintf("%d rounds are measured, and a few more would give no answer", c.Rounds)
	}
	what := "every pair"
	if c.until() == v1alpha1.RoundsOverallDecided && len(c.Overall) > 0 {
		what = "every variant, over all points together,"
	}
	if len(c.Claims) > 0 {
		what += " and every claim"
	}
	return fmt.Sprintf("%s has its answer after %d rounds", what, c.Rounds)
}

// wholeRounds is how many rounds there are in which all was measured that they need, from the first on without a gap.
func (c *Compared) wholeRounds() int {
	rounds := 0
	for sides := range slices.Chunk(c.Sides, len(c.Variants)) {
		missing := slices.ContainsFunc(sides, func(s Side) bool { return s.Points == nil })
		if missing || !slices.ContainsFunc(sides, func(s Side) bool { return s.Measured() }) {
			break
		}
		rounds++
	}
	return rounds
}

// whole are the sides of a variant in the whole rounds, in the order of these.
func (c *Compared) whole(variant int) []*Side {
	var list []*Side
	for i := range c.Sides[:c.Rounds*len(c.Variants)] {
		if s := &c.Sides[i]; s.Variant == variant {
			list = append(list, s)
		}
	}
	return list
}

// values of a metric of a variant at a point, by the whole rounds that have measured it: the first ones, up to the one that
// decided the point or the variant.
func (c *Compared) values(variant int, metric string, point int) []float64 {
	var list []float64
	for _, s := range c.whole(variant) {
		if len(s.Points[point].Records) == 0 {
			break
		}
		list = append(list, s.Value(metric, point))
	}
	return list
}

// paired values of a variant: those at a point, or its capacities.
func (c *Compared) paired(variant, point int) []float64 {
	if c.capacity == nil {
		return c.values(variant, "", point)
	}
	values := c.capacity.values(variant)
	return values[:min(len(values), c.Rounds)]
}

// Judge sets what is known of the variants' servers, and what must be read with the answer. It compares the variants by the whole
// rounds, unless before has as many.
func (c *Compared) Judge(before *Compared) {
	c.Rounds = c.wholeRounds()
	var unused []finding.Finding
	for _, pair := range c.Planned {
		if c.Rounds > 0 {
			unused = append(unused, c.notExercised(pair)...)
		}
	}
	for i := range c.Variants {
		c.Variants[i].Volume, c.Variants[i].Others = c.volume(i), c.otherVariables(i)
	}
	c.Warnings = c.findings()
	for _, m := range finding.Merge(unused) {
		c.Warnings = append(c.Warnings, m.Finding)
	}
	c.Warnings = append(c.Warnings, c.sideFindings()...)
	if c.Rounds == 0 {
		return
	}
	if before != nil && c.Rounds == before.Rounds {
		c.Pairs, c.Overall, c.Claims = before.Pairs, before.Overall, before.Claims
		return
	}
	if c.judged != c.Rounds {
		c.Pairs = c.pairs()
	}
	c.Overall = c.design().Overall(c.Pairs)
	c.Claims = c.judgedClaims()
}

func (c *Compared) pairs() []stats.Paired {
	design := c.design()
	var list []stats.Paired
	for _, pair := range c.Planned {
		ours, theirs := c.paired(pair.Variant, pair.Of), c.paired(c.Baseline, pair.With)
		rounds := min(len(ours), len(theirs)) // the first ones: the baseline may be measured on, for other variants
		paired := stats.Paired{
			Variant: c.Variants[pair.Variant].Name, Baseline: c.Variants[c.Baseline].Name,
			BaselineValues: theirs[:rounds], Values: ours[:rounds],
		}
		for _, f := range c.notExercised(pair) {
			paired.NotExercised = append(paired.NotExercised, f.Where["variable"])
		}
		if c.capacity != nil {
			paired.Metric = c.capacity.metric
		} else {
			paired.Parameters = c.Variants[pair.Variant].Plan.Points[pair.Of].Parameters
			paired.Costs = c.costs(pair, rounds)
			paired.RateMissed = c.rateMissed(pair.Variant, pair.Of, rounds) || c.rateMissed(c.Baseline, pair.With, rounds)
			metric, _ := c.whole(pair.Variant)[0].Metric("")
			baseline, _ := c.whole(c.Baseline)[0].Metric("")
			paired.Measures(metric, baseline)
		}
		paired.Judge(design)
		list = append(list, paired)
	}
	return list
}

// rateMissed says whether any of the first whole rounds missed the offered rate at a point.
func (c *Compared) rateMissed(variant, point, rounds int) bool {
	return slices.ContainsFunc(c.whole(variant)[:rounds], func(s *Side) bool {
		return slices.ContainsFunc(s.Points[point].Records, MissedRate)
	})
}

// maxPointsWithCosts is the largest number of points of which costs are kept: what a status shows.
const maxPointsWithCosts = 64

// costs of a pair: the medians over its rounds, of what was measured for both.
func (c *Compared) costs(pair PlannedPair, rounds int) []stats.Cost {
	first := c.whole(pair.Variant)[0]
	if len(first.Points) > maxPointsWithCosts {
		return nil
	}
	var list []stats.Cost
	// A cost says what a unit of work takes, for example fsyncs per transaction. Its unit has a divisor, which is not the second: a
	// rate per second says nothing that the headline does not.
	isCost := func(p *stats.Point, m result.Metric) bool {
		_, per, found := strings.Cut(m.Unit, "/")
		return found && per != "s" && m.Name != p.Metric.Name
	}
	for _, m := range Metrics(first.Points, isCost) {
		median := func(variant, point int) (float64, bool) {
			values := slices.DeleteFunc(c.values(variant, m.Name, point)[:rounds], math.IsNaN)
			return stats.Summarize(values).Median, len(values) > 0
		}
		ours, measured := median(pair.Variant, pair.Of)
		theirs, both := median(c.Baseline, pair.With)
		if measured && both {
			list = append(list, stats.Cost{Name: m.Name, Unit: m.Unit, Baseline: theirs, Variant: ours})
		}
	}
	return list
}

// DesignOf a run with variants makes that many pairs: of several points, if they are more than the variants besides the baseline.
func DesignOf(spec *v1alpha1.BenchmarkRunSpec, comparisons int) stats.Design {
	rounds := plan.Rounds(spec)
	return stats.Design{
		MinRounds: int(rounds.AtLeast), MaxRounds: int(rounds.AtMost), EarlyStop: rounds.Until != v1alpha1.RoundsAll,
		EquivalencePercent: float64(plan.EquivalentPercent(spec)), Comparisons: comparisons,
		Together: comparisons > len(spec.Variants)-1,
	}
}
