// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import "math"

// Design is how a comparison is made: how many rounds at most, from which round on it may stop, which difference counts as none,
// over how many comparisons the error of 5 % is spread.
type Design struct {
	MinRounds, MaxRounds int
	EarlyStop            bool
	DifferencePercent    float64
	Comparisons          int
}

// Verdict is the answer of a comparison.
type Verdict string

// Verdicts. Faster and Slower are about the variant, whichever direction of the metric is better.
const (
	Faster            Verdict = "Faster"
	Slower            Verdict = "Slower"
	Equal             Verdict = "Equal"
	NoDifferenceShown Verdict = "NoDifferenceShown"
	CannotSay         Verdict = "CannotSay"
)

// Causes of CannotSay.
const (
	CauseTooFewRounds  = "TooFewRounds"
	CauseNoise         = "Noise"
	CauseInvalidTrials = "InvalidTrials"
)

// Comparison is what paired values say.
type Comparison struct {
	Verdict Verdict
	// Decided: no more rounds are needed.
	Decided bool
	// Rounds are the pairs that it is made of.
	Rounds int
	// Ratio of the variant's values to the baseline's, and its interval.
	Ratio, Low, High float64
	// Detectable is the smallest difference that so many rounds could have shown, as a fraction.
	Detectable float64
	// RoundsNeeded is an estimate, 0 if unknown.
	RoundsNeeded int
	// Cause of CannotSay.
	Cause string
}

// Compare judges paired values of whole rounds; better is "higher" or "lower". It is a paired t test on the logarithms of the
// ratios. The error is divided among all comparisons and all looks, which wastes power but holds.
func (d Design) Compare(better string, baseline, variant []float64) Comparison {
	n := min(len(baseline), len(variant))
	c := Comparison{Verdict: CannotSay, Rounds: n, Decided: n >= d.MaxRounds}
	logs := make([]float64, n)
	for i := range n {
		logs[i] = math.Log(variant[i] / baseline[i])
		if math.IsNaN(logs[i]) || math.IsInf(logs[i], 0) {
			c.Cause = CauseInvalidTrials
			return c
		}
	}
	if n < 2 {
		c.Cause = CauseTooFewRounds
		return c
	}
	mean, deviation := moments(logs)
	looks := 1
	if d.EarlyStop {
		looks = max(1, d.MaxRounds-d.MinRounds+1)
	}
	margin := quantileT(n-1, 0.05/float64(max(1, d.Comparisons)*looks)) * deviation / math.Sqrt(float64(n))
	c.Ratio, c.Low, c.High, c.Detectable = math.Exp(mean), math.Exp(mean-margin), math.Exp(mean+margin), math.Expm1(margin)
	if d.EarlyStop && n < d.MinRounds {
		c.Cause = CauseTooFewRounds
		return c
	}
	more, less := Faster, Slower
	if better == "lower" {
		more, less = Slower, Faster
	}
	switch none := math.Log1p(d.DifferencePercent / 100); {
	case mean-margin > 0:
		c.Verdict = more
	case mean+margin < 0:
		c.Verdict = less
	case mean-margin > -none && mean+margin < none:
		c.Verdict = Equal
	default:
		c.Verdict = NoDifferenceShown
	}
	c.Decided = c.Decided || d.EarlyStop && c.Verdict != NoDifferenceShown
	return c
}

func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(deviation)
}

// quantileT is the value that Student's t exceeds in absolute value with probability alpha.
func quantileT(freedom int, alpha float64) float64 {
	low, high := 0.0, 1e9
	for range 200 {
		if t := (low + high) / 2; tails(float64(freedom), t) > alpha {
			low = t
		} else {
			high = t
		}
	}
	return high
}

// tails is the probability that |t| is larger: the integral of the density by Simpson's rule over an angle, where it is smooth.
func tails(freedom, t float64) float64 {
	const steps = 2000
	from := math.Atan(t / math.Sqrt(freedom))
	density := func(angle float64) float64 { return math.Pow(math.Cos(angle), freedom-1) }
	integral := func(from float64) float64 {
		h, sum := (math.Pi/2-from)/steps, density(from)+density(math.Pi/2)
		for i := 1; i < steps; i++ {
			sum += density(from+float64(i)*h) * float64(2+2*(i%2))
		}
		return sum * h / 3
	}
	return integral(from) / integral(0)
}
