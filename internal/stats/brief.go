// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"slices"
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
	of := fmt.Sprintf("%s, best of %d points", value, len(points))
	if InStages(points) {
		of = fmt.Sprintf("%s, first of %d stages", value, len(points))
	}
	longest := []string{value, of, value + " at " + l.At}
	if len(points) == 1 || l.At == "" {
		longest = longest[:1]
	}
	slices.Reverse(longest)
	return fitting(longest...)
}

// BriefAnswer is what all pairs of a comparison show, in at most 40 characters: the largest difference, without the baseline's
// name; empty if there are no pairs. AnswerOf has all of it.
func BriefAnswer(overall, list []Paired) string {
	all, t, n := tally(overall), tally(list), len(list)
	switch {
	case n == 0:
		return ""
	case n == 1:
		return fitting(list[0].briefs("")...)
	case all.largest >= 0:
		return fitting(overall[all.largest].briefs(" overall")...)
	case t.differ > 0:
		most := &list[t.largest]
		return fitting(append(most.briefs(fmt.Sprintf("; %d of %d %s", t.differ, n, t.verb())), most.briefs("")...)...)
	case t.equal > 0 && t.equal < n:
		return fitting(fmt.Sprintf("%d of %d equal within %d%%", t.equal, n, list[0].EquivalencePercent))
	case t.equal == n || t.none == n:
		return fitting(list[0].briefs("")[1:]...)
	case t.none > 0:
		return fitting(fmt.Sprintf("no difference shown for %d of %d", t.none, n))
	case sameCause(list) != "":
		return fitting(list[0].briefs("")...)
	}
	return fitting(fmt.Sprintf("no answer for %d %s", n, t.things()))
}

// briefs are what a pair says, with something at the end, from the most words to the fewest.
func (p *Paired) briefs(end string) []string {
	between := fmt.Sprintf(" (%.2f–%.2f)", p.Low, p.High)
	switch p.Verdict {
	case Faster, Slower:
		who, what, interval := p.Variant+" ", p.brief(), " ("+p.briefInterval()+")"
		if !p.isTime() && p.Metric.Better == "lower" {
			who = p.Metric.Name + " "
		}
		return []string{who + what + interval + end, who + what + end, what + interval + end, what + end}
	case Equal:
		equal := fmt.Sprintf("equal within %d%%", p.EquivalencePercent)
		return []string{equal + between + end, equal + end}
	case NoDifferenceShown:
		return []string{"no difference shown" + between, "no difference shown"}
	case CannotSay:
	}
	return []string{p.briefCause()}
}

// briefInterval of a difference, as brief says it.
func (p *Paired) briefInterval() string {
	_, low, high := p.speed()
	switch {
	case p.isSpeedup():
		return span(low, high) + "×"
	case p.isSlowdown():
		return span(p.Low, p.High) + "×"
	}
	_, interval := p.change()
	return interval
}

// briefCause is why there is no answer, in a few words.
func (p *Paired) briefCause() string {
	switch p.Cause {
	case TooFewRounds:
		if p.Separate {
			return "too few trials"
		}
		return fmt.Sprintf("too few rounds for an answer (%d of %d)", p.Rounds, p.FirstLook)
	case NoRatio:
		return "no answer: a value is missing or zero"
	case MetricsDiffer:
		return "no answer: metrics differ"
	case RateMissed:
		return "no answer: offered rate not reached"
	case Contradiction:
		return "no answer: rounds contradict earlier ones"
	case BetweenRuns:
		return "no answer: equal runs may differ as much"
	case Noise:
	}
	return "no answer: too much noise"
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
