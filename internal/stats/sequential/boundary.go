// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// cells that the distribution of the statistic is divided into, evenly on the scale of normal quantiles, so that small levels
	// are as exact as large ones.
	cells = 128
	// steps of the secant method at most, and how near to alpha it must come.
	steps, tolerance = 20, 1e-3
)

// design of a boundary.
type design struct {
	first, last int
	alpha       float64
}

// computed boundaries by their design.
var computed sync.Map

// Boundary is a two-sided group-sequential t test: the mean is looked at after first, first+1, … last values, and after each look
// the interval mean ± Critical(n)·s/√n is stated. If the values are independent and normal, whatever their standard deviation,
// all of these intervals together contain the true mean with the probability 1-alpha.
type Boundary struct {
	First, Last int
	// Nominal is the two-sided level of each single look.
	Nominal  float64
	critical []float64
}

// New finds the level at which each look may be tested, so that the error over all looks is alpha.
//
// It is computed and not simulated, so that it is exact for small alphas, too: as long as the mean is zero, the sequence of t
// statistics is a Markov chain. With w = Σx/√(n·Σx²), a function of t, and r the next value divided by √Σx², the next w is
// (w·√n + r) / √((n+1)(1+r²)); r·√n has Student's distribution with n degrees of freedom and does not depend on w, because the
// direction of a normal sample does not depend on its length. The distribution of w among the samples that have not crossed
// yet is carried from look to look.
//
// The lowest first is 2; alpha is between 0 and 1. What was computed once is kept: it takes some tenths of a second, and few
// different ones are asked for.
func New(first, last int, alpha float64) *Boundary {
	of := design{first, last, alpha}
	if known, ok := computed.Load(of); ok {
		return known.(*Boundary)
	}
	b, _ := computed.LoadOrStore(of, compute(first, last, alpha))
	return b.(*Boundary)
}

// compute a boundary.
func compute(first, last int, alpha float64) *Boundary {
	level := nominal(first, last, alpha)
	b := &Boundary{First: first, Last: last, Nominal: level}
	for n := first; n <= last; n++ {
		b.critical = append(b.critical, -student(n-1).Quantile(level/2))
	}
	return b
}

// nominal is the level at which the looks together have the error alpha. Between Bonferroni's bound and alpha the logarithm of
// the error is nearly a straight line over the logarithm of the level.
func nominal(first, last int, alpha float64) float64 {
	if first == last {
		return alpha
	}
	x0, x1 := math.Log(alpha/float64(last-first+1)), math.Log(alpha)
	y0, y1 := excess(first, last, x0, alpha), excess(first, last, x1, alpha)
	for range steps {
		x := x1 - y1*(x1-x0)/(y1-y0)
		y := excess(first, last, x, alpha)
		if math.Abs(y) < tolerance {
			return math.Exp(x)
		}
		x0, y0, x1, y1 = x1, y1, x, y
	}
	return alpha / float64(last-first+1)
}

// excess is the logarithm of how many times alpha the error is.
func excess(first, last int, logLevel, alpha float64) float64 {
	return math.Log(crossing(first, last, math.Exp(logLevel)) / alpha)
}

// Critical is how many standard errors the interval after n values reaches to each side. Outside of the looks it is infinite:
// nothing is stated there.
func (b *Boundary) Critical(n int) float64 {
	if n < b.First || n > b.Last {
		return math.Inf(1)
	}
	return b.critical[n-b.First]
}

func student(degrees int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}
}

// crossing is the probability that the t statistic, at a mean of zero, reaches the two-sided level at one of the looks.
func crossing(first, last int, level float64) float64 {
	c := newChain(first, level)
	for n := first + 1; n <= last; n++ {
		c.next(n, level)
	}
	return c.crossed
}

// chain is the distribution of |w| among the samples that have not crossed.
type chain struct {
	// w are the middles of the cells, mass the probabilities of being there without having crossed.
	w, mass []float64
	crossed float64
}

func newChain(n int, level float64) *chain {
	edges, w := divide(n, level)
	c := &chain{w: w, mass: make([]float64, cells), crossed: level}
	for i := range cells {
		c.mass[i] = levelOf(edges[i], n) - levelOf(edges[i+1], n)
	}
	return c
}

// next carries the distribution from n-1 to n values.
func (c *chain) next(n int, level float64) {
	edges, w := divide(n, level)
	mass := make([]float64, cells)
	for i, before := range c.w {
		outside := 1.0
		for j := range cells {
			further := reach(edges[j+1], before, n-1)
			mass[j] += c.mass[i] * (outside - further)
			outside = further
		}
		c.crossed += c.mass[i] * outside
	}
	c.w, c.mass = w, mass
}

// divide the values of |w| that do not cross after n values into cells, evenly on the scale of √(ν·log(1+t²/ν)), which is nearly
// that of normal quantiles.
func divide(n int, level float64) (edges, middles []float64) {
	degrees := float64(n - 1)
	t := student(n - 1).Quantile(level / 2)
	end := math.Log1p(t * t / degrees)
	for i := range 2*cells + 1 {
		at := float64(i) / (2 * cells)
		w := math.Sqrt(-math.Expm1(-end * at * at))
		if i%2 == 1 {
			middles = append(middles, w)
		} else {
			edges = append(edges, w)
		}
	}
	return edges, middles
}

// levelOf is the two-sided level of |w| after n values.
func levelOf(w float64, n int) float64 {
	t := w * math.Sqrt(float64(n-1)/(1-w*w))
	return 2 * student(n-1).CDF(-t)
}

// reach is the probability that |w| is at least edge after one more value, if it is w after n.
func reach(edge, w float64, n int) float64 {
	a := w * math.Sqrt(float64(n))
	k := edge * edge * float64(n+1)
	discriminant := k * (a*a + 1 - k)
	if discriminant <= 0 {
		if k == 0 {
			return 1
		}
		return 0
	}
	root, t := math.Sqrt(discriminant), student(n)
	below := func(r float64) float64 { return t.CDF(r * math.Sqrt(float64(n))) }
	switch {
	case math.Abs(k-1) < 1e-9: // both branches have the same limit
		return reach(edge*(1+1e-8), w, n)
	case k > 1:
		return below((a+root)/(k-1)) - below((a-root)/(k-1))
	default:
		return below((a-root)/(1-k)) + below((-a-root)/(1-k))
	}
}
