// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
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
	case SettingNotExercised:
		return "no answer: setting not exercised"
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

// Unanswered are comparisons without an answer that differ only in their point and in what was measured.
type Unanswered struct {
	// least and most have the two ends of the range of each number.
	least, most Paired
	// From are their indexes.
	From []int
}

// MergeUnanswered says each reason for which comparisons have no answer once, in the order in which they first come.
func MergeUnanswered(pairs []*Paired) []Unanswered {
	var list []Unanswered
	known := map[reason]int{}
	for i, p := range pairs {
		key := p.reason()
		at, seen := known[key]
		if !seen {
			at = len(list)
			known[key], list = at, append(list, Unanswered{least: *p, most: *p})
		}
		list[at].add(p, i)
	}
	return list
}

// reason why a comparison has no answer, without numbers.
type reason struct {
	variant, baseline                    string
	metric, baselineMetric               result.Metric
	verdict                              Verdict
	cause                                Cause
	notExercised                         string
	percent                              int32
	firstLook                            int
	separate, needsRounds, hasDetectable bool
}

func (p *Paired) reason() reason {
	r := reason{
		variant: p.Variant, baseline: p.Baseline, verdict: p.Verdict, cause: p.Cause, notExercised: p.NotExercised, percent: p.EquivalencePercent,
		firstLook: p.FirstLook, separate: p.Separate, needsRounds: p.needsRounds(), hasDetectable: p.hasDetectable(),
	}
	if p.BaselineMetric != nil {
		r.metric, r.baselineMetric = p.Metric, *p.BaselineMetric
	}
	return r
}

// needsRounds says whether it is known how many rounds would show the difference that matters.
func (p *Paired) needsRounds() bool { return p.RoundsNeeded > p.Rounds }

// hasDetectable says whether it is known which difference would have been seen.
func (p *Paired) hasDetectable() bool { return p.Detectable > 0 && !math.IsInf(p.Detectable, 1) }

func (u *Unanswered) add(p *Paired, index int) {
	u.From = append(u.From, index)
	low, high := &u.least, &u.most
	low.Low, high.High = min(low.Low, p.Low), max(high.High, p.High)
	low.Detectable, high.Detectable = min(low.Detectable, p.Detectable), max(high.Detectable, p.Detectable)
	low.Rounds, high.Rounds = min(low.Rounds, p.Rounds), max(high.Rounds, p.Rounds)
	low.RoundsNeeded, high.RoundsNeeded = min(low.RoundsNeeded, p.RoundsNeeded), max(high.RoundsNeeded, p.RoundsNeeded)
	low.BaselineValues, high.BaselineValues = extend(low.BaselineValues, high.BaselineValues, p.BaselineValues)
	low.Values, high.Values = extend(low.Values, high.Values, p.Values)
}

// extend is the shorter of two lists and a third, and the longer of the other and that.
func extend(short, long, list []float64) (shortest, longest []float64) {
	if len(list) < len(short) {
		short = list
	}
	if len(list) > len(long) {
		long = list
	}
	return short, long
}

// Why says for people why there is no answer.
func (p *Paired) Why() string { return p.unanswered().cause() }

// detectable says which differences would have been detected. It returns an empty string if that is unknown.
func (u *Unanswered) detectable() string {
	low, high := &u.least, &u.most
	if !low.hasDetectable() {
		return ""
	}
	return fmt.Sprintf("; a difference of %s%% would probably have been detected", percentRange(low.Detectable, high.Detectable))
}

// unanswered is one comparison.
func (p *Paired) unanswered() *Unanswered { return &Unanswered{least: *p, most: *p} }

// String says it in a sentence, without the points.
func (u *Unanswered) String() string {
	low, high := &u.least, &u.most
	if low.Verdict == NoDifferenceShown {
		return fmt.Sprintf("no difference shown between %s and %s (ratio %.2f–%.2f)%s",
			low.Variant, low.Baseline, low.Low, high.High, u.detectable())
	}
	return fmt.Sprintf("cannot say whether %s differs from %s: %s", low.Variant, low.Baseline, u.cause())
}

// cause of CannotSay, in words.
func (u *Unanswered) cause() string {
	low, high := &u.least, &u.most
	switch {
	case low.BaselineMetric != nil:
		return fmt.Sprintf("different metrics: %s in %s and %s in %s", low.BaselineMetric.Name, low.BaselineMetric.Unit,
			low.Metric.Name, low.Metric.Unit)
	case low.Cause == TooFewRounds && low.Separate:
		return fmt.Sprintf("too few trials (%s and %s): an answer takes at least %d on each side",
			countRange(len(low.BaselineValues), len(high.BaselineValues)), countRange(len(low.Values), len(high.Values)), low.FirstLook)
	case low.Cause == TooFewRounds:
		return fmt.Sprintf("too few rounds (%s): an answer takes at least %d", countRange(low.Rounds, high.Rounds), low.FirstLook)
	case low.Cause == NoRatio:
		return "a value is missing, zero or negative"
	case low.Cause == RateMissed:
		return "the offered rate was not reached, so the rest of the load had less competition"
	case low.Cause == SettingNotExercised:
		return fmt.Sprintf("the ratio is %.2f–%.2f, and the load never used more than the smaller %s", low.Low, high.High,
			low.NotExercised)
	case low.Cause == Contradiction:
		return "the mean ratio of all rounds is one that earlier rounds had excluded: something changed between them"
	}
	text, unit := "the ratios vary too much between rounds", "rounds"
	if low.Separate {
		text, unit = "the values vary too much between trials", "trials on each side"
	}
	if low.Cause == BetweenRuns {
		text = fmt.Sprintf("equal runs may differ by %d%%, however many trials they have", low.EquivalencePercent)
	}
	if low.needsRounds() {
		text += fmt.Sprintf("; a difference of %d%% would take about %s %s to show", low.EquivalencePercent,
			countRange(low.RoundsNeeded, high.RoundsNeeded), unit)
	}
	return text + u.detectable()
}

func countRange(low, high int) string { return textRange(strconv.Itoa(low), strconv.Itoa(high)) }

func percentRange(low, high float64) string { return textRange(percent(low), percent(high)) }

// textRange has two numbers as they are written, or one if they are written alike.
func textRange(low, high string) string {
	if low == high {
		return low
	}
	return low + "–" + high
}
