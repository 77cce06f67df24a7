// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats/sequential"
)

const (
	// Rules is the number of the rules by which this package judges. A change to a verdict or an interval of values that were
	// recorded adds one, and freezes what they say anew.
	Rules = 2
	// ErrorProbability is that of any interval of a comparison, of all points and at any of its looks, to miss the true ratio.
	ErrorProbability = 0.05
	// MinPairs is the smallest number of rounds that a comparison can be made of: a block of the order (plan.ForComparison). Fewer
	// rounds agree too often on a load that comes and goes with them.
	MinPairs = 6
	// MinForEqual is the smallest number of rounds of which Equal is said. A server that stalls in few of its trials looks quiet in
	// most rounds: n quiet rounds leave it possible, at 95%, that a share of 3/n of the trials stalls (the rule of three).
	MinForEqual = 10
	// power with which Detectable and RoundsNeeded reckon.
	power = 0.8
	// maxRoundsNeeded is the largest number of rounds that RoundsNeeded says.
	maxRoundsNeeded = 10_000
)

// Verdict is the answer of a comparison.
type Verdict = v1alpha1.Verdict

// Verdicts of comparisons.
const (
	Faster            = v1alpha1.VerdictFaster
	Slower            = v1alpha1.VerdictSlower
	Equal             = v1alpha1.VerdictEqual
	NoDifferenceShown = v1alpha1.VerdictNoDifferenceShown
	CannotSay         = v1alpha1.VerdictCannotSay
)

// Words of a verdict about variants or claims: those of NoDifferenceShown are "no difference shown".
func Words[V ~string](verdict V) string {
	var b strings.Builder
	for i, c := range string(verdict) {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// Cause is why there is no answer.
type Cause string

const (
	// TooFewRounds were measured for any answer.
	TooFewRounds Cause = "TooFewRounds"
	// Noise: the ratios scatter so much from round to round that the design's difference would probably not have been seen.
	Noise Cause = "Noise"
	// NoRatio: a value is zero or negative.
	NoRatio Cause = "NoRatio"
	// MetricsDiffer: the variant and the baseline measured different metrics.
	MetricsDiffer Cause = "MetricsDiffer"
	// RateMissed: the offered rate was not reached with one of the two, which did its other work with less beside it.
	RateMissed Cause = "RateMissed"
	// SettingNotExercised: the two are as fast as each other, and nothing that was measured used the setting in which they differ.
	SettingNotExercised Cause = "SettingNotExercised"
	// Contradiction: the mean of all rounds lies where an earlier look has excluded the ratio. Something changed on the way.
	Contradiction Cause = "Contradiction"
)

// Design is how variants are compared with a baseline. It is fixed before anything is measured.
type Design struct {
	// MaxRounds is how many rounds are measured at most, at least MinPairs. With EarlyStop the values are looked at from MinRounds
	// on: after every round up to 20, every fifth up to 60, every tenth beyond; without, once, after MaxRounds.
	MinRounds, MaxRounds int
	EarlyStop            bool
	// EquivalencePercent is the difference that matters, above 0: ratios that are nearer to one are Equal.
	EquivalencePercent float64
	// Comparisons is the number of points times the number of variants besides the baseline. The error is divided by it.
	Comparisons int
	// Together says that the points are also judged together (Overall), with half of the error. The pairs have the other half.
	Together bool
	// BetweenRuns is the standard deviation, as a fraction, by which the medians of equal runs differ from one run to the next.
	// Only CompareSeparate needs it: trials of one run do not show it.
	BetweenRuns float64
	// given is the error of one comparison; 0 is the share that Comparisons and Together leave it.
	given float64
}

// Comparison of a variant with the baseline at one point.
type Comparison struct {
	Verdict Verdict `json:"verdict"`
	// Decided says that more rounds would not change the answer.
	Decided bool `json:"decided"`
	// Rounds that it is made of.
	Rounds int `json:"rounds"`
	// Ratio of the variant's value to the baseline's, and its interval, after the last look: the geometric mean over the rounds, and
	// what no look so far has excluded. Together, the intervals of all comparisons of the design and after all rounds contain the
	// true ratios with a probability of 95%. Before the first look the interval has no bounds: 0 and +Inf. With Contradiction the
	// ratio is not in it, and Low may be above High.
	Ratio float64 `json:"ratio,omitempty"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	// Detectable is the smallest difference, as a fraction, that this many rounds show with a probability of 80% at the scatter
	// that was seen. +Inf before the first look.
	Detectable float64 `json:"detectable,omitempty"`
	// RoundsNeeded is about how many rounds would show the design's difference, with Noise; otherwise 0.
	RoundsNeeded int `json:"roundsNeeded,omitempty"`
	// Cause of CannotSay.
	Cause Cause `json:"cause,omitempty"`
}

// Bounded says whether there is an interval.
func (c *Comparison) Bounded() bool { return c.Low > 0 && !math.IsInf(c.High, 1) }

// Margin is the logarithm of the smallest ratio above one that is not Equal.
func (d Design) Margin() float64 { return math.Log1p(d.EquivalencePercent / 100) }

// Compare judges the values of a baseline and a variant that were measured in the same rounds; the better values are the "higher"
// or the "lower" ones. Rounds that only one of them has, at the end, do not count.
func (d Design) Compare(better string, baseline, variant []float64) Comparison {
	ratios, ok := logRatios(baseline, variant)
	c := Comparison{Verdict: CannotSay, Rounds: len(ratios), Low: 0, High: math.Inf(1), Detectable: math.Inf(1)}
	if !ok {
		c.Cause = NoRatio
		return c
	}
	if len(ratios) < d.FirstLook() {
		c.Cause, c.Decided, c.Ratio = TooFewRounds, len(ratios) >= d.MaxRounds, math.Exp(estimateOf(ratios).mean)
		return c
	}
	looks := sequential.New(d.FirstLook(), d.MaxRounds, d.level())
	n := looks.LastLook(len(ratios))
	last, low, high := intersection(looks, n, baseline, variant)
	c.Ratio, c.Low, c.High = math.Exp(last.mean), math.Exp(low), math.Exp(high)
	c.Detectable = math.Expm1((looks.Critical(n) + distuv.UnitNormal.Quantile(power)) * last.err)
	switch d.judge(&c, low, high, better == "lower"); {
	case last.mean < low || last.mean > high:
		c.Verdict, c.Cause, c.Decided = CannotSay, Contradiction, false
	case c.Verdict == Equal && n < MinForEqual:
		c.Verdict, c.Decided = NoDifferenceShown, false
	}
	c.Decided = c.Decided || len(ratios) >= d.MaxRounds
	if c.Cause == Noise {
		c.RoundsNeeded = d.roundsNeeded(last.err * math.Sqrt(float64(n)))
	}
	return c
}

// Interval of the ratio of one variant's values to another's, which misses the true one with a probability, or why there is none.
func (d Design) Interval(of, to []float64, level float64) (r Ratio, why string) {
	d.given = level
	c := d.Compare("higher", to, of)
	if c.Bounded() && c.Cause != Contradiction {
		return Ratio{Value: c.Ratio, Low: c.Low, High: c.High}, ""
	}
	return r, (&Paired{FirstLook: d.FirstLook(), Comparison: c}).Why()
}

// judge sets the verdict by the interval of the logarithm of the ratio.
func (d Design) judge(c *Comparison, low, high float64, lowerIsBetter bool) {
	margin := d.Margin()
	switch {
	case low > 0 == !lowerIsBetter && (low > 0 || high < 0):
		c.Verdict, c.Decided = Faster, true
	case low > 0 || high < 0:
		c.Verdict, c.Decided = Slower, true
	case low > -margin && high < margin:
		c.Verdict, c.Decided = Equal, true
	case c.Detectable <= math.Expm1(margin):
		c.Verdict = NoDifferenceShown
	default:
		c.Verdict, c.Cause = CannotSay, Noise
	}
}

// FirstLook is the number of rounds after which there can be a verdict for the first time. If it is above MaxRounds there can be
// none. No look is taken before the rounds that are alike by chance (leastTrials) are a fifth of the comparison's error at most.
func (d Design) FirstLook() int {
	first := max(d.MaxRounds, MinPairs)
	if d.EarlyStop {
		first = max(d.MinRounds, MinPairs)
	}
	return leastTrials(first, d.level()/5)
}

func (d Design) level() float64 {
	level := ErrorProbability / float64(max(1, d.Comparisons))
	switch {
	case d.given > 0:
		return d.given
	case d.Together:
		return level / 2
	}
	return level
}

// roundsNeeded for the design's difference, if the ratios of single rounds have this standard deviation: the usual number for a
// normal test, and Guenther's correction for one that estimates the deviation.
func (d Design) roundsNeeded(deviation float64) int {
	z := -distuv.UnitNormal.Quantile(d.level() / 2)
	n := math.Pow((z+distuv.UnitNormal.Quantile(power))*deviation/d.Margin(), 2) + z*z/2
	return int(math.Ceil(min(max(n, MinPairs), maxRoundsNeeded)))
}

// intersection of the intervals after all looks up to n rounds, of which the last is one: what one of them has excluded stays
// excluded. Besides, it is what the last one estimates.
func intersection(looks *sequential.Boundary, n int, baseline, variant []float64) (last estimate, low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for _, look := range looks.Looks() {
		if look > n {
			break
		}
		last = estimateOfPairs(baseline[:look], variant[:look])
		half := looks.Critical(look) * last.err
		low, high = max(low, last.mean-half), min(high, last.mean+half)
	}
	return last, low, high
}
