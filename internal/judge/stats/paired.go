// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Paired is a variant beside the baseline at one point: their values round by round, and what these say.
type Paired struct {
	Variant    string            `json:"variant"`
	Baseline   string            `json:"baseline"`
	Parameters map[string]string `json:"parameters,omitempty"`
	// Points is how many points the pair is about, if it is about more than one: values are then their geometric means.
	Points int `json:"points,omitempty"`
	// Metric that is compared; its Value is unused.
	Metric result.Metric `json:"-"`
	Comparison
	// BaselineValues and Values have one value for each round in which both were measured.
	BaselineValues []float64 `json:"baselineValues,omitempty"`
	Values         []float64 `json:"values,omitempty"`
	// Separate says that the two were not measured in the same rounds: there is a value for each trial, in no particular order.
	// Rounds are then trials on the smaller side.
	Separate bool `json:"separate,omitempty"`
	// EquivalencePercent is the difference that counts as none, and FirstLook the round after which there can be an answer; with
	// Separate it is the number of trials that it takes on each side.
	EquivalencePercent int32 `json:"equivalentWithinPercent"`
	FirstLook          int   `json:"firstLook"`
	// BaselineMetric is the baseline's metric if it is another one than the variant's, and nil otherwise: two metrics have no ratio.
	BaselineMetric *result.Metric `json:"-"`
	// RateMissed says that the variant or the baseline did not reach the offered rate.
	RateMissed bool `json:"-"`
	// NotExercised are the variables of which the two have other values, where neither used what the smaller one allows.
	NotExercised []string `json:"notExercised,omitempty"`
	// Costs of a unit of work, which may explain the difference.
	Costs []Cost `json:"costs,omitempty"`
}

// Cost of a unit of work with the baseline and with the variant: medians over the rounds.
type Cost struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Baseline float64 `json:"baseline"`
	Variant  float64 `json:"variant"`
}

// Judge sets the comparison.
func (p *Paired) Judge(d Design) {
	p.EquivalencePercent, p.FirstLook = int32(d.EquivalencePercent), d.FirstLook()
	if p.BaselineMetric != nil {
		p.Comparison = Comparison{Verdict: CannotSay, Cause: MetricsDiffer, Rounds: len(p.Values)}
		return
	}
	if p.Separate {
		p.FirstLook, p.Comparison = d.FirstSeparate(), d.CompareSeparate(p.Metric.Better, p.BaselineValues, p.Values)
	} else {
		p.Comparison = d.Compare(p.Metric.Better, p.BaselineValues, p.Values)
	}
	if len(p.NotExercised) > 0 && p.Verdict == Equal {
		p.Verdict, p.Cause = CannotSay, SettingNotExercised
	}
	if p.RateMissed {
		// The ratio has an error that no interval covers. More rounds do not make it good.
		p.Comparison = Comparison{
			Verdict: CannotSay, Cause: RateMissed, Decided: true, Rounds: p.Rounds, Ratio: p.Ratio,
			High: math.Inf(1), Detectable: math.Inf(1),
		}
	}
}

// Measures sets the metrics of the two sides.
func (p *Paired) Measures(variant, baseline result.Metric) {
	p.Metric = variant
	if variant.Name != baseline.Name || variant.Unit != baseline.Unit || variant.Better != baseline.Better {
		p.BaselineMetric = &baseline
	}
}

// Answered says whether the verdict is an answer: a difference, or that there is none that matters.
func (p *Paired) Answered() bool {
	return p.Verdict == Faster || p.Verdict == Slower || p.Verdict == Equal
}

// Worst are the worst values of the baseline and of the variant, which have some, as fractions of their medians. A stall in one
// of many rounds shows here, and hardly in the ratio.
func (p *Paired) Worst() (baseline, variant float64) {
	worst := slices.Min[[]float64]
	if p.Metric.Better == "lower" {
		worst = slices.Max[[]float64]
	}
	return worst(p.BaselineValues) / Summarize(p.BaselineValues).Median, worst(p.Values) / Summarize(p.Values).Median
}

// speed is how many times as fast the variant is, with its interval: the ratio of the values, or its inverse if lower is better.
func (p *Paired) speed() (ratio, low, high float64) {
	if p.Metric.Better == "lower" {
		return 1 / p.Ratio, 1 / p.High, 1 / p.Low
	}
	return p.Ratio, p.Low, p.High
}

// timesFrom is the factor from which on a difference is told as one: "3.1× as fast" is easier to read than "210% faster".
const timesFrom = 1.5

// String says the verdict in a sentence, without the point.
func (p *Paired) String() string {
	switch p.Verdict {
	case Faster, Slower:
		return p.difference()
	case Equal:
		return fmt.Sprintf("%s and %s are equal within %d%% (ratio %.2f–%.2f)", p.Variant, p.Baseline, p.EquivalencePercent,
			p.Low, p.High)
	case NoDifferenceShown, CannotSay:
	}
	return p.unanswered()
}

// difference in a sentence. A time that falls is less time, and not a speed that rises; what is neither a rate nor a time is
// higher or lower.
func (p *Paired) difference() string {
	speed, low, high := p.speed()
	change, changes := p.change()
	switch {
	case p.isSpeedup():
		return fmt.Sprintf("%s is %s× as fast as %s (%s×)", p.Variant, digits(speed, 2), p.Baseline, span(low, high))
	case p.isSlowdown():
		return fmt.Sprintf("%s takes %s× as long as %s (%s×)", p.Variant, digits(p.Ratio, 2), p.Baseline, span(p.Low, p.High))
	case p.isTime():
		return fmt.Sprintf("%s takes %s than %s (%s)", p.Variant, change, p.Baseline, changes)
	case p.Metric.Better != "higher":
		return fmt.Sprintf("%s is %s with %s than with %s (%s)", p.Metric.Name, change, p.Variant, p.Baseline, changes)
	}
	return fmt.Sprintf("%s is %s than %s (%s)", p.Variant, change, p.Baseline, changes)
}

// isSpeedup says whether a difference is told as a factor of the speed, and isSlowdown whether as one of the time.
func (p *Paired) isSpeedup() bool {
	speed, _, _ := p.speed()
	return p.Verdict == Faster && speed >= timesFrom && (p.isTime() || p.Metric.Better == "higher")
}

func (p *Paired) isSlowdown() bool { return p.isTime() && p.Ratio >= timesFrom }

// Change is a difference in a few words, without its interval: 21% less time, 8.1% faster.
func (p *Paired) Change() string {
	text, _ := p.change()
	return text
}

func (p *Paired) change() (text, interval string) {
	more, less := "faster", "slower"
	switch {
	case p.isTime():
		more, less = "more time", "less time"
	case p.Metric.Better != "higher":
		more, less = "higher", "lower"
	}
	if p.Ratio > 1 {
		return percent(p.Ratio-1) + "% " + more, percents(p.Low-1, p.High-1) + "%"
	}
	return percent(1-p.Ratio) + "% " + less, percents(1-p.High, 1-p.Low) + "%"
}

// isTime says whether the values are times, of which less is better.
func (p *Paired) isTime() bool {
	return p.Metric.Better == "lower" && slices.Contains([]string{"s", "ms", "µs", "ns"}, p.Metric.Unit)
}

// At a point is its label, as the end of a sentence; empty if there is only one point.
func At(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return " at " + Label(parameters)
}

// digits writes a number with so many significant digits.
func digits(v float64, n int) string {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return Format(v)
	}
	scale := math.Pow(10, float64(n-1)-math.Floor(math.Log10(v)))
	return Format(math.Round(v*scale) / scale)
}

// span of two ratios, with as many digits as tell them apart, and from 1.
func span(low, high float64) string {
	for n := 2; ; n++ {
		if a, b := digits(low, n), digits(high, n); a != b && a != "1" && b != "1" || n == 4 {
			return a + "–" + b
		}
	}
}

func percent(fraction float64) string { return digits(100*fraction, 2) }

func percents(low, high float64) string { return percent(low) + "–" + percent(high) }

// Loss is by what fraction the variant is slower than the baseline, with its interval: 0.05 is 5% slower, and below 0 is faster.
// String says it of a rate; of a time, how much longer that is. Without an interval, the bounds are ∓ infinity and 1.
func (p *Paired) Loss() (loss, low, high float64) {
	speed, slowest, fastest := p.speed()
	return 1 - speed, 1 - fastest, 1 - slowest
}
