// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sequential looks at a mean again and again while values arrive, and keeps its error over all looks.
//
// Why a group-sequential t test: with a known largest number of rounds it has the most power of the methods whose error holds at
// every look. Confidence sequences and e-values need no such number and pay for it: a t test by e-values takes about eight rounds
// for the difference that this one finds in six. An exact sign-flip test cannot reach 5% before six rounds.
//
// What it rests on: the logarithms of the ratios of paired values are symmetric around their mean, because the two of a pair were
// measured one after the other, in an order drawn by lot. docs/reference/statistics has its errors for noise that is
// normal, skewed, heavy-tailed, bimodal, drifting and correlated, and for noise recorded from real trials.
package sequential

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// shape of the boundary (Wang and Tsiatis): 0.5 is the same level at every look (Pocock), 0 leaves nearly everything to the last
	// one (O'Brien and Fleming). Halfway finds more in the same number of rounds than either.
	shape = 0.25
	// steps of the secant method at most, and how near to alpha it must come.
	steps, tolerance = 20, 1e-3
)

type design struct {
	first, last int
	alpha       float64
}

// computed boundaries by their design.
var computed sync.Map

// Boundary is a two-sided group-sequential t test: the mean is looked at after some numbers of values from first to last, and
// after each look the interval mean ± Critical(n)·s/√n is stated. If the values are independent and normal, whatever their
// standard deviation, all of these intervals together contain the true mean with the probability 1-alpha.
type Boundary struct {
	First, Last int
	looks       []int // in ascending order
	// critical is, by the number of values at a look, the quantile of Student's distribution of its two-sided level.
	critical map[int]float64
}

// New finds the levels of the looks, so that the error over all of them is alpha. The normal quantile of a level falls with the
// number of values: C·(n/last)^(shape-1/2), where C is the same for all looks.
//
// The lowest first is 2; alpha is between 0 and 1. What was computed is kept: it takes tenths of a second, and few are asked for.
func New(first, last int, alpha float64) *Boundary {
	of := design{first, last, alpha}
	known, found := computed.Load(of)
	if !found {
		known, _ = computed.LoadOrStore(of, compute(of))
	}
	return known.(*Boundary)
}

func compute(of design) *Boundary {
	scale := of.scale()
	b := &Boundary{First: of.first, Last: of.last, looks: of.looks(), critical: map[int]float64{}}
	for _, n := range b.looks {
		level := 2 * distuv.UnitNormal.CDF(-of.quantile(n, scale))
		b.critical[n] = -student(n - 1).Quantile(level / 2)
	}
	return b
}

// looks are taken after every value up to 20, after every fifth up to 60, and after every tenth beyond: of many values, one more
// changes little. There is one after the first and the last number of values in any case.
func (d design) looks() []int {
	var list []int
	for n := d.first; n <= d.last; n++ {
		if n <= 20 || n <= 60 && n%5 == 0 || n%10 == 0 || n == d.first || n == d.last {
			list = append(list, n)
		}
	}
	return list
}

// quantile of the normal distribution that belongs to the level of a look.
func (d design) quantile(n int, scale float64) float64 {
	return scale * math.Pow(float64(n)/float64(d.last), shape-0.5)
}

// scale is C. The logarithm of the error is nearly a straight line over the square of C.
func (d design) scale() float64 {
	looks := d.looks()
	least := -distuv.UnitNormal.Quantile(d.alpha / 2)
	if len(looks) == 1 {
		return least
	}
	excess := func(square float64) float64 { return math.Log(d.crossing(looks, math.Sqrt(square)) / d.alpha) }
	most := -distuv.UnitNormal.Quantile(d.alpha / 2 / float64(len(looks))) // Bonferroni: no look has a larger level than the last
	x0, x1 := most*most, least*least
	y0, y1 := excess(x0), excess(x1)
	for range steps {
		x := x1 - y1*(x1-x0)/(y1-y0)
		y := excess(x)
		if math.Abs(y) < tolerance {
			return math.Sqrt(x)
		}
		x0, y0, x1, y1 = x1, y1, x, y
	}
	return most
}

// crossing is the probability that the t statistic, at a mean of zero, reaches the level of one of the looks.
func (d design) crossing(looks []int, scale float64) float64 {
	c := newChain(looks[0], d.quantile(looks[0], scale))
	for _, n := range looks[1:] {
		c.next(n, d.quantile(n, scale))
	}
	return c.crossed
}

// LastLook is the last look after n values or before, or 0 if there was none.
func (b *Boundary) LastLook(n int) int {
	last := 0
	for _, look := range b.looks {
		if look <= n {
			last = look
		}
	}
	return last
}

// Looks are the numbers of values after which there is a look, in ascending order.
func (b *Boundary) Looks() []int { return slices.Clone(b.looks) }

// Critical is how many standard errors the interval after n values reaches to each side; infinite where none is stated.
func (b *Boundary) Critical(n int) float64 {
	if critical, stated := b.critical[n]; stated {
		return critical
	}
	return math.Inf(1)
}

// MedianRank says which interval of a median to state after n values, if one is stated after each of first, first+1, … last
// values: from the k-th smallest to the k-th largest. 0 says that n values have none. All intervals together contain the median
// with the probability 1-alpha at least, however the values are distributed, and whenever a reader stops because one pleases.
//
// The number of values below the median is a sum of coin tosses. An interval misses when that number leaves its strip; each look
// has the same level, the largest with which the sums leave the strip with the probability alpha at most.
func MedianRank(n, first, last int, alpha float64) int {
	if n < first || n > last {
		return 0
	}
	levels := levelsOf(first, last, alpha)
	// The error grows with the level: the last one that is kept is looked for by halves.
	kept, _ := slices.BinarySearchFunc(levels, alpha, func(level, alpha float64) int {
		if escape(first, last, level) <= alpha {
			return -1
		}
		return 1
	})
	if kept == 0 {
		return 0
	}
	return rankAt(n, levels[kept-1])
}

// levelsOf are all levels up to alpha that an interval can have, ascending.
func levelsOf(first, last int, alpha float64) []float64 {
	var levels []float64
	for n := first; n <= last; n++ {
		for k := 1; 2*k <= n && tail(n, k) <= alpha; k++ {
			levels = append(levels, tail(n, k))
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// tail is the probability that the median is not between the k-th smallest and the k-th largest of n values.
func tail(n, k int) float64 { return 2 * distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(k-1)) }

// rankAt is the largest k whose interval misses with the probability level at most, or 0.
func rankAt(n int, level float64) int {
	k := 0
	for 2*(k+1) <= n && tail(n, k+1) <= level*(1+1e-12) {
		k++
	}
	return k
}

// escape is the probability that the number of values below the median leaves the strip at one of the looks.
func escape(first, last int, level float64) float64 {
	inside := []float64{1} // by the number of values below the median
	escaped := 0.0
	for n := 1; n <= last; n++ {
		next := make([]float64, n+1)
		for below, p := range inside {
			next[below] += p / 2
			next[below+1] += p / 2
		}
		if n >= first {
			k := rankAt(n, level)
			for below := range next {
				if below < k || below > n-k {
					escaped += next[below]
					next[below] = 0
				}
			}
		}
		inside = next
	}
	return escaped
}
