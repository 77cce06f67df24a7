// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Verdict about a claim: PremiseMissing is for those who know the machine, the others follow from the interval.
type Verdict = v1alpha1.ClaimVerdict

// Verdicts about claims.
const (
	Holds          = v1alpha1.ClaimHolds
	DoesNotHold    = v1alpha1.ClaimDoesNotHold
	CannotSay      = v1alpha1.ClaimCannotSay
	PremiseMissing = v1alpha1.ClaimPremiseMissing
)

// Judgement of a claim.
type Judgement struct {
	Name      string  `json:"name"`
	Statement string  `json:"statement,omitempty"`
	Metric    string  `json:"metric,omitempty"`
	Verdict   Verdict `json:"verdict"`
	// Detail is the answer in a sentence, with its numbers.
	Detail string `json:"detail"`
	// Published is the verdict by the published figures, which have no interval, and PublishedDetail their numbers; empty if there
	// are none. It is CannotSay if some are missing.
	Published       Verdict `json:"published,omitempty"`
	PublishedDetail string  `json:"publishedDetail,omitempty"`
	// Settled says that more rounds would not change the answer: it is one, or the truth is too near to the bound to tell.
	Settled bool `json:"-"`
}

// Interval compares the values of two points that were measured in the same rounds: their ratio, with an interval that misses the
// true one with the probability of level, half of it at each end. If there is no interval it says why.
type Interval func(of, to []float64, level float64) (ratio stats.Ratio, why string)

// Judge claims by what was measured of a metric, by its name: empty is the headline. The error of all claims together is 5%.
func Judge(list v1alpha1.Claims, measured func(metric string) []stats.Point, interval Interval) []Judgement {
	var all []Judgement
	for i := range list {
		c := &list[i]
		j := Judgement{Name: c.Name, Statement: c.Statement, Metric: c.Metric, Verdict: CannotSay}
		series := measured(c.Metric)
		s, err := subjectOf(c, series)
		missing := c.Metric
		if err == nil && c.Ratio != nil && c.Ratio.ToMetric != "" {
			others := measured(c.Ratio.ToMetric)
			if len(others) == 0 {
				series, missing = nil, c.Ratio.ToMetric
			} else {
				s.to, err = selector(c.Ratio.To).One(others)
			}
		}
		switch {
		case len(series) == 0:
			j.Detail = "nothing was measured"
			if missing != "" {
				j.Detail, j.Settled = fmt.Sprintf("no metric named %s was measured", missing), true
			}
		case err != nil:
			j.Detail, j.Settled = err.Error(), true
		default:
			j.Metric = series[0].Metric.Name
			g := judge{subject: s, claim: c, claims: len(list), interval: interval, lower: series[0].Metric.Better == "lower"}
			j.Verdict, j.Detail, j.Settled = g.judge()
			if len(c.Published) > 0 {
				j.Published, j.PublishedDetail = g.published(j.Metric)
			}
		}
		all = append(all, j)
	}
	return all
}

// judge has all that a judgement depends on.
type judge struct {
	subject
	claim    *v1alpha1.Claim
	claims   int
	interval Interval
	// lower values are the better ones.
	lower bool
	// exact values are published figures.
	exact bool
}

// compare two points in one of so many tests, each of which may be wrong. What wrongly holds is wrong at one end of an interval,
// what is wrongly denied at the other: each end has the claim's whole error or, between two bounds, half of it.
func (g judge) compare(of, to *stats.Point, tests int) (stats.Ratio, string) {
	level := stats.ErrorProbability / float64(g.claims*tests)
	if least, most := g.bounds(); least == 0 || most == 0 {
		level *= 2
	}
	return g.interval(of.Values, to.Values, level)
}

func (g judge) judge() (verdict Verdict, detail string, settled bool) {
	switch {
	case g.of != nil:
		return g.ratio()
	case g.claim.BestAt != nil:
		verdict, detail = g.bestAt()
	default:
		verdict, detail = g.monotonic()
	}
	return verdict, detail, verdict != CannotSay
}

// nearBound is how near the ends of an interval are to a bound, as a fraction of it, when more rounds are not worth their time.
const nearBound = 0.05

func (g judge) ratio() (verdict Verdict, detail string, settled bool) {
	r, why := g.compare(g.of, g.to, 1)
	if why != "" {
		return CannotSay, why, false
	}
	least, most := g.bounds()
	above, below := r.Low >= least, most == 0 || r.High <= most
	detail = g.claimedTimes(r, g.claimed())
	switch {
	case above && below:
		// With bounds on both sides of one, it is a claim of no difference in other words. One that rests on fewer values than the
		// verdict Equal does not hold: what is slow in few of its trials looks equal in three of them.
		n := min(len(g.of.Values), len(g.to.Values))
		if least > 0 && least < 1 && most > 1 && n < stats.MinForEqual && !g.exact && g.claim.Ratio != nil {
			few := fmt.Sprintf("; no difference is said after %d trials, and there are %d", stats.MinForEqual, n)
			return CannotSay, detail + few, false
		}
		return Holds, detail, true
	case least > 0 && r.High < least, most > 0 && r.Low > most:
		return DoesNotHold, detail, true
	}
	return CannotSay, detail, g.near(r, least) || g.near(r, most)
}

// near says whether the whole of an interval is near a bound; 0 is none. Those of what is equal are as near to each other.
func (g judge) near(r stats.Ratio, bound float64) bool {
	equal := g.claim.Ratio != nil && g.claim.Ratio.WithinPercent > 0
	return bound > 0 && !equal && r.Low > bound/(1+nearBound) && r.High < bound*(1+nearBound)
}

// bounds of what is claimed of a value or a ratio; 0 is none.
func (g judge) bounds() (least, most float64) {
	switch v, r := g.claim.Value, g.claim.Ratio; {
	case v != nil:
		return number(v.AtLeast), number(v.AtMost)
	case r == nil:
		return 0, 0
	case r.WithinPercent > 0:
		most = 1 + float64(r.WithinPercent)/100
		return 1 / most, most
	default:
		return number(r.AtLeast), number(r.AtMost)
	}
}

func (g judge) claimed() string {
	least, most := g.bounds()
	unit := g.unit()
	switch r := g.claim.Ratio; {
	case r != nil && r.WithinPercent > 0:
		return fmt.Sprintf("equal within %d%%", r.WithinPercent)
	case most == 0:
		return "at least " + stats.Format(least) + unit
	case least == 0:
		return "at most " + stats.Format(most) + unit
	}
	return stats.Format(least) + "–" + stats.Format(most) + unit
}

// bestAt compares the best of those that the best is said to be one of with each of the others. That it is better than all of
// them is wrong only if one test of these is, so that the error is not divided among them, but among those that might be it. That
// it is not takes one other that is better than all: the error is divided among the others.
func (g judge) bestAt() (Verdict, string) {
	best, other := g.best(g.in), g.best(g.out)
	rival, nearest, why := g.closest(best, g.out, len(g.in))
	switch {
	case why != "":
		return CannotSay, why
	case nearest.Low > 1:
		return Holds, fmt.Sprintf("%s is the best; closest rival %s: %s", g.name(best), g.name(rival), g.times(nearest))
	}
	claimed, worst, why := g.closest(other, g.in, len(g.out))
	switch {
	case why != "":
		return CannotSay, why
	case worst.Low > 1:
		return DoesNotHold, fmt.Sprintf("%s is better than %s: %s", g.name(other), g.name(claimed), g.times(worst))
	case g.best([]*stats.Point{best, other}) == other:
		best, rival, nearest = other, claimed, worst
	}
	return CannotSay, fmt.Sprintf("%s has the best median but cannot be distinguished from %s: %s", g.name(best), g.name(rival),
		g.times(nearest))
}

// closest of others to one that may be better than all of them, and by how much, or why that cannot be said.
func (g judge) closest(one *stats.Point, others []*stats.Point, tests int) (rival *stats.Point, nearest stats.Ratio, why string) {
	nearest.Low = math.Inf(1)
	for _, other := range others {
		of, to := one, other
		if g.lower {
			of, to = other, one
		}
		r, why := g.compare(of, to, tests)
		if why != "" {
			return nil, r, why
		}
		if r.Low < nearest.Low {
			rival, nearest = other, r
		}
	}
	return rival, nearest, ""
}

func (g judge) best(list []*stats.Point) *stats.Point {
	return slices.MaxFunc(list, func(a, b *stats.Point) int {
		x, y := stats.Summarize(a.Values).Median, stats.Summarize(b.Values).Median
		if g.lower {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
}

// monotonic looks at each step, and at the way from the first value to the last. That nothing goes the wrong way is wrong only if
// one test is, so that the error is not divided among them.
func (g judge) monotonic() (Verdict, string) {
	m, steps := g.claim.Monotonic, slices.Clone(g.steps)
	if m.Direction == v1alpha1.DirectionFalling {
		slices.Reverse(steps)
	}
	tolerated := 1 / (1 + float64(m.WithinPercent)/100)
	denial, few := g.wrongWay(steps, tolerated)
	if denial != "" {
		return DoesNotHold, denial
	}
	last := len(steps) - 1
	whole, why := g.compare(steps[last], steps[0], 1)
	holds := whole.Low > 1
	weakest, at := stats.Ratio{Low: math.Inf(1)}, 0
	for i := 0; i < last && why == ""; i++ {
		var r stats.Ratio
		if r, why = g.compare(steps[i+1], steps[i], 1); why == "" && r.Low < weakest.Low {
			weakest, at = r, i
		}
		holds = holds && r.Low > tolerated
	}
	if why != "" {
		return CannotSay, why
	}
	detail := fmt.Sprintf("%s from %s to %s; weakest step, from %s to %s: %s", g.times(whole), value(steps[0], m.Parameter),
		value(steps[last], m.Parameter), value(steps[at], m.Parameter), value(steps[at+1], m.Parameter), g.times(weakest))
	switch {
	case holds:
		return Holds, detail
	case few != "":
		detail += "; " + few
	}
	return CannotSay, detail
}

// wrongWay says that a step goes the wrong way, or all of them together: it takes one of these, so that the error is divided
// among them. Few says why trials are too few for that, if they are.
func (g judge) wrongWay(steps []*stats.Point, tolerated float64) (denial, few string) {
	last, of := len(steps)-1, g.claim.Monotonic.Parameter
	deny := func(from, to *stats.Point, bound float64) string {
		r, why := g.compare(to, from, last+1)
		if few = cmp.Or(why, few); why != "" || r.High >= bound {
			return ""
		}
		return fmt.Sprintf("from %s to %s: %s", value(from, of), value(to, of), g.times(r))
	}
	for i := range last {
		if denial = deny(steps[i], steps[i+1], tolerated); denial != "" {
			return denial, ""
		}
	}
	denial = deny(steps[0], steps[last], 1)
	return denial, few
}

func value(s *stats.Point, parameter string) string { return parameter + "=" + s.Parameters[parameter] }

// times says a ratio with its interval: 3.31× (3.10–3.52×).
func (g judge) times(r stats.Ratio) string { return g.claimedTimes(r, "") }

// claimedTimes says a ratio with its interval, and what was claimed of it; of a value, the value: 1934 rows/s (1850–2020 rows/s).
func (g judge) claimedTimes(r stats.Ratio, claimed string) string {
	text, unit := factor, g.unit()
	if g.claim.Value != nil {
		text = stats.Format
	}
	if claimed != "" {
		claimed = "; claimed: " + claimed
	}
	if g.exact {
		return text(r.Value) + unit
	}
	return fmt.Sprintf("%s%s (%s–%s%s%s)", text(r.Value), unit, text(r.Low), text(r.High), unit, claimed)
}

// unit of a value, with the space before it, or of a ratio.
func (g judge) unit() string {
	if g.claim.Value != nil {
		return " " + g.of.Metric.Unit
	}
	return "×"
}

// factor with two decimals, or as few as four digits leave.
func factor(v float64) string {
	if v >= 100 {
		return stats.Format(v)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", v), ".00")
}
