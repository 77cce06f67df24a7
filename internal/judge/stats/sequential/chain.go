// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sequential

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// cells of the distribution of the statistic, even on the scale of normal quantiles: small levels are as exact as large ones.
	cells = 64
	// exact is the number of values up to which the chain is exact. Beyond, it is that of normal values of known variance.
	exact = 20
)

// chain is the distribution of the t statistic among the samples that have not crossed: of |z|, the normal quantile of its level.
//
// It is computed and not simulated, so that it holds for small alphas, too: as long as the mean is zero, the sequence of t
// statistics is a Markov chain. With w = Σx/√(n·Σx²), a function of t, and r the next value divided by √Σx², the next w is
// (w·√n + r) / √((n+1)(1+r²)); r·√n has Student's distribution with n degrees of freedom and does not depend on w, because the
// direction of a normal sample does not depend on its length. What has not crossed yet is carried from look to look.
//
// Of more values than exact, Student's distribution is so near to the normal one that z after m values is taken for √(n/m) times
// z after n values, plus a normal value that does not depend on it. The error is then right to 3% of itself.
type chain struct {
	n int
	// middles of the cells of |z|, and the probabilities of being there without having crossed.
	middles, mass []float64
	crossed       float64
}

// newChain of n values, that crosses at a quantile.
func newChain(n int, end float64) *chain {
	edges, middles := divide(end)
	c := &chain{n: n, middles: middles, mass: make([]float64, cells), crossed: 2 * distuv.UnitNormal.CDF(-end)}
	for i := range cells {
		c.mass[i] = 2 * (distuv.UnitNormal.CDF(-edges[i]) - distuv.UnitNormal.CDF(-edges[i+1]))
	}
	return c
}

// next carries the distribution to n values, after which it crosses at a quantile.
func (c *chain) next(n int, end float64) {
	edges, middles := divide(end)
	mass := make([]float64, cells)
	beyond := c.beyond(n, edges[1:])
	for i, from := range c.middles {
		outside := 1.0
		for j := range cells {
			further := beyond(from, j)
			mass[j] += c.mass[i] * (outside - further)
			outside = further
		}
		c.crossed += c.mass[i] * outside
	}
	c.n, c.middles, c.mass = n, middles, mass
}

// beyond is the probability that |z| after n values is at least the edge with that index, if it was from before.
func (c *chain) beyond(n int, edges []float64) func(from float64, edge int) float64 {
	if n > c.n+1 || n > exact {
		before, after := float64(c.n), float64(n)
		kept, spread := math.Sqrt(before/after), math.Sqrt(1-before/after)
		return func(from float64, edge int) float64 {
			return distuv.UnitNormal.CDF((kept*from-edges[edge])/spread) + distuv.UnitNormal.CDF((-kept*from-edges[edge])/spread)
		}
	}
	known, to := map[float64]float64{}, make([]float64, len(edges))
	for _, z := range c.middles {
		known[z] = direction(z, c.n)
	}
	for i, z := range edges {
		to[i] = direction(z, n)
	}
	before := c.n
	return func(from float64, edge int) float64 { return reach(to[edge], known[from], before) }
}

// divide the quantiles that do not cross into cells.
func divide(end float64) (edges, middles []float64) {
	for i := range 2*cells + 1 {
		if z := end * float64(i) / (2 * cells); i%2 == 1 {
			middles = append(middles, z)
		} else {
			edges = append(edges, z)
		}
	}
	return edges, middles
}

// direction is w after n values, of a level's quantile.
func direction(z float64, n int) float64 {
	t := -student(n - 1).Quantile(distuv.UnitNormal.CDF(-z))
	return t / math.Sqrt(float64(n-1)+t*t)
}

func student(degrees int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}
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
