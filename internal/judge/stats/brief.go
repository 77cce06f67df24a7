// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBrief is how many characters a brief answer has at most: a column of a table on a terminal.
const maxBrief = 40

// Brief is the best point's median with the point or, if that is too long, with the number of points; empty if nothing was
// measured. It has at most 40 characters.
func Brief(points []Point) string {
	l := LeadOf(points, Format)
	if l == nil {
		return ""
	}
	value := l.Value + " " + l.Unit
	if len(points) == 1 || l.At == "" {
		return fitting(value)
	}
	of := fmt.Sprintf("%s, best of %d points", value, len(points))
	if InStages(points) {
		of = fmt.Sprintf("%s, first of %d stages", value, len(points))
	}
	return fitting(value+" at "+l.At, of, value)
}

// briefs are what a pair says, with something at the end, from the most words to the fewest.
func (p *Paired) briefs(end string) []string {
	between := fmt.Sprintf(" (%.2f–%.2f)", p.Low, p.High)
	switch p.Verdict {
	case Faster, Slower:
		who := p.Variant + " "
		if !p.isTime() && p.Metric.Better == "lower" {
			who = p.Metric.Name + " "
		}
		what, interval := p.brief()
		interval = " (" + interval + ")"
		return []string{who + what + interval + end, who + what + end, what + interval + end, what + end}
	case Equal:
		equal := fmt.Sprintf("equal within %d%%", p.EquivalencePercent)
		return []string{equal + between + end, equal + end}
	case NoDifferenceShown:
		return []string{"no difference shown" + between, "no difference shown"}
	case CannotSay:
	}
	if p.measured() && p.Cause != SettingNotExercised {
		return []string{fmt.Sprintf("%.2f×%s%s: not decided", p.Ratio, between, end)}
	}
	return []string{p.briefCause()}
}

func (p *Paired) briefCause() string {
	switch {
	case p.Cause != TooFewRounds:
		return "cannot say: " + cmp.Or(briefCauses[p.Cause], "too much noise")
	case p.Separate:
		return "too few trials"
	}
	return fmt.Sprintf("too few rounds for an answer (%d of %d)", p.Rounds, p.FirstLook)
}

var briefCauses = map[Cause]string{
	NoRatio: "a value is missing or zero", MetricsDiffer: "metrics differ", RateMissed: "offered rate not reached",
	SettingNotExercised: "setting not exercised", Contradiction: "rounds contradict earlier ones",
	BetweenRuns: "equal runs may differ as much",
}

// fitting is the first text of at most 40 characters; or the last one, cut.
func fitting(texts ...string) string {
	for _, text := range texts {
		if utf8.RuneCountInString(text) <= maxBrief {
			return text
		}
	}
	return string([]rune(texts[len(texts)-1])[:maxBrief-1]) + "…"
}

// Unanswered are comparisons that have no answer for the same cause: that whose ratios scatter the most, and the indexes of all.
type Unanswered struct {
	*Paired
	From []int
}

// MergeUnanswered says each cause for which comparisons have no answer once, in the order in which they first come.
func MergeUnanswered(pairs []*Paired) []Unanswered {
	var list []Unanswered
	for i, p := range pairs {
		n := slices.IndexFunc(list, func(u Unanswered) bool {
			return u.Variant == p.Variant && u.Baseline == p.Baseline && u.Verdict == p.Verdict && u.Cause == p.Cause
		})
		if n < 0 {
			n, list = len(list), append(list, Unanswered{Paired: p})
		}
		if u := &list[n]; p.Detectable > u.Detectable {
			u.Paired = p
		}
		list[n].From = append(list[n].From, i)
	}
	return list
}

// unanswered says in a sentence that there is no answer, and why.
func (p *Paired) unanswered() string {
	if p.Verdict == NoDifferenceShown {
		return fmt.Sprintf("no difference shown between %s and %s (ratio %.2f–%.2f)%s", p.Variant, p.Baseline, p.Low, p.High,
			p.detectable())
	}
	if p.measured() {
		return fmt.Sprintf("%.2f× (%.2f–%.2f) from %s to %s: not decided: %s", p.Ratio, p.Low, p.High, p.Baseline, p.Variant, p.Why())
	}
	return fmt.Sprintf("cannot say whether %s differs from %s: %s", p.Variant, p.Baseline, p.Why())
}

// measured says whether there is a ratio with an interval although there is no answer: they come first, whatever is said then.
func (p *Paired) measured() bool {
	return p.Bounded() && (p.Cause == Noise || p.Cause == BetweenRuns || p.Cause == SettingNotExercised)
}

// detectable says which difference would have been detected; empty if that is unknown.
func (p *Paired) detectable() string {
	if p.Detectable <= 0 || math.IsInf(p.Detectable, 1) {
		return ""
	}
	return fmt.Sprintf("; a difference of %s%% would probably have been detected", percent(p.Detectable))
}

// Why says for people why there is no answer.
func (p *Paired) Why() string {
	switch {
	case p.BaselineMetric != nil:
		return fmt.Sprintf("different metrics: %s in %s and %s in %s", p.BaselineMetric.Name, p.BaselineMetric.Unit, p.Metric.Name,
			p.Metric.Unit)
	case p.Cause == TooFewRounds && p.Separate:
		return fmt.Sprintf("too few trials (%d and %d): an answer takes at least %d on each side", len(p.BaselineValues),
			len(p.Values), p.FirstLook)
	case p.Cause == TooFewRounds:
		return fmt.Sprintf("too few rounds (%d): an answer takes at least %d", p.Rounds, p.FirstLook)
	case p.Cause == NoRatio:
		return "a value is missing, zero or negative"
	case p.Cause == RateMissed:
		return "the offered rate was not reached, so the rest of the load had less competition"
	case p.Cause == SettingNotExercised:
		return "the load never used more than the smaller " + strings.Join(p.NotExercised, " and ")
	case p.Cause == Contradiction:
		return "the mean ratio of all rounds is one that earlier rounds had excluded: something changed between them"
	}
	text, unit := "the ratios vary too much between rounds", "rounds"
	if p.Separate {
		text, unit = "the values vary too much between trials", "trials on each side"
	}
	if p.Cause == BetweenRuns {
		text = fmt.Sprintf("equal runs may differ by %d%%, however many trials they have", p.EquivalencePercent)
	}
	if p.RoundsNeeded > p.Rounds {
		text += fmt.Sprintf("; a difference of %d%% would take about %d %s to show", p.EquivalencePercent, p.RoundsNeeded, unit)
	}
	return text + p.detectable()
}

// Overall compares each variant with the baseline over all of its points together: in each round, the ratio of the geometric
// means. Points that missed the offered rate do not count. The variants share the half of the error that is for this (Together).
// A variant with one point, or whose points have different metrics, has none.
func (d Design) Overall(pairs []Paired) []Paired {
	var variants []string
	of := map[string][]Paired{}
	for i := range pairs {
		if pairs[i].RateMissed {
			continue
		}
		if v := pairs[i].Variant; of[v] == nil {
			variants = append(variants, v)
		}
		of[pairs[i].Variant] = append(of[pairs[i].Variant], pairs[i])
	}
	var all []Paired
	for _, v := range variants {
		if points := of[v]; len(points) > 1 && sameMetric(points) {
			all = append(all, together(points))
		}
	}
	d.Comparisons = len(all)
	for i := range all {
		all[i].Judge(d)
	}
	return all
}

func sameMetric(pairs []Paired) bool {
	return !slices.ContainsFunc(pairs, func(p Paired) bool {
		m, of := p.Metric, pairs[0].Metric
		return p.BaselineMetric != nil || m.Name != of.Name || m.Unit != of.Unit || m.Better != of.Better
	})
}

// together are the pairs of a variant as one, without a verdict.
func together(pairs []Paired) Paired {
	p := pairs[0]
	all := Paired{Variant: p.Variant, Baseline: p.Baseline, Metric: p.Metric, Points: len(pairs), NotExercised: p.NotExercised}
	for i := range pairs {
		if len(pairs[i].NotExercised) == 0 {
			all.NotExercised = nil // one point that uses the setting decides
		}
		all.BaselineValues = times(all.BaselineValues, pairs[i].BaselineValues, len(pairs))
		all.Values = times(all.Values, pairs[i].Values, len(pairs))
	}
	return all
}

// times multiplies a product, nil is one, by the n-th root of each value. A root does not overflow where a product would.
func times(product, values []float64, n int) []float64 {
	if product == nil {
		product = slices.Repeat([]float64{1}, len(values))
	}
	product = product[:min(len(product), len(values))]
	for i := range product {
		product[i] *= math.Pow(values[i], 1/float64(n))
	}
	return product
}

// where the pair was measured, as the end of a sentence.
func (p *Paired) where() string {
	if p.Points > 1 {
		return fmt.Sprintf(" over all %d points", p.Points)
	}
	return At(p.Parameters)
}

// brief is a difference in the fewest words, with its interval: as a factor from where on sentences have one.
func (p *Paired) brief() (text, interval string) {
	speed, low, high := p.speed()
	switch {
	case p.isSpeedup():
		return digits(speed, 2) + "× as fast", span(low, high) + "×"
	case p.isSlowdown():
		return digits(p.Ratio, 2) + "× as long", span(p.Low, p.High) + "×"
	}
	return p.change()
}
