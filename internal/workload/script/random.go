// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/benchrun-dev/benchrun/internal/workload/generate"
)

// Random is the stream of random numbers of one client. It is not safe for concurrent use. A copy continues like the original, so
// that a transaction can be repeated with the same values.
//
// The distributions are those of the functions of pgbench. Uniform is exact. The others compute with float64: if the range has
// more than 2^52 integers, some of them are never drawn. Processors of different architectures round differently, and may draw
// another number in rare cases.
type Random struct{ stream generate.Stream }

// NewRandom returns the stream of a seed. Derive the seeds of clients with generate.Mix: the streams of some other seeds overlap.
func NewRandom(seed uint64) *Random { return &Random{stream: generate.From(seed)} }

// Float draws from the interval (0, 1), which includes neither end. Results are odd multiples of 2^-53.
func (r *Random) Float() float64 {
	return (float64(r.stream.Next()>>12) + 0.5) * 0x1p-52
}

// Uniform draws from low to high, both included, each with the same probability. low must not exceed high.
func (r *Random) Uniform(low, high int64) int64 {
	n := span(low, high) + 1
	if n == 0 {
		return int64(r.stream.Next()) //nolint:gosec // every bit pattern is an integer of this range
	}
	// The high word of a draw multiplied by n is the result. A low word among the 2^64 mod n smallest ones belongs to a draw that
	// would make some results more likely than others, and is drawn again (Lemire, Fast Random Integer Generation in an Interval,
	// 2019).
	quotient, remainder := bits.Mul64(r.stream.Next(), n)
	if remainder < n {
		for excess := -n % n; remainder < excess; {
			quotient, remainder = bits.Mul64(r.stream.Next(), n)
		}
	}
	return offset(low, quotient)
}

// Exponential draws from low to high, both included, low numbers more often: the density falls exponentially, by the factor
// e^-parameter over the whole range. The parameter must be above 0; low must not exceed high.
func (r *Random) Exponential(low, high int64, parameter float64) int64 {
	u := r.Float()
	if parameter < 0x1p-53 {
		return scale(low, high, u) // to the precision of a float64 it is uniform, and the product below could underflow
	}
	return scale(low, high, -math.Log1p(u*math.Expm1(-parameter))/parameter)
}

// Gaussian draws from low to high, both included, numbers in the middle more often: the range is a normal distribution that is
// truncated at -parameter and +parameter standard deviations. The parameter must be above 0; low must not exceed high.
func (r *Random) Gaussian(low, high int64, parameter float64) int64 {
	// Inversion takes exactly one draw per number, unlike the Box-Muller transform with rejection.
	inside := math.Erf(parameter / math.Sqrt2)
	deviations := math.Sqrt2 * math.Erfinv((2*r.Float()-1)*inside)
	return scale(low, high, 0.5+0.5*deviations/parameter)
}

// tight, multiplied by the parameter, is where the hat of Zipfian begins to equal the probabilities to the precision of a
// float64. The hat exceeds them by a factor of 1 + parameter × (parameter+1) / (24 k²).
const tight = 1 << 27

// Zipfian draws from low to high, both included: the k-th number with a probability proportional to k^-parameter. The parameter
// must be above 1, at least 1.001 for 12 digits of precision; low must not exceed high. The time does not depend on the range.
//
// The method is rejection-inversion (Hörmann and Derflinger, Rejection-inversion to generate variates from monotone discrete
// distributions, ACM TOMACS 6, 1996). The hat is the continuous density x^-parameter. It is convex, so that its area from k-½ to
// k+½ is at least the probability of k. Inversion draws a point of the area; it is accepted if it is in the last part of the
// area of k, the part that has the size of the probability of k. Here, areas are measured from infinity down instead of from 1
// up: the floating point numbers are then most precise where the probabilities are smallest.
func (r *Random) Zipfian(low, high int64, parameter float64) int64 {
	exponent := parameter - 1
	areaAbove := func(x float64) float64 { return power(x, -exponent) / exponent }
	n := float64(span(low, high)) + 1
	least := areaAbove(n + 0.5)
	most := areaAbove(1.5) + 1 // limits the area of 1 to its probability, so that 1 is always accepted
	for {
		area := least + r.Float()*(most-least)
		k := math.Floor(power(exponent*area, -1/exponent) + 0.5)
		switch k = min(k, n); {
		case k <= 1:
			return low
		case k > tight*parameter || area <= areaAbove(k+0.5)+power(k, -parameter):
			return step(low, high, k-1)
		}
	}
}

// power is math.Pow for positive numbers, three times as fast. The relative error grows with the logarithm of the result.
func power(x, exponent float64) float64 { return math.Exp(exponent * math.Log(x)) }

// span is the difference of two integers, which may need all 64 bits.
func span(low, high int64) uint64 { return uint64(high) - uint64(low) } //nolint:gosec // differences are the same modulo 2^64

// offset is the integer at a distance above low. The sum may not exceed the largest integer.
func offset(low int64, distance uint64) int64 {
	return int64(uint64(low) + distance) //nolint:gosec // sums are the same modulo 2^64
}

// scale maps the interval from 0 to 1 to the integers from low to high. Each of them has an equal part of the interval.
func scale(low, high int64, x float64) int64 {
	return step(low, high, x*(float64(span(low, high))+1))
}

// step is the integer that many steps above low, rounded down. Rounding errors do not lead out of the range.
func step(low, high int64, steps float64) int64 {
	if steps >= float64(span(low, high)) {
		return high
	}
	return offset(low, uint64(max(steps, 0)))
}

func uniform(x []Value, random *Random) (Value, error) {
	low, high, err := limits(x)
	if err != nil {
		return Value{}, err
	}
	return Value{Integer: random.Uniform(low, high)}, nil
}

var (
	exponential = skewed((*Random).Exponential, math.SmallestNonzeroFloat64, math.MaxFloat64, "above 0")
	gaussian    = skewed((*Random).Gaussian, 2, math.MaxFloat64, "at least 2")
	zipfian     = skewed((*Random).Zipfian, 1.001, 1000, "from 1.001 to 1000")
)

// skewed is a function of the language that draws from a distribution with a parameter from least to most.
func skewed(draw func(r *Random, low, high int64, parameter float64) int64, least, most float64, allowed string) compute {
	return func(x []Value, random *Random) (Value, error) {
		low, high, err := limits(x)
		if err != nil {
			return Value{}, err
		}
		parameter := x[2].decimal()
		if parameter < least || parameter > most {
			return Value{}, fmt.Errorf("the parameter is %v; it must be %s", parameter, allowed)
		}
		return Value{Integer: draw(random, low, high, parameter)}, nil
	}
}

// limits are the first two arguments of a random function.
func limits(x []Value) (low, high int64, err error) {
	if low, high, err = integers(x); err == nil && low > high {
		err = fmt.Errorf("the lower bound %d is above the upper bound %d", low, high)
	}
	return low, high, err
}
